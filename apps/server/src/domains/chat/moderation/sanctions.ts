import { fail, type ImposeSanction, type Limits, roleRules, type Sanction, type SanctionKind } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import { readFuture } from '../../../core/future.ts';
import { type Answer, page, recorded } from '../../../core/handlers.ts';
import { failQuota } from '../../../core/quotas.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { actorOf, type Backend, type DashboardCaller, type Moderator, userOf } from '../callers.ts';
import type { ConversationEntry } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import { findMember } from '../conversations/member-store.ts';
import type { Members } from '../conversations/members.ts';
import { topicOf } from '../live/change.ts';
import {
  deleteOverSanctions,
  deleteSanction,
  endShadow,
  everywhere,
  listAllSanctions,
  listSanctions,
  type Place,
  setShadowed,
  setSilenced,
  upsertSanction,
} from './sanction-store.ts';
import type { ChatStanding } from './standing.ts';
import { assertUserId } from './user-ids.ts';

interface SanctionDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  limits: Limits;
  unitOfWork: UnitOfWork;
  entries: Entries;
  members: Members;
  chatStanding: ChatStanding;
}

export type Sanctions = ReturnType<typeof createSanctions>;

interface PageOf {
  limit?: number;
  cursor?: string;
}

/** How a mute that is for good stands in the row of a member: no other time is later. */
const forGood = '9999-12-31T23:59:59.999Z';
const imposed = { BAN: 'user.banned', MUTE: 'user.muted', SHADOW: 'user.shadowed' } as const;
const lifted = { BAN: 'user.unbanned', MUTE: 'user.unmuted', SHADOW: 'user.unshadowed' } as const;

