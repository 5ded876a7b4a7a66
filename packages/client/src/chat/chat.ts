import { type Connection, createConnection } from '../connection.ts';
import { type Credential, type CredentialSource, createCredential } from '../credential.ts';
import { ConnectionError, errorFrom, type SvcError } from '../errors.ts';
import { createEmitter, type Emitter, type Events } from '../events.ts';
import type { ChatProtocol, Hello, Pushed } from '../frames.ts';
import { baseUrlOf, createHttp, type Http } from '../http.ts';
import type { Link } from '../link.ts';
import type { ConnectionState, ReconnectOptions } from '../reconnect.ts';
import { type Runtime, systemRuntime } from '../runtime.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { ConnectOptions } from '../session.ts';
import { createStore, type Store } from '../store.ts';
import { type ConversationFrame, type ConversationPort, createConversation } from './conversation.ts';
import type { Conversation } from './conversation-types.ts';
import { lazyIndexedDbQueue } from './lazy-indexeddb-queue.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import type { PartEvents, PartFrame, PartPort } from './part-port.ts';
import { memoryQueue, type QueueStorage } from './queue-storage.ts';
import type { ChatUser, ConversationRecord, Page, PageOptions } from './records.ts';
import { retryWhileLimited } from './retry-while-limited.ts';
import { createSendBudget } from './send-budget.ts';
import { askSubscriptions, otherUser, refusalOf, removedError, type Wanted } from './subscribe.ts';

export interface ChatOptions {
  /** Address of the service, `https://rtc.example.com`. */
  url: string;
  /** A chat token, or a function that fetches one from your backend. */
  token: Credential;
  /** Where messages wait while there is no connection. Default `memory`; `indexeddb` survives a reload. */
  queue?: 'memory' | 'indexeddb' | QueueStorage;
  reconnect?: ReconnectOptions | false;
}

export type ChatEvents = {
  connectionStateChanged: [state: ConnectionState, previous: ConnectionState, error?: ConnectionError];
  error: [error: SvcError];
  /** What the backend says of a user in a joined conversation changed. What changes without a connection is not told. */
  userUpdated: [user: ChatUser];
};

export interface ChatState {
  connection: ConnectionState;
  /** Known once connected. */
  userId: string | null;
  /** Operations that the server does not have yet. */
  queued: number;
}

export interface JoinOptions {
  /** Be shown to the others as present. Default true. Events of the others arrive either way. */
  presence?: boolean;
  /** For components and stores: what the application joins by itself as well, they do not leave. */
  isShared?: boolean;
}

/** An hour: a laptop that slept through lunch comes back by itself. */
const GIVE_UP_AFTER_MS = 3_600_000;

export class Chat implements Events<ChatEvents> {
  readonly state: Store<ChatState>;
  readonly on: Events<ChatEvents>['on'];
  readonly once: Events<ChatEvents>['once'];
  readonly #runtime: Runtime;
  readonly #credential: CredentialSource;
  readonly #http: Http;
  readonly #events: Emitter<ChatEvents & PartEvents> = createEmitter<ChatEvents & PartEvents>();
  readonly #connection: Connection<ChatProtocol>;
  readonly #outbox: Outbox;
  readonly #joined = new Map<string, { port: ConversationPort; presence: boolean; isShared: boolean }>();
  /** Joins that wait for their answer: one frame for one conversation. */
  readonly #joining = new Map<string, Promise<Conversation>>();
  /** Frames that came right behind the answer to a join. */
  #unclaimed: ConversationFrame[] = [];
  /** Pages of twenty conversations at once would be more than the server keeps for a slow reader. */
  readonly #inTurn = createSerialQueue();
  readonly #setState: (change: Partial<ChatState>) => void;
  #hello: Hello<ChatProtocol> | null = null;
  #presence: 'ONLINE' | 'AWAY' = 'ONLINE';
  /** How many conversations one frame subscribes to. */
  #groupSize = Number.POSITIVE_INFINITY;

