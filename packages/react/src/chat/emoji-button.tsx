import { useState } from 'react';
import { useOutsideClick } from '../hooks/use-outside-click.ts';
import { SmileIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useChatScope } from './context.ts';

interface EmojiButtonProps {
  label: string;
  isDisabled?: boolean;
  onPick: (emoji: string) => void;
}

interface Opened {
  opener: HTMLElement;
  /** Loaded with the first opening. */
  Picker: typeof import('./emoji-picker.tsx').EmojiPicker;
}

/** A button and the emoji that it opens. */
export function EmojiButton({ label, isDisabled = false, onPick }: EmojiButtonProps) {
  const { run } = useChatScope();
  const [opened, setOpened] = useState<Opened | null>(null);
  const open = async (opener: HTMLElement): Promise<void> => {
    const { EmojiPicker: Picker } = await import('./emoji-picker.tsx');
    setOpened({ opener, Picker });
  };
  const pick = (emoji: string): void => {
    setOpened(null);
    opened?.opener.focus();
    onPick(emoji);
  };
  return (
    <>
      <IconButton
        label={label}
        aria-expanded={opened !== null}
        disabled={isDisabled}
        onClick={({ currentTarget }) => (opened ? setOpened(null) : run(open(currentTarget)))}
      >
        <SmileIcon />
      </IconButton>
      {opened && (
        <opened.Picker
          label={label}
          opener={opened.opener}
          onClose={() => setOpened(null)}
          onPick={pick}
          useOutsideClick={useOutsideClick}
        />
      )}
    </>
  );
}
