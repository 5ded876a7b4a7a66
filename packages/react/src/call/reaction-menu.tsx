import { SmileIcon } from '../icons.tsx';
import { Menu } from '../shared/menu.tsx';
import { QUICK_EMOJI } from '../shared/quick-emoji.ts';
import { useTexts } from '../texts.tsx';

export function ReactionMenu({ onReact }: { onReact: (emoji: string) => void }) {
  const texts = useTexts();
  const items = QUICK_EMOJI.map((emoji) => ({
    label: texts.reactWith(emoji),
    icon: <span className="parley-emoji">{emoji}</span>,
    onSelect: () => onReact(emoji),
  }));
  return (
    <Menu label={texts.react} className="parley-control" groups={[{ items }]} isRow>
      <SmileIcon />
    </Menu>
  );
}
