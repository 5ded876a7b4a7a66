import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { StoredEvent } from '../../../core/event-store.ts';
import type { Log } from '../../../core/log.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { frameText } from '../../../core/socket.ts';
import { topicOf } from '../conversations/conversations.ts';
import { entriesOfJson, entryOfEvent } from '../messages/change-entries.ts';
import { readChanges } from '../messages/history-store.ts';
import { type ChangeEntry, type Channel, createChannel, type MemberView, recentMax, recentMs } from './channel.ts';
import { findChannel, findHeads, findMemberViews } from './hub-store.ts';

export interface HubDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Log;
}

/** Brings every change to everybody in this process who listens, once and in order, whichever process made it. */
export interface Hub {
  /** The channel of a conversation, up to date from now on; null when there is no such conversation. */
  open(uuid: string): Promise<Channel | null>;
  /** False once it was let go: it hears nothing any more and must be opened again. */
  isHeld(channel: Channel): boolean;
  /** Where a user stands; from memory where it is known. */
  memberOf(channel: Channel, userId: string): Promise<MemberView>;
  /** Makes the changes after `since` available in memory; false when they are too many. */
  reach(channel: Channel, since: number): Promise<boolean>;
  /** Events right after their commit, or found by the sweep. */
  fanOut(events: readonly StoredEvent[]): void;
  /** Something that is not stored: typing, presence. The connection `except` does not hear it. */
  tell(conversationId: string, type: string, fields: object, except?: string): void;
  /** Messages went without a change: what is known of unread counts is not true any more, on any process. */
  recount(conversationId: string): void;
  /** Looks into the store for changes that no message announced. */
  catchUp(): Promise<void>;
  tidy(): void;
  start(): void;
  stop(): void;
}

/** What travels between processes. */
type Envelope =
  | { entry: ChangeEntry }
  | { frame: string; except?: string }
  | { isRecount: true }
  | { read: { userId: string; seq: number }; frame: string };

interface Held {
  channel: Channel;
  unsubscribe: Unsubscribe;
  isFilling: boolean;
  reaching: Promise<void> | null;
  /** When the last listener left. */
  idleSince: number;
}

/** A change that is late by more than this is fetched. */
const patienceMs = 200;
const pageMax = 500;
const reachMin = 200;
/** Quiet conversations kept for those who come back. */
const idleMax = 5_000;

