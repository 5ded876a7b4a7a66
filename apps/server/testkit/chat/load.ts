import { ApiError } from '@parley/server';
import { openSocket, type ServerFrame, type SocketClient } from '../clients/socket-client.ts';
import { eventually } from '../kit/eventually.ts';
import { subscribe } from './chat.ts';
import type { ChatFleet } from './fleet.ts';
import type { LogEntry, Sighting } from './history-checker.ts';

/** Numbers that look random and are the same for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface WriteOptions {
  writers: number;
  /** Messages of each. */
  each: number;
  /** Milliseconds between two of one writer's messages. */
  pauseMs?: number;
  prefix?: string;
  onAcknowledged?: (count: number) => void;
  /** Each attempt: which process was asked, when, and what it threw, if it did. */
  onAttempt?: (attempt: { place: number; startedMs: number; error?: unknown }) => void;
  /** Gives up on what is under way: the scenario has failed. */
  signal?: AbortSignal;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Only what a server certainly did not do may count as refused; everything else may have happened. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status < 500 && error.status !== 409;

/**
 * Writers who send until each message is acknowledged: after an unknown outcome the same message is sent again, to
 * another process, with the same key. Everything is logged.
 */
export async function writeAll(fleet: ChatFleet, log: LogEntry[], options: WriteOptions): Promise<{ retries: number }> {
  const { writers, each, pauseMs = 0, prefix = '', onAcknowledged, onAttempt, signal } = options;
  let [acknowledged, retries] = [0, 0];

  async function send(writer: number, place: number): Promise<void> {
    const key = `${prefix}${writer}/${place}`;
    log.push({ is: 'invoke', key });
    for (let attempt = 0; ; attempt++) {
      const [place, startedMs] = [writer + attempt, performance.now()];
      try {
        const body = { text: key, senderId: `w${writer}`, clientMessageId: key };
        const { seq, change } = await fleet.api(place).call('sendMessage', { room: fleet.room, body });
        log.push({ is: 'ok', key, seq, change });
        onAttempt?.({ place, startedMs });
        onAcknowledged?.(++acknowledged);
        return;
      } catch (error) {
        onAttempt?.({ place, startedMs, error });
        log.push({ is: isRefusal(error) ? 'fail' : 'info', key });
        if (isRefusal(error) || signal?.aborted) throw error;
        retries++;
        await pause(20);
      }
    }
  }

  const one = async (writer: number): Promise<void> => {
    for (let place = 0; place < each; place++) {
      await send(writer, place);
      if (pauseMs > 0) await pause(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => one(writer)));
  return { retries };
}

type Seen = { key: string; seq: number };

interface ForwardOptions {
  /** Where to begin: the `latestCursor` of the conversation while it was empty. */
  from: string;
  /** Of pages, from and to: another each time. */
  sizes: readonly [min: number, max: number];
  place: number;
  /** All writers have finished. */
  isOver: () => boolean;
}

/** Pages forward by `after` until nobody writes and nothing is left; a page that failed is asked for again. */
export async function readForward(fleet: ChatFleet, options: ForwardOptions): Promise<Sighting> {
  const { sizes, isOver } = options;
  const random = seeded(options.place);
  const keys: Seen[] = [];
  let [after, place] = [options.from, options.place];
  for (;;) {
    const wasOver = isOver();
    try {
      const query = { limit: sizes[0] + random(sizes[1] - sizes[0] + 1), after };
      const page = await fleet.api(place).call('listMessages', { room: fleet.room, query });
      keys.push(...page.messages.toReversed().map(seenOf));
      if (wasOver && page.nextCursor === null) return { by: `reader of ${sizes.join(' to ')}`, keys };
      if (page.messages.length === 0) await pause(10);
      after = page.nextCursor ?? page.latestCursor ?? after;
    } catch (error) {
      if (isRefusal(error)) throw error;
      place++;
      await pause(20);
    }
  }
}

const seenOf = ({ clientMessageId, seq }: { clientMessageId: string | null; seq: number }): Seen => ({
  key: clientMessageId ?? '',
  seq,
});

/** Everything that is stored, oldest first, tombstones too. */
export async function wholeHistory(fleet: ChatFleet): Promise<Seen[]> {
  const all: Seen[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const query = { limit: 100, includeDeleted: true, ...(before ? { before } : {}) };
    const page = await fleet.api(0).call('listMessages', { room: fleet.room, query });
    all.push(...page.messages.map(seenOf));
    before = page.nextCursor;
  }
  return all.reverse();
}

interface Change {
  type: string;
  change: number;
  messageId?: string;
  message?: { id: string; clientMessageId: string | null; seq: number };
}

/** What was done to which message. */
export const operationOf = ({ type, messageId, message }: Change): string => `${type} ${messageId ?? message?.id}`;

/** Every change that is stored, oldest first. */
export async function wholeLog(fleet: ChatFleet): Promise<Change[]> {
  const all: Change[] = [];
  for (let since: string | undefined; ; ) {
    const query = { limit: 100, ...(since === undefined ? {} : { since }) };
    const page = await fleet.api(0).call('listChanges', { room: fleet.room, query });
    all.push(...(page.changes as unknown as Change[]));
    if (page.complete) return all;
    since = page.nextCursor;
  }
}

const pingEveryMs = 15_000;

/** One subscriber who comes back after every loss, to whichever process, and remembers each change once. */
export class Follower {
  readonly changes = new Map<number, Change>();
  /** Changes that came twice within one subscription, or out of order in it. */
  readonly faults: string[] = [];
  unrecovered = 0;
  reconnects = 0;
  /** How each connection that was lost ended. */
  readonly losses: string[] = [];
  readonly #fleet: ChatFleet;
  readonly #token: string;
  #client: SocketClient | null = null;
  #taken = 0;
  #lastLive = 0;
  #place: number;
  #pingedMs = 0;

  constructor(fleet: ChatFleet, token: string, place: number) {
    this.#fleet = fleet;
    this.#token = token;
    this.#place = place;
  }

  /** The last change before which none is missing. */
  get head(): number {
    let head = this.#contiguous;
    while (this.changes.has(head + 1)) head++;
    this.#contiguous = head;
    return head;
  }
  #contiguous = 0;

  get isConnected(): boolean {
    return this.#client !== null && this.#client.closed === null;
  }

  /** Takes in what has arrived; connects again when the connection is gone. */
  async keepAlive(): Promise<void> {
    this.take();
    if (!this.isConnected) await this.connect();
    else this.#beat();
  }

  /** As every client does: who is silent for too long is taken for gone. */
  #beat(): void {
    if (performance.now() - this.#pingedMs < pingEveryMs) return;
    this.#pingedMs = performance.now();
    this.#client?.send({ type: 'ping' });
  }

  take(): void {
    const frames = this.#client?.frames ?? [];
    for (; this.#taken < frames.length; this.#taken++) this.#receive(frames[this.#taken] as ServerFrame);
  }

  #receive(frame: ServerFrame): void {
    if (frame['conversationId'] !== this.#fleet.room) return;
    if (frame.type === 'recovered') for (const change of frame['changes'] as Change[]) this.#note(change);
    else if (typeof frame['change'] === 'number') this.#note(frame as unknown as Change);
  }

  #note(change: Change): void {
    if (change.change <= this.#lastLive) this.faults.push(`${change.change} after ${this.#lastLive}`);
    this.#lastLive = change.change;
    this.changes.set(change.change, change);
  }

  #lose(how: string): void {
    this.losses.push(`loss ${this.losses.length + 1}: ${how}`);
  }

  async connect(): Promise<void> {
    if (this.#client?.closed) this.#lose(`${this.#client.closed.code} ${this.#client.closed.reason}`);
    this.drop();
    this.reconnects++;
    try {
      const url = this.#fleet.url(this.#place++);
      this.#client = await openSocket(`${url}/v1/chat/ws?token=${this.#token}`);
      await this.subscribe();
    } catch (error) {
      this.#lose(String(error).slice(0, 200));
      this.drop();
      await pause(50);
    }
  }

  /** Subscribes from what is known without a hole; pages what the server will not recover. */
  async subscribe(): Promise<void> {
    if (!this.#client) return;
    this.take();
    const since = this.head;
    this.#lastLive = 0;
    const answer = await subscribe(this.#client, this.#fleet.room, { since });
    if (answer['recovered'] === true) {
      this.#lastLive = Math.max(this.#lastLive, since);
      return;
    }
    // A process that is behind what we know says so; it will send the rest again.
    this.unrecovered++;
    const query = { limit: 100 };
    for (let from = since; ; ) {
      const reply = await this.#client.ask({ type: 'changes', conversation: this.#fleet.room, since: from, ...query });
      const page = reply['data'] as { changes: Change[]; change: number; complete: boolean };
      for (const change of page.changes) this.changes.set(change.change, change);
      if (page.complete) return;
      from = page.change;
    }
  }

  async unsubscribe(): Promise<void> {
    await this.#client?.ask({ type: 'unsubscribe', conversations: [this.#fleet.room] });
  }

  drop(): void {
    this.take();
    this.#client?.ws.terminate();
    this.#client = null;
    this.#taken = 0;
  }

  /** Messages in the order of their changes, as far as this follower knows. */
  sighting(by: string): Sighting {
    this.take();
    const known = [...this.changes.values()].sort((a, b) => a.change - b.change);
    return {
      by,
      keys: known.flatMap(({ type, message }) =>
        type === 'message' && message ? [{ key: message.clientMessageId ?? '', seq: message.seq }] : [],
      ),
    };
  }

  /** Resolves when every change up to this one has arrived. */
  async reach(change: number, withinMs = 60_000): Promise<void> {
    await eventually(
      async () => {
        await this.keepAlive();
        if (this.head < change) throw new Error(`received everything up to ${this.head} of ${change}`);
      },
      { withinMs },
    );
  }
}

/** Keeps followers connected until `stop`. */
export function follow(followers: readonly Follower[]): { stop(): Promise<void> } {
  let isOver = false;
  const kept = followers.map(async (follower) => {
    while (!isOver) {
      await follower.keepAlive();
      await pause(25);
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(kept);
    },
  };
}
