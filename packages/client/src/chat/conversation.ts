import { ConnectionError, SvcError } from '../errors.ts';
import { createEmitter } from '../events.ts';
import type { ChatProtocol, Pushed, Request, Send } from '../frames.ts';
import { type Http, pathOf } from '../http.ts';
import type { Runtime } from '../runtime.ts';
import { createDerivedStore, createStore } from '../store.ts';
import { type ChangePage, createCatchUp } from './catch-up.ts';
import type { Conversation, ConversationEvents } from './conversation-types.ts';
import { createHistory, type History, type HistoryOptions } from './history.ts';
import type { Operation, OperationReply } from './operations.ts';
import type { Outcome } from './outbox.ts';
import type { Change, Message, MessageRecord, NewMessage, Present, ReadState, Subscription } from './records.ts';
import { retryWhileLimited } from './retry-while-limited.ts';
import { Timeline } from './timeline.ts';
import { createTypingSignal, createTypists } from './typing.ts';

/** Everything but what concerns the whole connection. */
type ConnectionFrameType =
  | 'token.expiring'
  | 'reconnect'
  | 'error'
  | 'unsubscribed'
  | 'user.updated'
  | `${'draft' | 'block'}.updated`
  | `inbox.${string}`;
export type ConversationFrame = Exclude<Pushed<ChatProtocol>, { type: ConnectionFrameType }>;

const EVENTS = {
  message: 'message',
  'message.updated': 'messageUpdated',
  'message.deleted': 'messageDeleted',
  'reaction.added': 'reactionAdded',
  'reaction.removed': 'reactionRemoved',
} as const;

export interface ConversationDeps {
  id: string;
  userId: string;
  typingTtlMs: number;
  runtime: Runtime;
  http: Http;
  isConnected(): boolean;
  request: Request<ChatProtocol>;
  /** One page at a time, whichever conversation it is of. */
  readChanges(since: number): Promise<ChangePage>;
  send: Send<ChatProtocol>;
  enqueue(operation: Operation): Promise<Outcome>;
  discard(id: string): void;
  /** Operations of an earlier page that wait for this conversation. */
  waiting: readonly Operation[];
  leave(): Promise<void>;
}

/** The conversation, and how the chat feeds it. */
export interface ConversationPort {
  readonly api: Conversation;
  /** What a subscription says: where this client stands. */
  readonly position: { since?: number; epoch?: string };
  subscribed(subscription: Subscription): void;
  /** Resolves once nothing of the conversation is missing, or reading it was tried. */
  settled(): Promise<void>;
  /** The connection is gone, or the conversation left: typing is cleared, with its timers. */
  pause(): void;
  handle(frame: ConversationFrame): void;
  moved(operation: Operation, isQueued: boolean): void;
  done(operation: Operation, reply: OperationReply): void;
  refused(operation: Operation, error: SvcError): void;
  emit: ReturnType<typeof createEmitter<ConversationEvents>>['emit'];
}

/** A message that is not in the list. */
const asSent = (record: MessageRecord): Message => ({ ...record, delivery: 'sent', error: null });