/** Bans, mutes and shadows: in a conversation by its moderators, everywhere by API keys and in the dashboard. */
export function createSanctions(deps: SanctionDeps) {
  const { db, clock, cursors, limits, unitOfWork, entries, members, chatStanding } = deps;
  const toModerate = { scope: 'chat:edit', action: 'moderate' } as const;

  async function store(
    tx: Tx,
    emit: Emit,
    caller: Moderator,
    place: Place,
    kind: SanctionKind,
    userId: string,
    { until, reason }: { until: string | null; reason: string | null },
  ): Promise<Sanction> {
    const { projectId, environment } = caller;
    const max = limits.CHAT_MAX_SANCTIONS;
    const draft = { until, reason, by: actorOf(caller), at: iso(clock.now()), max };
    const sanction = await upsertSanction(tx, { projectId, environment, place, kind, userId }, draft);
    if (!sanction) return failQuota('CHAT_MAX_SANCTIONS', max);
    emit({ type: imposed[kind], ...topicFor(place, kind), data: { sanction } });
    return sanction;
  }

  const checked = (userId: string, { until, reason }: ImposeSanction) => {
    assertUserId(userId);
    return {
      until: until === undefined ? null : readFuture('until', until, clock.now()),
      reason: reason ?? null,
    };
  };

  /** Whether the caller may decide about this user; gives their membership. */
  async function assertRules(tx: Tx, entry: ConversationEntry, userId: string) {
    const member = await findMember(tx, entry.id, userId);
    if (entry.role && !roleRules(entry.role, member?.role ?? 'MEMBER')) fail('SVC_FORBIDDEN');
    return member;
  }

  async function imposeIn(
    caller: Moderator,
    reference: string,
    kind: SanctionKind,
    userId: string,
    body: ImposeSanction,
  ): Promise<Answer<Sanction>> {
    const draft = checked(userId, body);
    const entered = await entries.enter(caller, reference, toModerate);
    const sanction = await entries.change(caller, entered.id, toModerate, async (tx, emit, entry) => {
      const member = await assertRules(tx, entry, userId);
      if (kind !== 'BAN' && !member) fail('SVC_MEMBER_NOT_FOUND');
      const made = await store(tx, emit, caller, entry.publicId, kind, userId, draft);
      if (kind === 'MUTE') await setSilenced(tx, entry.id, userId, draft.until ?? forGood);
      else if (kind === 'SHADOW') await setShadowed(tx, entry.id, userId, draft.until ?? forGood);
      else if (member?.active) await members.expel(tx, emit, entry, userId, actorOf(caller));
      return made;
    });
    if (kind === 'SHADOW') chatStanding.announce(caller, userId);
    return auditedSanction(caller, sanction);
  }

  async function liftIn(
    caller: Moderator,
    reference: string,
    kind: SanctionKind,
    userId: string,
  ): Promise<Answer<undefined>> {
    assertUserId(userId);
    const entered = await entries.enter(caller, reference, toModerate);
    const sanction = await entries.change(caller, entered.id, toModerate, async (tx, emit, entry) => {
      await assertRules(tx, entry, userId);
      if (kind === 'MUTE') await setSilenced(tx, entry.id, userId, null);
      if (kind === 'SHADOW') await endShadow(tx, entry.id, userId, iso(clock.now()));
      return erase(tx, emit, caller, entry.publicId, kind, userId);
    });
    if (kind === 'SHADOW') chatStanding.announce(caller, userId);
    return auditedLift(caller, sanction);
  }

  async function erase(
    tx: Tx,
    emit: Emit,
    { projectId, environment }: Moderator,
    place: Place,
    kind: SanctionKind,
    userId: string,
  ): Promise<Sanction | undefined> {
    const key = { projectId, environment, place, kind, userId };
    const sanction = await deleteSanction(tx, key, iso(clock.now()));
    if (sanction) emit({ type: lifted[kind], ...topicFor(place, kind), data: { sanction } });
    return sanction;
  }

  async function impose(
    caller: Backend,
    kind: SanctionKind,
    userId: string,
    body: ImposeSanction,
  ): Promise<Answer<Sanction>> {
    const draft = checked(userId, body);
    const sanction = await unitOfWork(caller, (tx, emit) => store(tx, emit, caller, everywhere, kind, userId, draft));
    chatStanding.announce(caller, userId);
    return auditedSanction(caller, sanction);
  }

  async function lift(caller: Backend, kind: SanctionKind, userId: string): Promise<Answer<undefined>> {
    assertUserId(userId);
    const sanction = await unitOfWork(caller, (tx, emit) => erase(tx, emit, caller, everywhere, kind, userId));
    chatStanding.announce(caller, userId);
    return auditedLift(caller, sanction);
  }

  async function listIn(caller: Moderator, reference: string, kind: SanctionKind, query: PageOf) {
    const { publicId } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'moderate' });
    // A moderator may be in the shadow too, and is not to know.
    return list(caller, publicId, kind, query, kind === 'SHADOW' ? userOf(caller) : null);
  }

  /** Of every kind, for who is not told as a user. */
  async function listAllIn(
    caller: DashboardCaller,
    reference: string,
    { limit = pageSizeDefault, cursor }: PageOf,
  ): Promise<Answer<Sanction[]>> {
    const { publicId: place } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'moderate' });
    const { projectId, environment } = caller;
    const scope = `sanctions/${projectId}/${environment}/${place}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [SanctionKind, string, string]);
    const rows = await listAllSanctions(
      db,
      { projectId, environment, place },
      { now: iso(clock.now()), after, limit: limit + 1 },
    );
    const { items, nextCursor } = cutPage(rows, limit, ({ kind, createdAt, userId }) =>
      cursors.write(scope, [kind, createdAt, userId]),
    );
    return page(items, nextCursor);
  }

  async function list(
    { projectId, environment }: ProjectScope,
    place: Place,
    kind: SanctionKind,
    { limit = pageSizeDefault, cursor }: PageOf,
    except: string | null = null,
  ): Promise<Answer<Sanction[]>> {
    const scope = `sanctions/${projectId}/${environment}/${place}/${kind}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const now = iso(clock.now());
    const rows = await listSanctions(
      db,
      { projectId, environment, place, kind },
      { now, after, except, limit: limit + 1 },
    );
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.userId]));
    return page(items, nextCursor);
  }

  return {
    impose,
    lift,
    imposeIn,
    liftIn,
    listIn,
    listAllIn,
    list: (caller: ProjectScope, kind: SanctionKind, query: PageOf) => list(caller, everywhere, kind, query),
    sweep: (turn: Turn) => deleteInBatches({ turn }, (limit) => deleteOverSanctions(db, iso(clock.now()), limit)),
  };
}

/** Who listens to the conversation is not to know of a shadow, not even when. */
const topicFor = (place: Place, kind: SanctionKind) =>
  place === everywhere || kind === 'SHADOW' ? {} : { topic: topicOf(place) };

/** Reasons are free text of moderators: they are not for the audit log. */
function subjectOf({ environment }: Moderator, { userId, conversationId, until }: Sanction) {
  return {
    resourceId: userId,
    environment,
    metadata: { ...(conversationId !== null && { conversationId }), ...(until !== null && { until }) },
  };
}

const auditedSanction = (caller: Moderator, sanction: Sanction): Answer<Sanction> =>
  recorded(sanction, subjectOf(caller, sanction));

const auditedLift = (caller: Moderator, sanction: Sanction | undefined): Answer<undefined> =>
  recorded(undefined, sanction ? subjectOf(caller, sanction) : null);
