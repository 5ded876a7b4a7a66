import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { frameText, type SocketFrame } from '../../../core/socket.ts';
import { createEntryFrames } from './entry-frames.ts';
import type { Concerned, InboxMessage, TypingNote } from './feed.ts';
import { findHeads, findMembers, findOwn, findRecorded, findShared, type LivePair } from './live-store.ts';

/** A socket that follows the inbox of its user. */
export interface Follower {
  readonly id: string;
  readonly userId: string;
  /** False for what its token leaves out. */
  follows(conversationId: string): boolean;
  receive(frame: SocketFrame): void;
}

interface EnvironmentDeps {
  db: Db;
  clock: Clock;
  log: Log;
  limits: Limits;
}

type Typing = Extract<InboxMessage, { typing: TypingNote }>;

export type EnvironmentInboxes = ReturnType<typeof createEnvironmentInboxes>;

/** Up to so many users are named in the question for members; more of them are picked out of the answer. */
const namedMax = 200;
/** Pairs that one statement looks at. */
const pairsMax = 2_000;
/** Entries that are written before messages get their turn. */
const entriesATurn = 100;
/** A look goes back further than a commit can be late. */
const lookBackMs = 20_000;
/** Larger conversations do not show typing: it would be most of what their members get. */
const typingMembersMax = 100;
const rememberedMax = 20_000;
/** The pause after a telling of many, by how long that took and how many they were. */
const manyEntries = 50;
const pauseShare = 19;
const entriesPerMs = 2;
const pauseMsMax = 3_000;

