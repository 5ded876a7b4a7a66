import type { KeyboardEvent } from 'react';
import { Popover, type PopoverProps } from '../shared/popover.tsx';

const EMOJI = [
  ...'😀😄😁😅😂🙂😉😊😍😘😜🤔🤨😐🙄😏😴😎🤯🥳😕😟😢😭😡😱🤗🤝👍👎👏🙏💪👋✌🤞👌🔥✨🎉🎂🚀⭐💡✅❌❓❗💯👀☕🍕🌍🌞🌧❤💔💬📌📎⏰',
];
const COLUMNS = 8;

export interface EmojiPickerProps extends Omit<PopoverProps, 'children'> {
  onPick: (emoji: string) => void;
}

/** A grid of emoji; arrow keys walk over it. */
export function EmojiPicker({ onPick, ...popover }: EmojiPickerProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button.matches(':focus'));
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl';
    const forward = isRightToLeft ? -1 : 1;
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: forward,
      ArrowLeft: -forward,
      ArrowDown: COLUMNS,
      ArrowUp: -COLUMNS,
    };
    const next = buttons[at + (steps[event.key] ?? Number.NaN)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <Popover {...popover}>
      <fieldset className="parley-emoji" onKeyDown={onKeyDown}>
        {EMOJI.map((emoji, index) => (
          <button key={emoji} type="button" tabIndex={index === 0 ? 0 : -1} onClick={() => onPick(emoji)}>
            {emoji}
          </button>
        ))}
      </fieldset>
    </Popover>
  );
}