export function createConversation(deps: ConversationDeps): ConversationPort {
  const { id, userId, runtime, http } = deps;
  const timeline = new Timeline(id, userId);
  const messages = createDerivedStore(() => timeline.list());
  const typing = createStore<readonly string[]>([]);
  const events = createEmitter<ConversationEvents>();
  let unsentRead: string | null = null;

  const typists = createTypists(runtime, (who, isTyping) => {
    typing.set(isTyping ? [...typing.getSnapshot(), who] : typing.getSnapshot().filter((one) => one !== who));
    events.emit('typing', who, isTyping);
  });
  const signalTyping = createTypingSignal(runtime, (isTyping) =>
    deps.send({ type: 'typing', conversation: id, typing: isTyping }),
  );
  const catchUp = createCatchUp({
    runtime,
    isConnected: deps.isConnected,
    onChange: apply,
    onPage(changes, asOf) {
      // What they show is as it was when they were read, not when it happened.
      for (const change of changes) if ('message' in change) timeline.update(change.message, asOf);
      messages.invalidate();
    },
    readChanges: deps.readChanges,
    reload,
    onError: (error) => events.emit('error', error),
  });

  function apply(change: Change): void {
    timeline.apply(change);
    messages.invalidate();
    announce(change);
  }

  function announce(change: Change): void {
    if ('message' in change) {
      const shown = timeline.view(change.message.id) ?? asSent(change.message);
      if (change.type === 'message') typists.stop(shown.senderId ?? '');
      events.emit(EVENTS[change.type], shown);
    } else if ('emoji' in change) {
      const { type, messageId, emoji, userId: reactor } = change;
      events.emit(EVENTS[type], { ...timeline.view(messageId), id: messageId }, emoji, reactor);
    }
  }

  /** The server's numbers do not continue ours: what it has now replaces what we had. */
  async function reload(): Promise<void> {
    timeline.clear();
    await history();
  }

  function takeRecords(records: readonly MessageRecord[], isDetached: boolean, asOf: number): readonly Message[] {
    if (isDetached) return records.map(asSent);
    for (const record of records) timeline.upsert(record, asOf);
    messages.invalidate();
    return records.flatMap((record) => timeline.view(record.id) ?? []);
  }

  const history = (options: HistoryOptions = {}): History =>
    createHistory(http, id, options, takeRecords, () => catchUp.position.since ?? 0);

  type OperationBody = Operation extends infer O
    ? O extends Operation
      ? Omit<O, 'userId' | 'conversationId'>
      : never
    : never;
  const enqueue = (body: OperationBody): Promise<Outcome> => deps.enqueue({ ...body, userId, conversationId: id });

  async function deliver(clientMessageId: string, draft: NewMessage): Promise<Message> {
    const at = Date.now();
    timeline.addPending(clientMessageId, draft, at, false);
    messages.invalidate();
    await enqueue({ kind: 'send', id: clientMessageId, draft, at });
    return findByClientId(clientMessageId);
  }

  function findByClientId(clientMessageId: string): Message {
    const found = timeline
      .list()
      .findLast((message) => message.clientMessageId === clientMessageId && message.senderId === userId);
    if (!found) throw new SvcError({ code: 'discarded', message: 'It was discarded.' });
    return found;
  }

  const at = (): { id: string; at: number } => ({ id: runtime.newId(), at: Date.now() });

  async function change(body: OperationBody, show: () => void): Promise<void> {
    show();
    messages.invalidate();
    await enqueue(body);
  }

  const api: Conversation = {
    id,
    messages,
    typing,
    on: events.on,
    once: events.once,
    history,
    send(message) {
      const { clientMessageId, ...draft }: NewMessage = typeof message === 'string' ? { text: message } : message;
      return deliver(clientMessageId || runtime.newId(), draft);
    },
    async retry(clientMessageId) {
      const pending = timeline.pending(clientMessageId);
      if (!pending?.error) throw new SvcError({ code: 'nothing_to_retry', message: 'No such message failed.' });
      return deliver(clientMessageId, pending.draft);
    },
    discard(target) {
      deps.discard(target);
      timeline.drop(target);
      timeline.setEdit(target, null);
      messages.invalidate();
    },
    edit(target, input) {
      const patch = typeof input === 'string' ? { text: input } : input;
      return change({ kind: 'edit', ...at(), messageId: target, patch }, () =>
        timeline.setEdit(target, { patch, error: null }),
      );
    },
    remove: (target) => change({ kind: 'remove', ...at(), messageId: target }, () => timeline.setRemoved(target, true)),
    react: (target, emoji) =>
      change({ kind: 'react', ...at(), messageId: target, emoji }, () => timeline.setReaction(target, emoji, true)),
    unreact: (target, emoji) =>
      change({ kind: 'unreact', ...at(), messageId: target, emoji }, () => timeline.setReaction(target, emoji, false)),
    async markRead(messageId) {
      unsentRead = messageId;
      const forget = (): void => {
        if (unsentRead === messageId) unsentRead = null;
      };
      // What waited may have been sent with a later mark.
      const mark = async () => unsentRead && deps.request({ type: 'read', messageId: unsentRead });
      await retryWhileLimited(runtime, mark).then(forget, (error) => {
        // Kept and sent with the next connection. Any other failure is the caller's.
        if (error instanceof ConnectionError) return;
        forget();
        throw error;
      });
    },
    setTyping: (isTyping = true) => signalTyping(isTyping),
    // The answers of our own routes.
    presence: () => http.call('GET', `${pathOf(id)}/presence`) as Promise<readonly Present[]>,
    readState: () => http.call('GET', `${pathOf(id)}/read-state`) as Promise<ReadState>,
    readReceipts: (options) => http.page(`${pathOf(id)}/read-receipts`, options),
    members: (options) => http.page(`${pathOf(id)}/members`, options),
    async upload(file, options) {
      const { upload } = await import('./upload.ts').catch((cause) => {
        throw new ConnectionError('network', { cause });
      });
      return upload({ http, runtime, conversationId: id }, file, options);
    },
    leave: () => deps.leave(),
  };

  /** The numbered change of the same operation may have come before, or comes later. */
  function settle(operation: Operation, reply: OperationReply): void {
    if ('message' in reply) {
      if (operation.kind === 'edit') {
        timeline.setEdit(operation.messageId, null);
        timeline.update(reply.message);
      } else timeline.upsert(reply.message);
      timeline.drop(operation.id);
    } else if ('deletedAt' in reply) timeline.confirmRemoved(reply.messageId, reply.deletedAt);
    else if ('emoji' in operation) timeline.confirmReaction(operation.messageId, operation.emoji);
    messages.invalidate();
  }

  function handle(frame: ConversationFrame): void {
    // By the field: a type that only a newer server knows has its number too.
    if ('change' in frame) {
      catchUp.take(frame);
      return;
    }
    switch (frame.type) {
      case 'recovered':
        catchUp.recovered(frame.changes, frame.to, frame.complete);
        break;
      case 'typing':
        handleTyping(frame);
        break;
      case 'presence':
        events.emit('presence', frame.userId, frame.status, frame.event);
        break;
      case 'read':
      case 'delivered':
        // Each has its own payload, which its type says.
        events.emit(frame.type as 'read', frame as Extract<ConversationFrame, { type: 'read' }>);
        break;
      default:
        frame satisfies never;
    }
  }

  function handleTyping({ userId: who, typing: isTyping }: { userId: string; typing: boolean }): void {
    if (who === userId) return;
    if (isTyping) typists.set(who, deps.typingTtlMs);
    else typists.stop(who);
  }

  for (const operation of deps.waiting)
    if (operation.kind === 'send') timeline.addPending(operation.id, operation.draft, operation.at, true);

  return {
    api,
    get position() {
      return catchUp.position;
    },
    subscribed(subscription) {
      catchUp.subscribed(subscription);
      if (unsentRead !== null) api.markRead(unsentRead).catch((error) => events.emit('error', error));
    },
    settled: catchUp.settled,
    pause() {
      catchUp.pause();
      typists.clear();
    },
    handle,
    moved(operation, isQueued) {
      if (operation.kind !== 'send') return;
      timeline.setPending(operation.id, { isQueued });
      messages.invalidate();
    },
    done: settle,
    refused(operation, error) {
      if (operation.kind === 'send') timeline.setPending(operation.id, { error });
      else if (operation.kind === 'edit') timeline.setEdit(operation.messageId, { patch: operation.patch, error });
      else if (operation.kind === 'remove') timeline.setRemoved(operation.messageId, false);
      else timeline.setReaction(operation.messageId, operation.emoji, null);
      messages.invalidate();
      events.emit('error', error);
    },
    emit: events.emit,
  };
}
