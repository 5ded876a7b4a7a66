import type { Message, NewMessage } from '@parley/client/chat';
import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { AttachIcon, CloseIcon, SendIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { EmojiButton } from './emoji-button.tsx';
import { MentionList } from './mention-list.tsx';
import { choicesFor, completed, type Mention, mentionAt } from './mentions.ts';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './uploads.ts';

export interface ComposerProps {
  /** Names that may follow an @. */
  names?: readonly string[];
  /** What was written before and not sent. */
  draft?: string;
  onDraft?: (text: string) => void;
  replyTo?: Message | null;
  /** Shown above the field, with a button that takes it back; without, every message answers `replyTo`. */
  onCancelReply?: () => void;
  /** The arrow up in an empty field. */
  onEditLast?: () => void;
  maxLength?: number;
}

const NO_NAMES: readonly string[] = [];

/** Writes and sends. Enter sends, Shift and Enter begins a line. */
export function Composer(props: ComposerProps) {
  const { names = NO_NAMES, draft = '', onDraft, replyTo = null, onCancelReply, onEditLast, maxLength = 4000 } = props;
  const texts = useTexts();
  const { conversation, nameOf, run } = useChatScope();
  const [text, setText] = useState(draft);
  const [mention, setMention] = useState<Mention | null>(null);
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const fileField = useRef<HTMLInputElement>(null);
  const wantedCaret = useRef<number | null>(null);
  const listId = useId();
  const uploads = useUploads(conversation, replyTo?.id ?? null);
  const choices = mention ? choicesFor(mention, names) : [];

  useLayoutEffect(() => {
    if (wantedCaret.current === null) return;
    field.current?.focus();
    field.current?.setSelectionRange(wantedCaret.current, wantedCaret.current);
    wantedCaret.current = null;
  });
  useEffect(() => {
    if (replyTo && onCancelReply) field.current?.focus();
  }, [replyTo, onCancelReply]);

  const write = (next: string, caret: number): void => {
    setText(next);
    onDraft?.(next);
    setMention(mentionAt(next, caret));
    setChosen(0);
    conversation?.setTyping(next !== '');
  };
  /** By us, so the caret has to be put there too. */
  const rewrite = (next: string, caret: number): void => {
    write(next, caret);
    setMention(null);
    wantedCaret.current = caret;
  };
  const insert = (emoji: string): void => {
    const at = field.current?.selectionStart ?? text.length;
    rewrite(text.slice(0, at) + emoji + text.slice(at), at + emoji.length);
  };
  const pick = (name: string): void => {
    if (!mention) return;
    const { text: next, caret } = completed(text, mention, name);
    rewrite(next, caret);
  };
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '' || !conversation) return;
    const message: NewMessage = { text: trimmed, ...(replyTo?.id ? { replyTo: replyTo.id } : {}) };
    run(conversation.send(message));
    write('', 0);
    onCancelReply?.();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (choices.length > 0 && moveChoice(event)) event.preventDefault();
    else if (event.key === 'Enter' && !event.shiftKey) send(event);
    else if (event.key === 'Escape') onCancelReply?.();
    else if (event.key === 'ArrowUp' && text === '') {
      // Or the key would move the caret of the field that opens.
      event.preventDefault();
      onEditLast?.();
    }
  };
  const moveChoice = ({ key }: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) setChosen((chosen + step + choices.length) % choices.length);
    else if (key === 'Enter' || key === 'Tab') pick(choices[chosen] ?? '');
    else if (key === 'Escape') setMention(null);
    else return false;
    return true;
  };
  const onPaste = ({ clipboardData }: ClipboardEvent): void => {
    if (clipboardData.files.length > 0) uploads.add(clipboardData.files);
  };
  const isOff = conversation === null;
  return (
    <form
      className="parley-composer"
      onSubmit={send}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        uploads.add(event.dataTransfer.files);
      }}
    >
      {replyTo && onCancelReply && (
        <p className="parley-replying">
          <span>{texts.answerTo(nameOf(replyTo.senderId ?? ''))}</span>
          <IconButton label={texts.cancel} onClick={onCancelReply}>
            <CloseIcon />
          </IconButton>
        </p>
      )}
      <UploadList uploads={uploads} />
      <MentionList id={listId} names={choices} chosen={chosen} onPick={pick} />
      <div className="parley-composer-box">
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={text}
          maxLength={maxLength}
          disabled={isOff}
          placeholder={texts.writeMessage}
          aria-label={texts.message}
          aria-autocomplete="list"
          aria-controls={choices.length > 0 ? listId : undefined}
          aria-activedescendant={choices.length > 0 ? `${listId}-${chosen}` : undefined}
          onChange={({ target }) => write(target.value, target.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => setMention(null)}
        />
        <div className="parley-composer-tools">
          <input
            ref={fileField}
            type="file"
            multiple
            hidden
            onChange={({ target }) => {
              uploads.add(target.files ?? []);
              target.value = '';
            }}
          />
          <IconButton label={texts.attach} disabled={isOff} onClick={() => fileField.current?.click()}>
            <AttachIcon />
          </IconButton>
          <EmojiButton label={texts.emoji} isDisabled={isOff} onPick={insert} />
          <IconButton label={texts.send} type="submit" className="parley-send" disabled={isOff}>
            <SendIcon />
          </IconButton>
        </div>
      </div>
    </form>
  );
}
