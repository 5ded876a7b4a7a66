import type { Conversation, Message } from '@parley/client/chat';
import { useMessages, usePresence, useStore } from '@parley/client/react';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { shownName } from './identity.ts';
import { MessageRow } from './message-row.tsx';
import { Problem } from './problem.tsx';

const emptyStore = { getSnapshot: (): readonly string[] => nobody, subscribe: () => () => {} };
const nobody: readonly string[] = [];

interface ChatPanelProps {
  conversation: Conversation | null;
  identity: string;
  error: unknown;
}

export function ChatPanel({ conversation, identity, error }: ChatPanelProps) {
  const messages = useMessages(conversation);
  const typing = useStore(conversation?.typing ?? emptyStore);
  const present = [...usePresence(conversation).keys()].filter((userId) => userId !== identity);
  const [problem, setProblem] = useState<unknown>(null);
  const [replyTo, setReplyTo] = useState<Message | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    void conversation?.history({ limit: 50 }).then(undefined, setProblem);
    return conversation?.on('error', setProblem);
  }, [conversation]);
  const newest = messages.at(-1);
  useEffect(() => {
    if (newest) list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [newest]);

  const run = (work: Promise<unknown>): void => void work.then(() => setProblem(null), setProblem);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text === '' || !conversation || !field.current) return;
    field.current.value = '';
    run(conversation.send(replyTo?.id ? { text, replyTo: replyTo.id } : text));
    setReplyTo(null);
  };
  const attach = async (file: File | undefined): Promise<void> => {
    if (!file || !conversation) return;
    const { attachmentId } = await conversation.upload(file);
    await conversation.send({ attachmentId });
  };

  return (
    <div className="chat">
      <p className="muted small">
        {present.length === 0 ? 'Nobody else is here.' : `Here: ${present.map(shownName).join(', ')}`}
      </p>
      <div className="messages" role="log" aria-label="Messages">
        <ol className="message-list" ref={list} onKeyDown={moveFocus}>
          {messages.map((message) => (
            <MessageRow
              key={message.clientMessageId ?? message.id}
              message={message}
              answered={messages.find(({ id }) => id !== null && id === message.replyTo)}
              isMine={message.senderId === identity}
              isNewest={message === newest}
              conversation={conversation}
              onReply={() => {
                setReplyTo(message);
                field.current?.focus();
              }}
              run={run}
            />
          ))}
        </ol>
      </div>
      <p className="typing" aria-live="polite">
        {typing.length > 0 ? `${typing.map(shownName).join(', ')} ${typing.length > 1 ? 'are' : 'is'} typing` : ''}
      </p>
      <Problem error={error ?? problem} />
      {replyTo && (
        <p className="replying row">
          <span className="grow">Answer to {shownName(replyTo.senderId ?? '')}</span>
          <button type="button" className="button button-quiet" onClick={() => setReplyTo(null)}>
            Cancel
          </button>
        </p>
      )}
      <form className="composer" onSubmit={send}>
        <label className="visually-hidden" htmlFor="message">
          Message
        </label>
        <input
          id="message"
          ref={field}
          className="input"
          placeholder="Write a message"
          autoComplete="off"
          maxLength={4000}
          disabled={conversation === null}
          onChange={() => conversation?.setTyping()}
        />
        <label className="button file">
          Attach
          <input
            type="file"
            className="visually-hidden"
            onChange={({ target }) => {
              run(attach(target.files?.[0]));
              target.value = '';
            }}
          />
        </label>
        <button type="submit" className="button button-primary" disabled={conversation === null}>
          Send
        </button>
      </form>
    </div>
  );
}

/** Arrow keys walk over the messages; the newest is where Tab comes in. */
function moveFocus(event: KeyboardEvent<HTMLOListElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(':scope > li')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const steps: Record<string, number> = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 };
  const next = event.target instanceof HTMLInputElement ? undefined : rows[steps[event.key] ?? -1];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