export function createHub({ db, bus, clock, log }: HubDeps): Hub {
  const held = new Map<string, Held>();
  const byUuid = new Map<string, Held>();
  const opening = new Map<string, Promise<Channel | null>>();
  const stopping = new AbortController();
  let wanted: {
    uuid: string;
    userId: string;
    resolve: (view: MemberView) => void;
    reject: (error: unknown) => void;
  }[] = [];
  let stopListening: Unsubscribe = () => {};

  async function load(uuid: string): Promise<Channel | null> {
    const row = await findChannel(db, uuid);
    if (!row) return null;
    // Listen first, read then: what happens in between arrives twice rather than never.
    const early: Envelope[] = [];
    let receive = (message: Envelope): void => void early.push(message);
    const unsubscribe = await bus.subscribe(topicOf(row.conversationId), (message) => receive(message as Envelope));
    const current = await findChannel(db, uuid);
    if (!current) {
      unsubscribe();
      return null;
    }
    const channel = createChannel(current);
    hold({ channel, unsubscribe, isFilling: false, reaching: null, idleSince: clock.now() });
    receive = (message) => hear(channel, message);
    for (const message of early) receive(message);
    return channel;
  }

  function hold(entry: Held): void {
    held.set(entry.channel.conversationId, entry);
    byUuid.set(entry.channel.uuid, entry);
  }

  function letGo({ channel, unsubscribe }: Held): void {
    held.delete(channel.conversationId);
    byUuid.delete(channel.uuid);
    unsubscribe();
  }

  function hear(channel: Channel, message: Envelope): void {
    if ('entry' in message) accept(channel, message.entry);
    else if ('isRecount' in message) channel.forgetMembers();
    else if ('read' in message) {
      channel.noteRead(message.read.userId, message.read.seq);
      channel.tell(frameText(message.frame));
    } else channel.tell(frameText(message.frame), message.except);
  }

  function accept(channel: Channel, entry: ChangeEntry): void {
    if (channel.take(entry, clock.now())) void fillSoon(channel);
  }

  async function fillSoon(channel: Channel): Promise<void> {
    const entry = held.get(channel.conversationId);
    if (!entry || entry.isFilling) return;
    entry.isFilling = true;
    await clock.sleep(patienceMs, stopping.signal);
    await fill(channel).catch((error) => log.warn({ error, conversationId: channel.conversationId }, 'gap not filled'));
    entry.isFilling = false;
  }

  /** Reads everything after `head` from the store. */
  async function fill(channel: Channel): Promise<void> {
    for (;;) {
      const since = channel.head;
      const row = await readChanges(db, channel.uuid, null, { since, limit: pageMax });
      if (!row) return;
      const now = clock.now();
      const upTo = row.hasMore ? (row.newest ?? since) : row.lastChange;
      channel.fill(entriesOfJson(row.text, now), upTo, now);
      if (!row.hasMore) return;
    }
  }

  /** Puts what came before `tail` into memory, as far back as `since` and at least a little. */
  async function reachBack(channel: Channel, since: number): Promise<void> {
    const { tail } = channel;
    const start = Math.max(0, Math.min(since, tail - reachMin));
    const older: ChangeEntry[] = [];
    for (let from = start; from < tail; ) {
      const row = await readChanges(db, channel.uuid, null, { since: from, limit: pageMax });
      older.push(...entriesOfJson(row?.text ?? '[]', clock.now()));
      from = row?.hasMore ? (row.newest ?? tail) : tail;
    }
    // `tail` may have moved on while we read: then it is simply read again.
    if (channel.tail === tail)
      channel.prepend(
        older.filter(({ change }) => change <= tail),
        start,
      );
  }

  async function catchUp(): Promise<void> {
    if (byUuid.size === 0) return;
    for (const { uuid, lastChange } of await findHeads(db, [...byUuid.keys()])) {
      const channel = byUuid.get(uuid)?.channel;
      if (channel && channel.head < lastChange) await fill(channel);
    }
  }

  /** Everybody who asks in one turn is looked up in one statement. */
  function loadView(uuid: string, userId: string): Promise<MemberView> {
    return new Promise((resolve, reject) => {
      if (wanted.length === 0) setImmediate(() => void loadViews());
      wanted.push({ uuid, userId, resolve, reject });
    });
  }

  async function loadViews(): Promise<void> {
    const asked = wanted;
    wanted = [];
    try {
      const rows = await findMemberViews(
        db,
        asked.map(({ uuid, userId }) => ({ uuid, userId })),
      );
      const found = new Map(rows.map((row) => [`${row.uuid} ${row.userId}`, row]));
      for (const { uuid, userId, resolve } of asked) {
        resolve(found.get(`${uuid} ${userId}`) ?? { role: null, readSeq: 0, unread: 0, asOf: 0 });
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  const publish = (conversationId: string, message: Envelope): void => bus.publish(topicOf(conversationId), message);

  function fanOutRead({ data }: StoredEvent): void {
    const { conversationId, userId, messageId, seq, at } = data as Record<'conversationId' | 'userId', string> & {
      messageId: string;
      seq: number;
      at: string;
    };
    const frame = JSON.stringify({ type: 'read', conversationId, userId, messageId, seq, at, ts: clock.now() });
    publish(conversationId, { read: { userId, seq }, frame });
  }

  return {
    async open(uuid) {
      const known = byUuid.get(uuid);
      if (known) return known.channel.status === 'DELETED' ? null : known.channel;
      const running = opening.get(uuid);
      if (running) return running;
      const started = load(uuid).finally(() => opening.delete(uuid));
      opening.set(uuid, started);
      return started;
    },

    isHeld: (channel) => byUuid.get(channel.uuid)?.channel === channel,

    async memberOf(channel, userId) {
      for (;;) {
        const known = channel.member(userId);
        if (known) return known;
        const { memory } = channel;
        const view = await loadView(channel.uuid, userId);
        if (view.role === null) return view;
        // Brought up to now by `member`: somebody may have been removed while we asked.
        if (channel.memory === memory) channel.setMember(userId, view);
      }
    },

    async reach(channel, since) {
      // Whoever comes from a process that is ahead has seen what we have not heard of yet.
      if (since > channel.head) await fill(channel);
      const entry = byUuid.get(channel.uuid);
      while (entry && since < channel.tail && channel.head - since <= recentMax) {
        // One reading serves everybody who comes back at once.
        entry.reaching ??= reachBack(channel, since).finally(() => {
          entry.reaching = null;
        });
        await entry.reaching;
      }
      return since >= channel.tail && since <= channel.head;
    },

    fanOut(events) {
      const now = clock.now();
      for (const event of events) {
        if (event.type === 'message.read') fanOutRead(event);
        const entry = entryOfEvent(event, now);
        if (entry) publish(entry.conversationId, { entry });
      }
    },

    tell(conversationId, type, fields, except) {
      const frame = JSON.stringify({ type, conversationId, ...fields, ts: clock.now() });
      publish(conversationId, except === undefined ? { frame } : { frame, except });
    },

    recount: (conversationId) => publish(conversationId, { isRecount: true }),

    catchUp,

    tidy() {
      const now = clock.now();
      const idle: Held[] = [];
      for (const entry of held.values()) {
        entry.channel.forget(now);
        if (entry.channel.listeners.size > 0) entry.idleSince = now;
        else idle.push(entry);
      }
      idle.sort((left, right) => right.idleSince - left.idleSince);
      for (const [at, entry] of idle.entries()) {
        const isKept = at < idleMax && now - entry.idleSince < recentMs && entry.channel.status !== 'DELETED';
        if (!isKept) letGo(entry);
      }
    },

    start() {
      stopListening = bus.onGap(() => {
        // Read marks are no numbered changes: which of them were missed cannot be told.
        for (const { channel } of held.values()) channel.forgetMembers();
        void catchUp().catch((error) => log.warn({ error }, 'catching up failed'));
      });
    },
    stop() {
      stopping.abort();
      stopListening();
      for (const entry of [...held.values()]) letGo(entry);
    },
  };
}