  /** The second argument is for tests: another clock, another socket. */
  constructor({ url, token, queue = 'memory', reconnect = {} }: ChatOptions, runtime: Runtime = systemRuntime) {
    const baseUrl = baseUrlOf(url);
    const state = createStore<ChatState>({ connection: 'idle', userId: null, queued: 0 });
    this.state = state;
    this.#setState = (change) => state.set({ ...state.getSnapshot(), ...change });
    this.on = this.#events.on;
    this.once = this.#events.once;
    this.#runtime = runtime;
    this.#credential = createCredential(token);
    this.#http = createHttp({ baseUrl, credential: this.#credential, runtime });
    this.#connection = createConnection({
      baseUrl,
      path: '/v1/chat/ws',
      subprotocol: 'svc.chat.v1',
      credential: this.#credential,
      reconnect: reconnect && { giveUpAfterMs: GIVE_UP_AFTER_MS, ...reconnect },
      runtime,
      welcome: (link) => this.#welcome(link),
      onFrame: (frame) => this.#handle(frame),
      onState: (...change) => this.#moved(...change),
    });
    this.#outbox = createOutbox({
      runtime,
      storage: storageOf(queue, runtime),
      budget: createSendBudget(runtime),
      request: this.#connection.request,
      onMove: (operation, isQueued) => this.#portOf(operation.conversationId)?.moved(operation, isQueued),
      onDone: (operation, reply) => this.#portOf(operation.conversationId)?.done(operation, reply),
      onRefused: (operation, error) => this.#portOf(operation.conversationId)?.refused(operation, error),
      onCount: () => this.#counted(),
      onError: (error) => this.#events.emit('error', error),
    });
  }

  /** For `@parley/client/inbox` and the other parts, which share the connection; not `#`, so that it can be reached from there. */
  protected get inbox(): unknown {
    return [this.#http, this.#connection, this.#events] satisfies PartPort;
  }

  /** Resolves once connected; rejects with a ConnectionError whose `reason` says why not. */
  connect(options?: ConnectOptions): Promise<void> {
    return this.#connection.connect(options);
  }

  async disconnect(): Promise<void> {
    this.#connection.disconnect();
  }

  /** By `conv_` id, uuid, room id or name. The same conversation gives the same object. */
  async join(ref: string, { presence = true, isShared = false }: JoinOptions = {}): Promise<Conversation> {
    const known = this.#joining.get(ref) ?? this.#subscribe(ref, presence);
    this.#joining.set(ref, known);
    try {
      const conversation = await known;
      const joined = this.#joined.get(conversation.id);
      if (joined) joined.isShared &&= isShared;
      return conversation;
    } finally {
      this.#joining.delete(ref);
      if (this.#joining.size === 0) this.#unclaimed = [];
    }
  }

  /** What is joined now, by id. `isShared`: by components and stores alone. */
  get joined(): ReadonlyMap<string, { readonly isShared: boolean }> {
    return this.#joined;
  }

  /** The user's own, newest first, with what they have not read. Joined or not: they do not change by themselves. */
  conversations(options?: PageOptions): Promise<Page<ConversationRecord>> {
    return this.#http.page('/v1/chat/conversations', options);
  }

  /** Shown to the others in every joined conversation, on this connection and the next ones. */
  setPresence(status: 'ONLINE' | 'AWAY'): void {
    this.#presence = status;
    retryWhileLimited(this.#runtime, () =>
      this.#connection.request({ type: 'presence', status: this.#presence }),
    ).catch(
      // Without a connection the next one says it.
      (error) => error instanceof ConnectionError || this.#events.emit('error', error),
    );
  }

  async #subscribe(ref: string, presence: boolean): Promise<Conversation> {
    await this.#connection.whenConnected();
    const [item] = await askSubscriptions(this.#connection.request, [{ ref, presence }]);
    if (!item || 'code' in item) throw refusalOf(item, ref, this.#hello?.maxSubscriptions);
    const joined = this.#joined.get(item.conversationId);
    const port = joined?.port ?? this.#open(item.conversationId, presence);
    // A second ref of the same conversation: what it said is as good as a reconnect.
    port.subscribed(item);
    if (!joined)
      for (const frame of this.#unclaimed) if (frame.conversationId === item.conversationId) port.handle(frame);
    return port.api;
  }

  #open(id: string, presence: boolean): ConversationPort {
    const port: ConversationPort = createConversation({
      id,
      userId: this.#hello?.userId ?? '',
      typingTtlMs: (this.#hello?.typingTtlSeconds ?? 7) * 1000,
      runtime: this.#runtime,
      http: this.#http,
      isConnected: () => this.#portOf(id) === port && this.#connection.link?.isOpen === true,
      request: this.#connection.request,
      readChanges: (since) =>
        this.#inTurn(() =>
          retryWhileLimited(this.#runtime, () =>
            this.#connection.request({ type: 'changes', conversation: id, since }),
          ),
        ),
      send: this.#connection.send,
      enqueue: (operation) => this.#outbox.add(operation),
      discard: (operationId) => this.#outbox.discard(operationId),
      waiting: this.#outbox.waitingOf(id),
      leave: () => this.#leave(id),
    });
    this.#joined.set(id, { port, presence, isShared: true });
    return port;
  }

  async #leave(id: string): Promise<void> {
    this.#portOf(id)?.pause();
    if (!this.#joined.delete(id)) return;
    this.#connection.send({ type: 'unsubscribe', conversations: [id] });
  }

  /** First exchange of every connection: the same user, the same conversations, from where we stopped. */
  async #welcome(link: Link<ChatProtocol>): Promise<void> {
    const { hello } = link;
    if (this.#hello && this.#hello.userId !== hello.userId) throw otherUser(this.#hello.userId, hello.userId);
    this.#hello = hello;
    // First of all: the others must not see this user as online for a moment.
    if (this.#presence !== 'ONLINE') link.send({ type: 'presence', status: this.#presence });
    const wanted = [...this.#joined].map(([ref, { port, presence }]) => ({ ref, presence, ...port.position }));
    const size = Math.min(this.#groupSize, wanted.length);
    void link.closed.then(({ reason }) => {
      // Cut for reading too slowly, it asks for less at once the next time.
      this.#groupSize = reason === 'SLOW_CONSUMER' ? Math.max(1, Math.ceil(size / 4)) : Number.POSITIVE_INFINITY;
    });
    for (let at = 0; at < wanted.length; at += size) {
      const group = wanted.slice(at, at + size);
      await this.#resubscribe(link, group);
      // What these have missed is here before the next are asked for.
      const settled = group.map(({ ref }) => this.#portOf(ref)?.settled());
      if (at + size < wanted.length) await Promise.race([link.closed, Promise.all(settled)]);
    }
  }

  async #resubscribe(link: Link<ChatProtocol>, wanted: Wanted[]): Promise<void> {
    const items = await askSubscriptions(link.request, wanted);
    wanted.forEach(({ ref }, index) => {
      const item = items[index];
      const port = this.#portOf(ref);
      if (!item || 'code' in item) this.#lost(ref, refusalOf(item, ref));
      else if (port) port.subscribed(item);
      // Left while it waited for its turn.
      else link.send({ type: 'unsubscribe', conversations: [ref] });
    });
  }

  #handle(frame: Pushed<ChatProtocol>): void {
    switch (frame.type) {
      case 'token.expiring':
        void this.#renewToken();
        break;
      case 'reconnect':
        this.#connection.cycle(frame.afterMs);
        break;
      case 'error':
        this.#events.emit('error', errorFrom(frame));
        break;
      case 'user.updated':
        this.#events.emit('userUpdated', frame.user);
        break;
      case 'unsubscribed':
        this.#lost(frame.conversationId, removedError);
        break;
      default:
        // Each takes what it knows, and lets the rest pass: this file has few bytes to spare.
        this.#events.emit('inbox', frame as PartFrame);
        this.#deliver(frame as ConversationFrame);
    }
  }

  #deliver(frame: ConversationFrame): void {
    const port = this.#portOf(frame.conversationId);
    if (port) port.handle(frame);
    else if (this.#joining.size > 0) this.#unclaimed.push(frame);
  }

  /** The server ended a subscription, or did not renew it. */
  #lost(id: string, error: SvcError): void {
    const port = this.#portOf(id);
    this.#joined.delete(id);
    port?.pause();
    port?.emit('error', error);
  }

  #moved(state: ConnectionState, previous: ConnectionState, error?: ConnectionError): void {
    if (state === 'connected' && this.#hello) this.#outbox.open(this.#hello.userId);
    else {
      this.#outbox.close();
      for (const { port } of this.#joined.values()) port.pause();
    }
    this.#setState({ connection: state, userId: this.#hello?.userId ?? null });
    this.#events.emit('connectionStateChanged', state, previous, error);
    for (const { port } of this.#joined.values()) port.emit('connectionStateChanged', state, previous, error);
  }

  async #renewToken(): Promise<void> {
    if (!this.#credential.canRenew) return;
    try {
      await this.#connection.request({ type: 'token.refresh', token: await this.#credential.renew() });
    } catch {
      // The connection lasts until the token expires; then a new one is fetched again, and a failure is emitted.
    }
  }

  #counted(): void {
    this.#setState({ queued: this.#outbox.count });
    for (const [id, { port }] of this.#joined) port.emit('queueChanged', this.#outbox.waitingOf(id).length);
  }

  #portOf(id: string): ConversationPort | undefined {
    return this.#joined.get(id)?.port;
  }
}

function storageOf(queue: ChatOptions['queue'], runtime: Runtime): QueueStorage {
  if (queue === 'indexeddb') return lazyIndexedDbQueue(runtime.newId());
  return typeof queue === 'object' ? queue : memoryQueue;
}
