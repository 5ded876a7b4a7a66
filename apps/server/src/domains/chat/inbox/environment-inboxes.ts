import type { Limits } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { createAnnouncer, type Follower, type Typing } from './announcer.ts';
import type { Concerned, InboxMessage } from './feed.ts';
import { findHeads, findRecorded, type LivePair } from './live-store.ts';

interface EnvironmentDeps {
  db: Db;
  clock: Clock;
  log: Log;
  limits: Limits;
}

export type EnvironmentInboxes = ReturnType<typeof createEnvironmentInboxes>;

/** A look goes back further than a commit can be late. */
const lookBackMs = 20_000;
const rememberedMax = 20_000;
/** The pause after a telling of many, by how long that took and how many they were. */
const manyEntries = 50;
const pauseShare = 19;
const entriesPerMs = 2;
const pauseMsMax = 3_000;

/** Followed inboxes of one project and environment in this process. One read serves all who are concerned by a turn. */
export function createEnvironmentInboxes(deps: EnvironmentDeps, scope: ProjectScope) {
  const { db, clock, log } = deps;
  const byUser = new Map<string, Set<Follower>>();
  const { membersOf, announce, showTypings } = createAnnouncer(deps, scope, byUser);
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
    if (typings.size === 0) void inLine(showWaiting).catch(() => {});
    typings.set(`${conversationId} ${userId}`, message);
  }

  function showWaiting(): Promise<void> {
    const shown = [...typings.values()];
    typings = new Map();
    return showTypings(shown);
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
    await announce(pairs);
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

  function remember(conversationId: string, lastChange: number): void {
    // Those that were told of last are at the end.
    told.delete(conversationId);
    told.set(conversationId, lastChange);
    for (const oldest of told.keys()) {
      if (told.size <= rememberedMax) break;
      told.delete(oldest);
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
        announce(
          conversationIds.map((conversationId) => ({ conversationId, userId: follower.userId })),
          follower,
        ),
      ),
    stop(): void {
      stopping.abort();
    },
  };
}
