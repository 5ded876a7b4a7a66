import { ConnectionError, type SvcError } from '../errors.ts';
import { createEmitter } from '../events.ts';
import type { ChatProtocol, Pushed, Request, Send } from '../frames.ts';
import { type Http, pathOf } from '../http.ts';
import type { Runtime } from '../runtime.ts';
import { createDerivedStore } from '../store.ts';
import { type ChangePage, createCatchUp } from './catch-up.ts';
import type { Conversation, ConversationEvents } from './conversation-types.ts';
import { createHistory, type History, type HistoryOptions } from './history.ts';
import type { Operation, OperationReply } from './operations.ts';
import type { Outcome } from './outbox.ts';
import { createOwnOperations } from './own-operations.ts';
import { createReadMark } from './read-mark.ts';
import type { Message, MessageRecord, Present, ReadState, Subscription } from './records.ts';
import { Timeline } from './timeline.ts';
import { createTyping } from './typing.ts';

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
  const { emit, ...listening } = createEmitter<ConversationEvents>();
  const onError = (error: SvcError): void => emit('error', error);

  const typing = createTyping(deps, (who, isTyping) => emit('typing', who, isTyping));
  const catchUp = createCatchUp({
    ...deps,
    onChange(change) {
      timeline.apply(change);
      messages.invalidate();
      if ('message' in change) {
        const shown = timeline.view(change.message.id) ?? asSent(change.message);
        if (change.type === 'message') typing.stop(shown.senderId ?? '');
        emit(EVENTS[change.type], shown);
      } else if ('emoji' in change) {
        const { type, messageId, emoji, userId: reactor } = change;
        emit(EVENTS[type], { ...timeline.view(messageId), id: messageId }, emoji, reactor);
      }
    },
    onPage(changes, asOf) {
      // What they show is as it was when they were read, not when it happened.
      for (const change of changes) if ('message' in change) timeline.update(change.message, asOf);
      messages.invalidate();
    },
    /** The server's numbers do not continue ours: what it has now replaces what we had. */
    async reload() {
      timeline.clear();
      await history();
    },
    onError,
  });

  function takeRecords(records: readonly MessageRecord[], isDetached: boolean, asOf: number): readonly Message[] {
    if (isDetached) return records.map(asSent);
    for (const record of records) timeline.upsert(record, asOf);
    messages.invalidate();
    return records.flatMap((record) => timeline.view(record.id) ?? []);
  }

  const history = (options: HistoryOptions = {}): History =>
    createHistory(http, id, options, takeRecords, () => catchUp.position.since ?? 0);

  const own = createOwnOperations(deps, timeline, messages.invalidate, onError);
  const markRead = createReadMark(runtime, deps.request);

  const api: Conversation = {
    id,
    messages,
    typing: typing.users,
    ...listening,
    history,
    ...own.api,
    markRead,
    setTyping: typing.signal,
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
    leave: deps.leave,
  };

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
        typing.handle(frame);
        break;
      case 'presence':
        emit('presence', frame.userId, frame.status, frame.event);
        break;
      case 'read':
      case 'delivered':
        // Each has its own payload, which its type says.
        emit(frame.type as 'read', frame as Extract<ConversationFrame, { type: 'read' }>);
        break;
      default:
        frame satisfies never;
    }
  }

  for (const operation of deps.waiting)
    if (operation.kind === 'send') timeline.addPending(operation.id, operation.draft, operation.at, true);

  return {
    ...own,
    api,
    get position() {
      return catchUp.position;
    },
    subscribed(subscription) {
      catchUp.subscribed(subscription);
      markRead().catch(onError);
    },
    settled: catchUp.settled,
    pause() {
      catchUp.pause();
      typing.clear();
    },
    handle,
    emit,
  };
}
