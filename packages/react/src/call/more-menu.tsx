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

/** What is used less often. */
export function MoreMenu(props: MoreMenuProps) {
  const texts = useTexts();
  const { layout = 'grid', onLayout, onSettings, areCaptionsOn = false, onCaptions, onFullScreen, onShare } = props;
  const layouts: MenuItem[] = onLayout
    ? [
        {
          label: texts.layoutGrid,
          icon: <GridIcon />,
          isChosen: layout === 'grid',
          onSelect: () => onLayout('grid'),
        },
        {
          label: texts.layoutSpeaker,
          icon: <FocusIcon />,
          isChosen: layout === 'speaker',
          onSelect: () => onLayout('speaker'),
        },
      ]
    : [];
  const actions: MenuItem[] = [
    ...(onShare ? [{ label: texts.shareScreen, icon: <ScreenIcon />, onSelect: onShare }] : []),
    ...(onCaptions
      ? [{ label: texts.captions, icon: <CaptionsIcon />, onSelect: () => onCaptions(!areCaptionsOn) }]
      : []),
    ...(onFullScreen ? [{ label: texts.fullScreen, icon: <FullscreenIcon />, onSelect: onFullScreen }] : []),
    ...(props.items ?? []),
    ...(onSettings ? [{ label: texts.settings, icon: <SettingsIcon />, onSelect: onSettings }] : []),
  ];
  const groups = [{ label: texts.layout, items: layouts }, { items: actions }].filter(({ items }) => items.length > 0);
  if (groups.length === 0) return null;
  return (
    <Menu label={texts.more} className="parley-control" groups={groups}>
      <MoreIcon />
    </Menu>
  );
}