/** Followed inboxes of one project and environment in this process. One read serves all who are concerned by a turn. */
export function createEnvironmentInboxes({ db, clock, log, limits }: EnvironmentDeps, scope: ProjectScope) {
  const retentionDefault = limits.CHAT_RETENTION_DAYS || null;
  const byUser = new Map<string, Set<Follower>>();
  let waiting = new Map<string, Concerned>();
  let typings = new Map<string, Typing>();
  let isScheduled = false;
  /** One after the other: what is read later is sent later. */
  let line: Promise<unknown> = Promise.resolve();
  /** The last change of a conversation that followers here were told of; the look into the store asks for later ones. */
  const told = new Map<string, number>();
  /** Recorded changes without a number that the look has seen. */
  let seen = new Set<string>();
  const stopping = new AbortController();
  /** Messages come first: thousands of entries are told of in a part of the time, however many change. */
  let pause: Promise<void> = Promise.resolve();

  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = line.then(work);
    line = mine.catch((error) => log.warn({ error }, 'an inbox was not told'));
    return mine;
  };

  function take(message: InboxMessage): void {
    if ('typing' in message) return void takeTyping(message);
    for (const [conversationId, concerned] of message.changed) add(conversationId, concerned);
    schedule();
  }

  /** One look serves all who began or stopped while the line was busy. */
  function takeTyping(message: Typing): void {
    const { conversationId, userId } = message.typing;
    if (typings.size === 0) void inLine(showTypings).catch(() => {});
    typings.set(`${conversationId} ${userId}`, message);
  }

  function add(conversationId: string, { isForAll, userIds }: Concerned): void {
    const here = userIds.filter((userId) => byUser.has(userId));
    if (!isForAll && here.length === 0) return;
    const known = waiting.get(conversationId);
    const all = { isForAll: isForAll || known?.isForAll === true, userIds: [...(known?.userIds ?? []), ...here] };
    waiting.set(conversationId, all);
  }

  /** What comes while one is told, or after one that took long, goes with the next. */
  function schedule(): void {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    void pause.then(() => inLine(announceWaiting)).catch(() => {});
  }

  async function announceWaiting(): Promise<void> {
    const startedAt = clock.elapsed();
    isScheduled = false;
    const changed = waiting;
    waiting = new Map();
    const pairs = await pairsOf(changed);
    await tell(pairs);
    const tookMs = clock.elapsed() - startedAt;
    const pauseMs = pairs.length < manyEntries ? 0 : Math.max(tookMs * pauseShare, pairs.length / entriesPerMs);
    pause = clock.sleep(Math.min(pauseMsMax, pauseMs), stopping.signal);
  }

  async function pairsOf(changed: ReadonlyMap<string, Concerned>): Promise<LivePair[]> {
    const pairs = new Map<string, LivePair>();
    const put = (conversationId: string, userId: string): void => {
      if (byUser.has(userId)) pairs.set(`${conversationId} ${userId}`, { conversationId, userId });
    };
    for (const [conversationId, { userIds }] of changed) for (const userId of userIds) put(conversationId, userId);
    const forAll = [...changed].filter(([, { isForAll }]) => isForAll).map(([conversationId]) => conversationId);
    for (const { conversationId, lastChange, userIds } of await membersOf(forAll)) {
      remember(conversationId, lastChange);
      for (const userId of userIds) put(conversationId, userId);
    }
    return [...pairs.values()];
  }

  async function membersOf(conversationIds: readonly string[]) {
    if (conversationIds.length === 0) return [];
    return findMembers(db, scope, conversationIds, byUser.size <= namedMax ? [...byUser.keys()] : null);
  }

  function remember(conversationId: string, lastChange: number): void {
    // Those that were told of last are at the end.
    told.delete(conversationId);
    told.set(conversationId, lastChange);
    for (const oldest of told.keys()) {
      if (told.size <= rememberedMax) break;
      told.delete(oldest);
    }
  }

  async function tell(pairs: readonly LivePair[], only?: Follower): Promise<void> {
    for (let at = 0; at < pairs.length; at += pairsMax) await announceSome(pairs.slice(at, at + pairsMax), only);
  }

  /** A pair without a row is of somebody who is not a member any more, or of a conversation that is gone. */
  async function announceSome(pairs: readonly LivePair[], only?: Follower): Promise<void> {
    const ids = [...new Set(pairs.map(({ conversationId }) => conversationId))];
    const now = clock.now();
    const shared = await findShared(db, scope, ids, retentionDefault);
    const own = await findOwn(db, scope, pairs, iso(now));
    const frames = new Map(shared.map((one) => [one.id, createEntryFrames(one, clock.now())]));
    const ownOf = new Map(own.map((row) => [`${row.conversationId} ${row.userId}`, row]));
    for (const [at, { conversationId, userId }] of pairs.entries()) {
      if (at > 0 && at % entriesATurn === 0) await nextTurn();
      const row = ownOf.get(`${conversationId} ${userId}`);
      const write = frames.get(conversationId);
      // It came to be between the two reads: it is announced yet.
      if (row && !write) continue;
      const followers = only ? [only] : [...(byUser.get(userId) ?? [])];
      const listening = followers.filter((follower) => follower.follows(conversationId));
      if (listening.length === 0) continue;
      const frame = row && write ? write(userId, row) : removedFrame(conversationId, clock.now());
      for (const follower of listening) follower.receive(frame);
    }
  }

  async function showTypings(): Promise<void> {
    const shown = [...typings.values()];
    typings = new Map();
    if (byUser.size === 0) return;
    const members = await membersOf([...new Set(shown.map(({ typing }) => typing.conversationId))]);
    const membersIn = new Map(members.map((one) => [one.conversationId, one]));
    for (const { typing, except } of shown) {
      const concerned = membersIn.get(typing.conversationId);
      if (!concerned || concerned.memberCount > typingMembersMax) continue;
      const { isSilent, userIds } = concerned;
      showTyping(typing, isSilent ? userIds.filter((userId) => userId === typing.userId) : userIds, except);
    }
  }

  function showTyping(note: TypingNote, userIds: readonly string[], except: string | undefined): void {
    const frame = frameText(JSON.stringify({ type: 'inbox.typing', ...note, ts: clock.now() }));
    for (const userId of userIds) {
      for (const follower of byUser.get(userId) ?? []) {
        if (follower.id !== except && follower.follows(note.conversationId)) follower.receive(frame);
      }
    }
  }

  /** What was recorded lately and is later than what was told of it here, no matter who was to announce it. */
  async function catchUp(): Promise<void> {
    const recorded = await findRecorded(db, scope, iso(clock.now() - lookBackMs));
    const numbered = [...new Set(recorded.map(({ conversationId }) => conversationId))];
    if (numbered.length === 0) return;
    const nowSeen = new Set<string>();
    for (const { eventId, conversationId, userId } of recorded) {
      if (eventId === null || userId === null) continue;
      nowSeen.add(eventId);
      if (!seen.has(eventId)) add(conversationId, { isForAll: false, userIds: [userId] });
    }
    seen = nowSeen;
    for (const { conversationId, lastChange } of await findHeads(db, scope, numbered)) {
      if ((told.get(conversationId) ?? -1) < lastChange) add(conversationId, { isForAll: true, userIds: [] });
    }
    schedule();
  }

  return {
    take,
    catchUp,
    get size(): number {
      return byUser.size;
    },
    add(follower: Follower): void {
      const known = byUser.get(follower.userId);
      if (known) known.add(follower);
      else byUser.set(follower.userId, new Set([follower]));
    },
    remove(follower: Follower): void {
      const known = byUser.get(follower.userId);
      known?.delete(follower);
      if (known?.size === 0) byUser.delete(follower.userId);
    },
    /** Tells one follower how these conversations are now, in line with what the others are told. */
    tellOne: (follower: Follower, conversationIds: readonly string[]): Promise<void> =>
      inLine(() =>
        tell(
          conversationIds.map((conversationId) => ({ conversationId, userId: follower.userId })),
          follower,
        ),
      ),
    stop(): void {
      stopping.abort();
    },
  };
}

const removedFrame = (conversationId: string, ts: number): SocketFrame =>
  frameText(JSON.stringify({ type: 'inbox.removed', conversationId, ts }));
