import { CaptionsIcon, FocusIcon, FullscreenIcon, GridIcon, MoreIcon, ScreenIcon, SettingsIcon } from '../icons.tsx';
import { Menu, type MenuItem } from '../shared/menu.tsx';
import { useTexts } from '../texts.tsx';
import type { Layout } from './stage.tsx';

export interface MoreMenuProps {
  layout?: Layout | undefined;
  onLayout?: ((layout: Layout) => void) | undefined;
  onSettings?: (() => void) | undefined;
  /** Whether captions are shown, where the application has some. */
  areCaptionsOn?: boolean | undefined;
  onCaptions?: ((areOn: boolean) => void) | undefined;
  onFullScreen?: (() => void) | undefined;
  /** Where the bar is too narrow for the button. */
  onShare?: (() => void) | undefined;
  /** Of the application. */
  items?: readonly MenuItem[] | undefined;
}

const LAYOUTS = [
  { is: 'grid', text: 'layoutGrid', Icon: GridIcon },
  { is: 'speaker', text: 'layoutSpeaker', Icon: FocusIcon },
] as const;
type ActionText = 'shareScreen' | 'captions' | 'fullScreen' | 'settings';

/** What is used less often. */
export function MoreMenu(props: MoreMenuProps) {
  const texts = useTexts();
  const { layout = 'grid', onLayout, onSettings, areCaptionsOn = false, onCaptions, onFullScreen, onShare } = props;
  const layouts = LAYOUTS.map(({ is, text, Icon }) => ({
    label: texts[text],
    icon: <Icon />,
    isChosen: layout === is,
    onSelect: () => onLayout?.(is),
  }));
  const action = (text: ActionText, Icon: typeof GridIcon, onSelect: (() => void) | undefined): MenuItem[] =>
    onSelect ? [{ label: texts[text], icon: <Icon />, onSelect }] : [];
  const actions: MenuItem[] = [
    ...action('shareScreen', ScreenIcon, onShare),
    ...action('captions', CaptionsIcon, onCaptions && (() => onCaptions(!areCaptionsOn))),
    ...action('fullScreen', FullscreenIcon, onFullScreen),
    ...(props.items ?? []),
    ...action('settings', SettingsIcon, onSettings),
  ];
  const groups = [{ label: texts.layout, items: onLayout ? layouts : [] }, { items: actions }].filter(
    ({ items }) => items.length > 0,
  );
  if (groups.length === 0) return null;
  return (
    <Menu label={texts.more} className="parley-control" groups={groups}>
      <MoreIcon />
    </Menu>
  );
}
