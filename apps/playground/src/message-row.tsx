import type { Conversation, Message } from '@parley/client/chat';
import { type FormEvent, useState } from 'react';
import { backend } from './backend.ts';
import { shownName } from './identity.ts';

interface MessageRowProps {
  message: Message;
  answered: Message | undefined;
  isMine: boolean;
  isNewest: boolean;
  conversation: Conversation | null;
  onReply: () => void;
  run: (work: Promise<unknown>) => void;
}

const emojis = ['👍', '❤️', '😂'] as const;
const deliveries: Readonly<Record<Message['delivery'], string>> = {
  sent: '',
  sending: 'sending',
  queued: 'waits for a connection',
  failed: 'not sent',
};

export function MessageRow({ message, answered, isMine, isNewest, conversation, onReply, run }: MessageRowProps) {
  const [isEditing, setEditing] = useState(false);
  const { id, text, senderId, deleted, edited, delivery, reactions, attachment, clientMessageId } = message;
  const time = new Date(message.createdAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const mayAct = id !== null && !deleted && conversation !== null;

  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const next = String(new FormData(event.currentTarget).get('text') ?? '').trim();
    setEditing(false);
    if (id !== null && next !== '' && next !== text && conversation) run(conversation.edit(id, next));
  };

  return (
    <li className="message" tabIndex={isNewest ? 0 : -1} data-mine={isMine || undefined}>
      <p className="message-head">
        <strong>{isMine ? 'You' : shownName(senderId ?? 'system')}</strong>{' '}
        <time dateTime={message.createdAt}>{time}</time>
        {edited && !deleted && <span>edited</span>}
        {deliveries[delivery] !== '' && <span>{deliveries[delivery]}</span>}
      </p>
      {answered && (
        <p className="quote">
          {shownName(answered.senderId ?? '')}: {answered.deleted ? 'deleted' : answered.text}
        </p>
      )}
      {deleted ? (
        <p className="tombstone">This message was deleted.</p>
      ) : isEditing ? (
        <form className="row" onSubmit={save}>
          {/* biome-ignore lint/a11y/noAutofocus: the button that opened it is gone. */}
          <input name="text" className="input grow" defaultValue={text ?? ''} aria-label="New text" autoFocus />
          <button type="submit" className="button">
            Save
          </button>
        </form>
      ) : (
        text !== null && <p className="message-text">{text}</p>
      )}
      {attachment && !deleted && (
        <button
          type="button"
          className="button button-quiet"
          onClick={() => run(backend.downloadUrl(attachment.id).then((url) => location.assign(url)))}
        >
          {attachment.filename} ({attachment.size} bytes)
        </button>
      )}
      {reactions.length > 0 && !deleted && (
        <p className="reactions">
          {reactions.map(({ emoji, count, userIds }) => (
            <span key={emoji} className="reaction" title={userIds.map(shownName).join(', ')}>
              {emoji} {count}
              <span className="visually-hidden"> from {userIds.map(shownName).join(', ')}</span>
            </span>
          ))}
        </p>
      )}
      {delivery === 'failed' && clientMessageId && conversation && (
        <button type="button" className="button button-quiet" onClick={() => run(conversation.retry(clientMessageId))}>
          Try again
        </button>
      )}
      {mayAct && (
        <fieldset className="message-actions" aria-label="Message actions">
          {emojis.map((emoji) => (
            <button
              key={emoji}
              type="button"
              className="button button-quiet"
              aria-label={`React with ${emoji}`}
              onClick={() => {
                const isReacted = reactions.some((one) => one.emoji === emoji && one.reacted);
                run(isReacted ? conversation.unreact(id, emoji) : conversation.react(id, emoji));
              }}
            >
              {emoji}
            </button>
          ))}
          <button type="button" className="button button-quiet" onClick={onReply}>
            Reply
          </button>
          {isMine && (
            <>
              <button type="button" className="button button-quiet" onClick={() => setEditing(true)}>
                Edit
              </button>
              <button type="button" className="button button-quiet" onClick={() => run(conversation.remove(id))}>
                Delete
              </button>
            </>
          )}
        </fieldset>
      )}
    </li>
  );
}
