import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { frameText, type SocketFrame } from '../../../core/socket.ts';
import { createEntryFrames } from './entry-frames.ts';
import type { InboxMessage, TypingNote } from './feed.ts';
import { findMembers, findOwn, findShared, type LivePair } from './live-store.ts';

/** A socket that follows the inbox of its user. */
export interface Follower {
  readonly id: string;
  readonly userId: string;
  /** False for what its token leaves out. */
  follows(conversationId: string): boolean;
  receive(frame: SocketFrame): void;
}

interface AnnouncerDeps {
  db: Db;
  clock: Clock;
  limits: Limits;
}

export type Typing = Extract<InboxMessage, { typing: TypingNote }>;

/** Up to so many users are named in the question for members; more of them are picked out of the answer. */
const namedMax = 200;
/** Pairs that one statement looks at. */
const pairsMax = 2_000;
/** Entries that are written before messages get their turn. */
const entriesATurn = 100;
/** Larger conversations do not show typing: it would be most of what their members get. */
const typingMembersMax = 100;

/** Reads how conversations are in the inboxes of those who follow theirs, and writes them the frames. */
export function createAnnouncer(
  { db, clock, limits }: AnnouncerDeps,
  scope: ProjectScope,
  byUser: ReadonlyMap<string, ReadonlySet<Follower>>,
) {
  const retentionDefault = limits.CHAT_RETENTION_DAYS || null;

  async function membersOf(conversationIds: readonly string[]) {
    if (conversationIds.length === 0) return [];
    return findMembers(db, scope, conversationIds, byUser.size <= namedMax ? [...byUser.keys()] : null);
  }

  async function announce(pairs: readonly LivePair[], only?: Follower): Promise<void> {
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

  async function showTypings(shown: readonly Typing[]): Promise<void> {
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

  return { membersOf, announce, showTypings };
}

const removedFrame = (conversationId: string, ts: number): SocketFrame =>
  frameText(JSON.stringify({ type: 'inbox.removed', conversationId, ts }));
