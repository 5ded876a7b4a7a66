import type { Message } from '@parley/client/chat';
import { type FormEvent, type KeyboardEvent, useEffect, useId } from 'react';
import { CloseIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { ComposerTools } from './composer-tools.tsx';
import { useChatScope } from './context.ts';
import { MentionList } from './mention-list.tsx';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './uploads.ts';
import { useDraft } from './use-draft.ts';
import { useMentionChoice } from './use-mention-choice.ts';

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
  const { names = NO_NAMES, replyTo = null, onCancelReply, onEditLast, maxLength = 4000 } = props;
  const texts = useTexts();
  const { conversation, run, mentions } = useChatScope();
  const listId = useId();
  const draft = useDraft(conversation, props.draft ?? '', props.onDraft);
  const { text, field, write } = draft;
  const uploads = useUploads(conversation, replyTo?.id ?? null);
  const choice = useMentionChoice(draft, mentions?.names ?? names);
  const hasChoice = choice.names.length > 0;
  useEffect(() => {
    if (replyTo && onCancelReply) field.current?.focus();
  }, [replyTo, onCancelReply, field]);

  const send = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '' || !conversation) return;
    run(
      conversation.send({ text: trimmed, ...mentions?.of(trimmed), ...(replyTo?.id ? { replyTo: replyTo.id } : {}) }),
    );
    write('', 0);
    onCancelReply?.();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (choice.take(event)) event.preventDefault();
    else if (event.key === 'Enter' && !event.shiftKey) send(event);
    else if (event.key === 'Escape') onCancelReply?.();
    else if (event.key === 'ArrowUp' && text === '') {
      // Or the key would move the caret of the field that opens.
      event.preventDefault();
      onEditLast?.();
    }
  };
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
      {replyTo && onCancelReply && <Replying replyTo={replyTo} onCancel={onCancelReply} />}
      <UploadList uploads={uploads} />
      <MentionList id={listId} {...choice} onPick={draft.complete} />
      <div className="parley-composer-box">
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={text}
          maxLength={maxLength}
          disabled={!conversation}
          placeholder={texts.writeMessage}
          aria-label={texts.message}
          aria-autocomplete="list"
          aria-controls={hasChoice ? listId : undefined}
          aria-activedescendant={hasChoice ? `${listId}-${choice.chosen}` : undefined}
          onChange={({ target }) => write(target.value, target.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={({ clipboardData }) => uploads.add(clipboardData.files)}
          onBlur={draft.endMention}
        />
        <ComposerTools isDisabled={!conversation} onFiles={uploads.add} onEmoji={draft.insert} />
      </div>
    </form>
  );
}

function Replying({ replyTo, onCancel }: { replyTo: Message; onCancel: () => void }) {
  const texts = useTexts();
  const { nameOf } = useChatScope();
  return (
    <p className="parley-replying">
      <span>{texts.answerTo(nameOf(replyTo.senderId ?? ''))}</span>
      <IconButton label={texts.cancel} onClick={onCancel}>
        <CloseIcon />
      </IconButton>
    </p>
  );
}
