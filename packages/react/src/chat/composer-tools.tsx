import { useRef } from 'react';
import { AttachIcon, SendIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { EmojiButton } from './emoji-button.tsx';

interface ComposerToolsProps {
  isDisabled: boolean;
  onFiles: (files: Iterable<File>) => void;
  onEmoji: (emoji: string) => void;
}

/** Files, emoji, and the button that sends. */
export function ComposerTools({ isDisabled, onFiles, onEmoji }: ComposerToolsProps) {
  const texts = useTexts();
  const files = useRef<HTMLInputElement>(null);
  return (
    <div className="parley-composer-tools">
      <input
        ref={files}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles(target.files ?? []);
          target.value = '';
        }}
      />
      <IconButton label={texts.attach} disabled={isDisabled} onClick={() => files.current?.click()}>
        <AttachIcon />
      </IconButton>
      <EmojiButton label={texts.emoji} isDisabled={isDisabled} onPick={onEmoji} />
      <IconButton label={texts.send} type="submit" className="parley-send" disabled={isDisabled}>
        <SendIcon />
      </IconButton>
    </div>
  );
}
