import { ConnectionError, SvcError } from '../errors.ts';
import { createEmitter, type Events } from '../events.ts';
import type { Http } from '../http.ts';
import type { Frame } from '../link.ts';
import type { ConnectionState } from '../reconnect.ts';
import type { Runtime } from '../runtime.ts';
import { createDerivedStore, createStore, type Store } from '../store.ts';
import { createCatchUp } from './catch-up.ts';
import { createHistory, type History, type HistoryOptions } from './history.ts';
import type { Operation } from './operations.ts';
import type { Outcome } from './outbox.ts';
import type {
  Change,
  Message,
  MessagePatch,
  MessageRecord,
  NewMessage,
  PresenceStatus,
  Subscription,
} from './records.ts';
import { Timeline } from './timeline.ts';
import { createTypingSignal, createTypists } from './typing.ts';
import { type UploadOptions, upload } from './upload.ts';

/** A message that may not be loaded; its id is always known. */
export type MessageRef = Partial<Message> & { readonly id: string };

export type ConversationEvents = {
  message: [message: Message];
  messageUpdated: [message: Message];
  messageDeleted: [message: Message];
  reactionAdded: [message: MessageRef, emoji: string, userId: string];
  reactionRemoved: [message: MessageRef, emoji: string, userId: string];
  typing: [userId: string, isTyping: boolean];
  presence: [userId: string, status: PresenceStatus, event: 'enter' | 'update' | 'leave'];
  read: [receipt: { userId: string; messageId: string; seq: number; at: string }];
  /** Operations of this conversation that the server does not have yet. */
  queueChanged: [waiting: number];
  connectionStateChanged: [state: ConnectionState, previous: ConnectionState, error?: ConnectionError];
  error: [error: SvcError];
};

export interface Conversation extends Events<ConversationEvents> {
  /** `conv_…` */
  readonly id: string;
  /** Oldest first, merged from live frames and `history`; what is on its way comes last. */
  readonly messages: Store<readonly Message[]>;
  /** Who types now, without this user. */
  readonly typing: Store<readonly string[]>;
  /** Shown at once. Resolves when stored; without a connection at once, with `delivery: 'queued'`. */
  send(message: string | NewMessage): Promise<Message>;
  /** Sends a failed message again. */
  retry(clientMessageId: string): Promise<Message>;
  /** Forgets a message that waits or failed, or by its id a failed edit. */
  discard(id: string): void;
  edit(id: string, patch: string | MessagePatch): Promise<void>;
  remove(id: string): Promise<void>;
  react(id: string, emoji: string): Promise<void>;
  unreact(id: string, emoji: string): Promise<void>;
  /** Marks this message and all earlier ones as read. */
  markRead(id: string): Promise<void>;
  /** Call it with every key press; it is told to the others now and then. */
  setTyping(isTyping?: boolean): void;
  /** Newest first. Await it for one page, iterate it for many. */
  history(options?: HistoryOptions): History;
  upload(file: Blob, options?: UploadOptions): Promise<{ attachmentId: string }>;
  leave(): Promise<void>;
}

export interface ConversationDeps {
  id: string;
  userId: string;
  typingTtlMs: number;
  runtime: Runtime;
  http: Http;
  isConnected(): boolean;
  request(type: string, fields: object): Promise<unknown>;
  /** One page at a time, whichever conversation it is of. */
  readChanges(since: number): Promise<unknown>;
  send(type: string, fields: object): void;
  enqueue(operation: Operation): Promise<Outcome>;
  discard(id: string): void;
  /** Operations of an earlier page that wait for this conversation. */
  waiting: readonly Operation[];
  leave(): Promise<void>;
}

