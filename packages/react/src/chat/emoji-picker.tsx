import type { KeyboardEvent } from 'react';

const EMOJI = [
  ...'😀😄😁😅😂🙂😉😊😍😘😜🤔🤨😐🙄😏😴😎🤯🥳😕😟😢😭😡😱🤗🤝👍👎👏🙏💪👋✌🤞👌🔥✨🎉🎂🚀⭐💡✅❌❓❗💯👀☕🍕🌍🌞🌧❤💔💬📌📎⏰',
];
const COLUMNS = 8;

/** A grid of emoji; arrow keys walk over it. */
export function EmojiPicker({ onPick }: { onPick: (emoji: string) => void }) {
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
    <fieldset className="parley-emoji" onKeyDown={onKeyDown}>
      {EMOJI.map((emoji, index) => (
        <button key={emoji} type="button" tabIndex={index === 0 ? 0 : -1} onClick={() => onPick(emoji)}>
          {emoji}
        </button>
      ))}
    </fieldset>
  );
}
