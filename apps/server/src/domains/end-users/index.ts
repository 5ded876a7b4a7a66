import { type EndUser, type endUserRoutes, identityPattern, type RevokeUser } from '@parley/contract';
import type { ApiKeyCaller, ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import { readFuture } from '../../core/future.ts';
import type { OpenConnections } from '../../core/grant.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Domain } from '../../core/part.ts';
import { type Person, type PersonalData, untilNone } from '../../core/personal-data.ts';
import type { Bus } from '../../core/ports.ts';
import { refuse } from '../../core/validation.ts';
import type { Access } from '../projects/index.ts';
import {
  deleteExpiredEndUsers,
  findEndUser,
  isStored,
  listEndUsers,
  listRevokedSince,
  renameEndUser,
  type StoredEndUser,
  updateUnbanned,
  upsertRevoked,
} from './end-user-store.ts';
import { createNamesOf } from './erased-names.ts';
import { createRevokedTokens, type RevokedTokens } from './revoked-tokens.ts';
import { createStanding, type Standing } from './standing.ts';

export type { RevokedTokens } from './revoked-tokens.ts';
export type { Standing } from './standing.ts';

interface EndUsersDeps {
  db: Db;
  clock: Clock;
  access: Pick<Access, 'assertHolds'>;
  cursors: Cursors;
  bus: Bus;
  keyring: Keyring;
  connections: OpenConnections;
  /** Revokes the RTC tokens of an identity in every room, and ends their sessions. */
  revokeRtcTokens: (scope: ProjectScope, identity: string) => Promise<void>;
}

interface EndUsers extends Domain<typeof endUserRoutes> {
  standing: Standing;
  revokedTokens: RevokedTokens;
  /** Voids everything that was issued to a user who is being erased, and ends what is open; nothing names them after. */
  cutOffUser(person: Person): Promise<void>;
  personalData: PersonalData;
}

const topic = 'end-users/changed';
/** Far enough back that no two looks leave a gap between them, and that no connection opened by an old answer is missed. */
const lookBackMs = 30_000;
/** Longer than any token that has no row of its own. */
const keptMs = 30 * 24 * 60 * 60_000;
const userIdMax = 128;
const identity = new RegExp(identityPattern);

/** End users of a project: who is shut out, and since when. */
export function createEndUsers(deps: EndUsersDeps): EndUsers {
  const { db, clock, cursors, bus, connections, revokeRtcTokens } = deps;
  const namesOf = createNamesOf(deps);
  const revokedTokens = createRevokedTokens(deps);
  const standing = createStanding({ ...deps, revokedTokens, namesOf });

  function show(userId: string, user: StoredEndUser | undefined): EndUser {
    const banned = user !== undefined && standing.isBanned(user);
    return {
      userId,
      banned,
      bannedUntil: banned ? user.bannedUntil : null,
      reason: user?.reason ?? null,
      revokedAt: user?.revokedAt ?? null,
    };
  }

  async function get(caller: ApiKeyCaller, userId: string): Promise<EndUser> {
    assertUserId(userId);
    return show(userId, await findEndUser(db, caller, namesOf(caller, userId)));
  }

  async function list(
    caller: ApiKeyCaller,
    { limit = pageSizeDefault, cursor, banned }: { limit?: number; cursor?: string; banned?: boolean },
  ): Promise<Answer<EndUser[]>> {
    const scope = `end-users/${caller.projectId}/${caller.environment}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const bannedAt = banned ? iso(clock.now()) : null;
    const rows = await listEndUsers(db, caller, { bannedAt, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.revokedAt, last.userId]));
    return page(
      items.map((user) => show(user.userId, user)),
      nextCursor,
    );
  }

  /** The row first: from then on nothing new comes in; then what is there goes. */
  async function revoke(
    { projectId, environment }: ApiKeyCaller,
    userId: string,
    { bannedUntil, reason }: RevokeUser,
  ): Promise<Answer<EndUser>> {
    assertUserId(userId);
    const now = clock.now();
    const until = bannedUntil === undefined ? null : readFuture('bannedUntil', bannedUntil, now);
    const scope = { projectId, environment };
    const draft = { ...scope, userId, revokedAt: iso(now), bannedUntil: until, reason: reason ?? null };
    const user = await upsertRevoked(db, draft);
    bus.publish(topic, user);
    await revokeRtcTokens(scope, userId);
    const metadata = { ...(until !== null && { bannedUntil: until }) };
    return recorded(show(userId, user), { resourceId: userId, environment, metadata });
  }

  const hide = (person: Person, at: string): Promise<void> =>
    db.transaction((tx) => renameEndUser(tx, person, namesOf(person, person.userId), at));

  async function hideAgain(person: Person): Promise<number> {
    if (!(await isStored(db, person))) return 0;
    await hide(person, iso(clock.now()));
    return 1;
  }

  async function cutOffUser(person: Person): Promise<void> {
    const { projectId, environment, userId } = person;
    const [scope, at] = [{ projectId, environment }, iso(clock.now())];
    await hide(person, at);
    bus.publish(topic, { ...scope, userId, revokedAt: at, bannedUntil: null, reason: null } satisfies StoredEndUser);
    await revokeRtcTokens(scope, userId);
  }

  const personalData: PersonalData = {
    exports: [
      {
        kind: 'access',
        async page(person) {
          const user = await findEndUser(db, person, namesOf(person, person.userId));
          return { rows: user ? [show(person.userId, user)] : [], next: null };
        },
      },
    ],
    // A call that shut the user out while it ran left a row under the name.
    erasures: [untilNone('access', hideAgain)],
  };

  async function unban(caller: ApiKeyCaller, userId: string): Promise<Answer<EndUser>> {
    assertUserId(userId);
    const isLifted = await updateUnbanned(db, caller, namesOf(caller, userId), iso(clock.now()));
    const user = await findEndUser(db, caller, namesOf(caller, userId));
    if (user) bus.publish(topic, user);
    const { environment } = caller;
    return recorded(show(userId, user), isLifted ? { resourceId: userId, environment } : null);
  }

  function heard(user: StoredEndUser): void {
    standing.forget(user, user.userId);
    cutOff(user);
  }

  function cutOff(user: StoredEndUser): void {
    const reason = standing.isBanned(user) ? 'USER_BANNED' : 'TOKEN_REVOKED';
    connections.cutOff((grant) => standing.isOver(user, grant), { code: 4410, reason });
  }

  /** How it arrives when the bus does not carry it. */
  async function cutOffRevoked(): Promise<void> {
    if (connections.count === 0) return;
    for (const user of await listRevokedSince(db, iso(clock.now() - lookBackMs))) cutOff(user);
  }

  function deleteExpired(turn: Turn): Promise<number> {
    const now = clock.now();
    return deleteInBatches({ turn }, (limit) => deleteExpiredEndUsers(db, iso(now), iso(now - keptMs), limit));
  }

  return {
    standing,
    revokedTokens,
    cutOffUser,
    personalData,
    chores: [
      { name: 'revoked-users', everyMs: 1_500, run: cutOffRevoked, onEveryProcess: true },
      { name: 'revoked-tokens', everyMs: 1_500, run: revokedTokens.cutOffRevoked, onEveryProcess: true },
      { name: 'forgotten-tokens', everyMs: 60 * 60_000, run: revokedTokens.forget, onDatabaseAlone: true },
      { name: 'forgiven-users', everyMs: 60 * 60_000, run: deleteExpired, onDatabaseAlone: true },
    ],
    async start() {
      await revokedTokens.start();
      await bus.subscribe(topic, (user) => heard(user as StoredEndUser));
    },
    handlers: {
      listRevokedUsers: ({ caller, query }) => list(caller, query),
      getUser: ({ caller, params }) => get(caller, params.userId),
      revokeUser: ({ caller, params, body }) => revoke(caller, params.userId, body),
      unbanUser: ({ caller, params }) => unban(caller, params.userId),
    },
  };
}

function assertUserId(userId: string): void {
  if (identity.test(userId) && userId.length <= userIdMax) return;
  const message = `userId must have at most ${userIdMax} characters and match ${identityPattern}.`;
  refuse([{ field: 'userId', rule: 'pattern', message }]);
}
