import { useState } from 'react';
import { SmileIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { Popover } from '../shared/popover.tsx';
import { EmojiPicker } from './emoji-picker.tsx';

interface EmojiButtonProps {
  label: string;
  isDisabled?: boolean;
  onPick: (emoji: string) => void;
}

/** A button and the emoji that it opens. */
export function EmojiButton({ label, isDisabled = false, onPick }: EmojiButtonProps) {
  const [opener, setOpener] = useState<HTMLElement | null>(null);
  const pick = (emoji: string): void => {
    setOpener(null);
    opener?.focus();
    onPick(emoji);
  };
  return (
    <>
      <IconButton
        label={label}
        aria-expanded={opener !== null}
        disabled={isDisabled}
        onClick={({ currentTarget }) => setOpener(opener ? null : currentTarget)}
      >
        <SmileIcon />
      </IconButton>
      {opener && (
        <Popover label={label} opener={opener} onClose={() => setOpener(null)}>
          <EmojiPicker onPick={pick} />
        </Popover>
      )}
    </>
  );
}
