import { type ChatClientFrames, fail, type Limits, type ReplyTo } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import type { MissedChanges } from '../../../core/missed-changes.ts';
import type { Bus } from '../../../core/ports.ts';
import { ReplyThen, type SocketFrame } from '../../../core/socket.ts';
import { assertScope, isListed } from '../callers.ts';
import type { ChatConnection } from '../live/subscriptions.ts';
import type { Follower } from './announcer.ts';
import { createEnvironmentInboxes, type EnvironmentInboxes } from './environment-inboxes.ts';
import { type InboxMessage, inboxTopicOf } from './feed.ts';
import { type Interest, keyOf } from './interest.ts';
import { findChangedSince } from './live-store.ts';

interface LiveInboxDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Log;
  limits: Limits;
  missedChanges: MissedChanges;
  interest: Interest;
}

type SubscribeReply = ReplyTo<ChatClientFrames['inbox.subscribe']>;

interface Open {
  inboxes: EnvironmentInboxes;
  /** Resolves once what others publish arrives; then with how to stop that. */
  listening: Promise<() => void>;
}

export type LiveInboxes = ReturnType<typeof createLiveInboxes>;

/** What may have been committed, or announced, later than its time says. */
const slackMs = 30_000;
/** Entries of a catch-up; who has missed more reads the inbox anew. */
const recoveredMax = 200;

/** Inboxes that sockets of this process follow. What nobody follows costs nothing. */
export function createLiveInboxes(deps: LiveInboxDeps) {
  const { db, bus, clock, log, missedChanges, interest } = deps;
  const open = new Map<string, Open>();
  const followers = new Map<string, { follower: Follower; key: string }>();

  async function enter(scope: ProjectScope, key: string): Promise<EnvironmentInboxes> {
    const known = open.get(key);
    if (known) return known.listening.then(() => known.inboxes);
    const inboxes = createEnvironmentInboxes(deps, scope);
    const listening = listen(inboxes, key);
    open.set(key, { inboxes, listening });
    await listening;
    return inboxes;
  }

  async function listen(inboxes: EnvironmentInboxes, key: string): Promise<() => void> {
    // Only our own processes publish here.
    const stop = await bus.subscribe(inboxTopicOf(key), (message) => inboxes.take(message as InboxMessage));
    // Without the shared store others learn of it from their own look into the database, or not at all.
    await interest.begin(key).catch((error) => log.debug({ error }, 'inbox not announced'));
    return stop;
  }

  function leaveIfEmpty(key: string): void {
    const entry = open.get(key);
    if (!entry || entry.inboxes.size > 0) return;
    open.delete(key);
    interest.end(key);
    void entry.listening.then((stop) => stop());
  }

  async function subscribe(
    connection: ChatConnection,
    { since }: { since?: number },
  ): Promise<ReplyThen<SubscribeReply>> {
    const { caller } = connection.session;
    assertScope(caller, 'chat:read');
    end(connection);
    const key = keyOf(caller);
    const follower = createFollower(connection);
    followers.set(connection.id, { follower, key });
    try {
      const inboxes = await joined(follower, caller, key);
      const missed = since === undefined ? [] : await missedOf(follower, caller, since);
      const at = clock.now();
      if (missed && missed.length > 0) await inboxes.tellOne(follower, missed);
      if (!connection.isOpen) fail('SVC_UNAUTHENTICATED');
      return new ReplyThen({ recovered: since !== undefined && missed !== null, at }, () => follower.begin());
    } catch (error) {
      // One that never begins would hold what comes until its socket closes.
      if (followers.get(connection.id)?.follower === follower) end(connection);
      throw error;
    }
  }

  /** Others may leave, and close it, while it is waited for. */
  async function joined(follower: Follower, scope: ProjectScope, key: string): Promise<EnvironmentInboxes> {
    for (;;) {
      const inboxes = await enter(scope, key);
      if (open.get(key)?.inboxes !== inboxes) continue;
      if (followers.get(follower.id)?.follower === follower) inboxes.add(follower);
      else leaveIfEmpty(key);
      return inboxes;
    }
  }

  async function missedOf(follower: Follower, scope: ProjectScope, since: number): Promise<string[] | null> {
    const from = iso(Math.max(0, Math.min(since, clock.now()) - slackMs));
    const missed = await findChangedSince(db, scope, follower.userId, from, recoveredMax + 1);
    return missed === null || missed.length > recoveredMax ? null : missed;
  }

  function end(connection: ChatConnection): void {
    const known = followers.get(connection.id);
    if (!known) return;
    followers.delete(connection.id);
    open.get(known.key)?.inboxes.remove(known.follower);
    leaveIfEmpty(known.key);
  }

  return {
    subscribe,
    end,
    /** What a narrower token no longer allows ends; its list is looked at with each frame. */
    narrow(connection: ChatConnection): void {
      if (!connection.session.caller.scopes.includes('chat:read')) end(connection);
    },
    /** Looks into the store for what no message announced. */
    async catchUp(): Promise<void> {
      if (open.size === 0 || !(await missedChanges.arePossible())) return;
      for (const { inboxes } of [...open.values()]) await inboxes.catchUp();
    },
    stop(): void {
      for (const { inboxes } of open.values()) inboxes.stop();
    },
  };
}

/** Until its answer is sent nothing may overtake it: what comes is held. */
function createFollower(connection: ChatConnection): Follower & { begin(): void } {
  let held: SocketFrame[] | null = [];
  return {
    id: connection.id,
    userId: connection.session.caller.userId,
    follows: (conversationId) => isListed(connection.session.caller, conversationId),
    receive: (frame) => (held ? void held.push(frame) : connection.write(frame)),
    begin() {
      for (const frame of held ?? []) connection.write(frame);
      held = null;
    },
  };
}
