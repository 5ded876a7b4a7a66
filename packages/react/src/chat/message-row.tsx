import type { Message } from '@parley/client/chat';
import { memo, useState } from 'react';
import { FileIcon } from '../icons.tsx';
import { Avatar } from '../shared/avatar.tsx';
import { useProblem } from '../shared/problem-line.tsx';
import { type Texts, useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { EditForm } from './edit-form.tsx';
import { MessageActions, toggleReaction } from './message-actions.tsx';
import { continues, keyOf, startsDay, withLinks } from './rows.ts';

export interface MessageRowProps {
  message: Message;
  previous: Message | undefined;
  /** The message that it answers, if that is loaded. */
  answered: Message | undefined;
  /** Names of those whose mark is here. */
  readers: string;
  isUnreadStart: boolean;
  isFocused: boolean;
  onShow: (message: Message) => void;
}

/** One message, with the day and the mark of what is new above it where they belong. */
export const MessageRow = /* @__PURE__ */ memo(function MessageRow(props: MessageRowProps) {
  const { message, previous, isUnreadStart, isFocused } = props;
  const texts = useTexts();
  const { userId, nameOf, editing, conversation } = useChatScope();
  const [isHovered, setHovered] = useState(false);
  const isMine = message.senderId === userId;
  const key = keyOf(message, userId);
  const isEditing = editing === key;
  const isContinued = continues(message, previous) && !isUnreadStart;
  const name = message.senderId === null ? texts.system : nameOf(message.senderId);
  return (
    <>
      {startsDay(message, previous) && <p className="parley-day">{dayText(message, texts)}</p>}
      {isUnreadStart && <p className="parley-unread-mark">{texts.newMessages}</p>}
      <div
        className="parley-message"
        data-mine={isMine || undefined}
        data-continued={isContinued || undefined}
        onPointerEnter={() => setHovered(true)}
        onPointerLeave={() => setHovered(false)}
      >
        {!isContinued && <Avatar identity={message.senderId ?? ''} name={name} />}
        <p className={isContinued ? 'parley-hidden' : 'parley-message-head'}>
          <strong>{isMine ? texts.you : name}</strong>{' '}
          <time dateTime={message.createdAt}>{texts.formatTime(new Date(message.createdAt))}</time>
        </p>
        <Content {...props} isEditing={isEditing} messageKey={key} />
        {(isHovered || isFocused) && !isEditing && !message.deleted && conversation && (
          <MessageActions message={message} messageKey={key} />
        )}
      </div>
    </>
  );
});

function Content(props: MessageRowProps & { isEditing: boolean; messageKey: string }) {
  const { message, answered, readers, isEditing, onShow } = props;
  const texts = useTexts();
  const { onThread } = useChatScope();
  const { deleted, replyCount, replyTo } = message;
  return (
    <div className="parley-message-content">
      {!deleted && replyTo && <Quote answered={answered} onShow={onShow} />}
      {deleted ? (
        <p className="parley-tombstone">{texts.deleted}</p>
      ) : isEditing ? (
        <EditForm message={message} />
      ) : (
        message.text !== null && (
          <p className="parley-text" dir="auto">
            <LinkedText message={message} />
            {message.edited && <small> ({texts.edited})</small>}
          </p>
        )
      )}
      {!deleted && (message.attachments ?? [message.attachment]).map((one) => one && <File key={one.id} {...one} />)}
      {!deleted && message.reactions.length > 0 && <Reactions message={message} />}
      <Delivery message={message} />
      {replyCount > 0 && onThread && (
        <button type="button" className="parley-link" onClick={() => onThread(message)}>
          {texts.replies(replyCount)}
        </button>
      )}
      {readers && <p className="parley-readers">{texts.readBy(readers)}</p>}
    </div>
  );
}

function Quote({ answered, onShow }: Pick<MessageRowProps, 'answered' | 'onShow'>) {
  const texts = useTexts();
  const { nameOf } = useChatScope();
  if (!answered) return <p className="parley-quote">{texts.notLoaded}</p>;
  const text = answered.deleted ? texts.deleted : (answered.text ?? answered.attachment?.filename ?? '');
  return (
    <button type="button" className="parley-quote" onClick={() => onShow(answered)}>
      <strong>{nameOf(answered.senderId ?? '')}</strong> {text}
    </button>
  );
}

function LinkedText({ message }: { message: Message }) {
  const { mentions } = useChatScope();
  return withLinks(message.text ?? '').map((part, index) =>
    index % 2 === 0 ? (
      (mentions?.show(part, message) ?? part)
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name.
      <a key={index} href={part} target="_blank" rel="noopener noreferrer nofollow">
        {part}
      </a>
    ),
  );
}

function File({ id, filename, size }: NonNullable<Message['attachment']>) {
  const texts = useTexts();
  const { attachmentUrl, run } = useChatScope();
  const label = (
    <>
      <FileIcon />
      <span className="parley-file-name">{filename}</span>
      <small>{texts.formatSize(size)}</small>
    </>
  );
  if (!attachmentUrl) return <p className="parley-file">{label}</p>;
  const open = async (): Promise<void> => {
    const url = new URL(await attachmentUrl(id), location.href);
    // Of a `javascript:` address the script would run in this page.
    if (!/^https?:$/.test(url.protocol)) throw new Error(texts.fileRefused);
    // The page stays: the storage answers with a download.
    location.assign(url);
  };
  return (
    <button type="button" className="parley-file" onClick={() => run(open())}>
      {label}
    </button>
  );
}

function Reactions({ message }: { message: Message }) {
  const texts = useTexts();
  const { conversation, nameOf, run } = useChatScope();
  return (
    <p className="parley-reactions">
      {message.reactions.map(({ emoji, count, userIds, reacted }) => {
        const names = texts.listOf(userIds.map(nameOf));
        return (
          <button
            key={emoji}
            type="button"
            className="parley-reaction"
            title={names}
            aria-pressed={reacted === true}
            disabled={!message.id || !conversation}
            onClick={() => run(toggleReaction(conversation, message, emoji))}
          >
            {emoji} {count}
            <span className="parley-hidden">{texts.reactedBy(names)}</span>
          </button>
        );
      })}
    </p>
  );
}

function Delivery({ message: { delivery, error, id, clientMessageId } }: { message: Message }) {
  const texts = useTexts();
  const { conversation, run } = useChatScope();
  const problem = useProblem(error);
  if (delivery === 'sent') return null;
  if (delivery !== 'failed') return <p className="parley-delivery">{texts[delivery]}</p>;
  return (
    <p className="parley-delivery" data-failed>
      {id === null ? texts.failed : texts.editFailed}
      {error && <span>{problem}</span>}
      {id === null && clientMessageId && conversation && (
        <button type="button" className="parley-link" onClick={() => run(conversation.retry(clientMessageId))}>
          {texts.tryAgain}
        </button>
      )}
      <button type="button" className="parley-link" onClick={() => conversation?.discard(id ?? clientMessageId ?? '')}>
        {texts.discard}
      </button>
    </p>
  );
}

function dayText({ createdAt }: Message, texts: Texts): string {
  const at = new Date(createdAt);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(createdAt).setHours(0, 0, 0, 0)) / 86_400_000);
  return days === 0 ? texts.today : days === 1 ? texts.yesterday : texts.formatDay(at);
}