/** The conversation, and the door through which the chat feeds it. */
export interface ConversationPort {
  readonly api: Conversation;
  /** What a subscription says: where this client stands. */
  readonly position: { since?: number; epoch?: string };
  subscribed(subscription: Subscription): void;
  /** Resolves once nothing of the conversation is missing, or reading it was tried. */
  settled(): Promise<void>;
  /** The connection is gone, or the conversation left: nobody types here, and no timer stays. */
  pause(): void;
  handle(frame: Frame): void;
  moved(operation: Operation, isQueued: boolean): void;
  done(operation: Operation, data: unknown): void;
  refused(operation: Operation, error: SvcError): void;
  emit: ReturnType<typeof createEmitter<ConversationEvents>>['emit'];
}

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
    deps.send('typing', { conversation: id, typing: isTyping }),
  );
  const catchUp = createCatchUp({
    runtime,
    isConnected: deps.isConnected,
    onChange: apply,
    onPage(changes, asOf) {
      // What they show is as it was when they were read, not when it happened.
      for (const { message } of changes) if (message) timeline.upsert(message, asOf);
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

  function announce({ type, message, messageId = '', userId: who = '', emoji = '' }: Change): void {
    const shown = message && timeline.view(message.id);
    const target = timeline.view(messageId);
    if (type === 'message' && shown) {
      typists.stop(shown.senderId ?? '');
      events.emit('message', shown);
    } else if (type === 'message.updated' && shown) events.emit('messageUpdated', shown);
    else if (type === 'message.deleted' && shown) events.emit('messageDeleted', shown);
    else if (type === 'reaction.added') events.emit('reactionAdded', { ...target, id: messageId }, emoji, who);
    else if (type === 'reaction.removed') events.emit('reactionRemoved', { ...target, id: messageId }, emoji, who);
  }

  /** The server's numbers do not continue ours: what it has now replaces what we had. */
  async function reload(): Promise<void> {
    timeline.clear();
    await history();
  }

  function takeRecords(records: readonly MessageRecord[], isFiltered: boolean, asOf: number): readonly Message[] {
    // A filtered page would tear holes into the list.
    if (isFiltered) return records.map((record) => ({ ...record, delivery: 'sent' as const, error: null }));
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
    if (!found) throw new SvcError({ code: 'discarded', message: 'The message was discarded.' });
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
      if (!pending?.error)
        throw new SvcError({ code: 'nothing_to_retry', message: 'No failed message has this clientMessageId.' });
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
      await deps.request('read', { messageId }).then(forget, (error) => {
        // Kept: the next connection tells it. Anything but a lost connection is the caller's to know.
        if (error instanceof ConnectionError) return;
        forget();
        throw error;
      });
    },
    setTyping: (isTyping = true) => signalTyping(isTyping),
    upload: (file, options) => upload({ http, runtime, conversationId: id }, file, options),
    leave: () => deps.leave(),
  };

  /** What the server answered to an operation; the numbered change may have come before or is still to come. */
  function settle(operation: Operation, data: unknown): void {
    if (operation.kind === 'remove') {
      timeline.confirmRemoved(operation.messageId, (data as { deletedAt: string }).deletedAt);
    } else if (operation.kind === 'react' || operation.kind === 'unreact') {
      timeline.confirmReaction(operation.messageId, operation.emoji);
    } else {
      const { message } = data as { message: MessageRecord };
      if (operation.kind === 'edit') timeline.setEdit(operation.messageId, null);
      timeline.upsert(message);
      timeline.drop(operation.id);
    }
    messages.invalidate();
  }

  function handle(frame: Frame): void {
    // The frames of the contract's table.
    const { type } = frame;
    if (type === 'recovered') {
      const { changes, to, complete } = frame as unknown as { changes: Change[]; to: number; complete: boolean };
      catchUp.recovered(changes, to, complete);
    } else if (typeof frame['change'] === 'number') catchUp.take(frame as unknown as Change);
    else if (type === 'typing') handleTyping(frame as unknown as { userId: string; typing: boolean });
    else if (type === 'presence') {
      const { userId: who, status, event } = frame as unknown as PresenceFrame;
      events.emit('presence', who, status, event);
    } else if (type === 'read') {
      const { userId: who, messageId, seq, at: when } = frame as unknown as ReadFrame;
      events.emit('read', { userId: who, messageId, seq, at: when });
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

interface PresenceFrame {
  userId: string;
  status: PresenceStatus;
  event: 'enter' | 'update' | 'leave';
}

interface ReadFrame {
  userId: string;
  messageId: string;
  seq: number;
  at: string;
}
