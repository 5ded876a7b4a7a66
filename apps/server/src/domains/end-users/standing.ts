import { fail } from '@parley/contract';
import { createBatcher } from '../../core/batcher.ts';
import { createCache } from '../../core/cache.ts';
import type { ProjectScope } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Db, Queryable } from '../../core/db.ts';
import type { Grant } from '../../core/grant.ts';
import type { Access } from '../projects/index.ts';
import { findEndUser, findEndUsers, type Named, type StoredEndUser } from './end-user-store.ts';
import { isErasedName, type NamesOf } from './erased-names.ts';
import type { RevokedTokens } from './revoked-tokens.ts';

interface StandingDeps {
  db: Db;
  clock: Clock;
  access: Pick<Access, 'assertHolds'>;
  revokedTokens: Pick<RevokedTokens, 'isRevoked' | 'isRevokedIn'>;
  namesOf: NamesOf;
}

/** Whether an end user is banned or revoked: asked with every token, so kept in memory, for at most a second. */
export type Standing = ReturnType<typeof createStanding>;

const cacheTtlMs = 1_000;
const cacheSizeMax = 10_000;

const keyOf = ({ projectId, environment }: ProjectScope, userId: string): string =>
  `${projectId}/${environment}/${userId}`;

export function createStanding({ db, clock, access, revokedTokens, namesOf }: StandingDeps) {
  const users = createCache<StoredEndUser | undefined>({ clock, ttlMs: cacheTtlMs, sizeMax: cacheSizeMax });

  /** A crowd that comes back at once is asked for in few statements: one each would take every connection there is. */
  const reads = createBatcher<Named, StoredEndUser | undefined>({
    batchMax: 1_000,
    waitingMax: 100_000,
    // A slow one does not hold up all who come after it.
    mayStart: ({ running }) => running < 2,
    write: (many) => findEndUsers(db, many),
  });

  const known = ({ projectId, environment }: ProjectScope, userId: string): Promise<StoredEndUser | undefined> => {
    const scope = { projectId, environment };
    return users.get(keyOf(scope, userId), () => reads.add({ ...scope, names: namesOf(scope, userId) }));
  };

  const isBanned = ({ bannedUntil }: StoredEndUser): boolean =>
    bannedUntil !== null && Date.parse(bannedUntil) > clock.now();

  const isVoid = ({ revokedAt }: StoredEndUser, issuedAt: number): boolean => issuedAt <= Date.parse(revokedAt);

  function assertNotShutOut(user: StoredEndUser | undefined, issuedAt: number): void {
    if (!user) return;
    if (isBanned(user)) fail('SVC_USER_BANNED');
    if (isVoid(user, issuedAt)) fail('SVC_TOKEN_REVOKED');
  }

  /** Hashes cost something: they are made only for a user who was erased. */
  const isNamed = (name: string, grant: Grant): boolean =>
    isErasedName(name) ? namesOf(grant, grant.userId).includes(name) : name === grant.userId;

  return {
    isBanned,
    forget: (scope: ProjectScope, userId: string): void => users.drop(keyOf(scope, userId)),

    /** Fails for a token whose project, key or user is shut out, or that was revoked by its id. */
    async assertHolds(grant: Grant): Promise<void> {
      await access.assertHolds(grant);
      assertNotShutOut(await known(grant, grant.userId), grant.issuedAt);
      if (await revokedTokens.isRevoked(grant)) fail('SVC_TOKEN_REVOKED');
    },

    /** As to the user and the token's id, by the store itself, inside a transaction. */
    async assertHoldsIn(tx: Queryable, grant: Grant): Promise<void> {
      assertNotShutOut(await findEndUser(tx, grant, namesOf(grant, grant.userId)), grant.issuedAt);
      if (await revokedTokens.isRevokedIn(tx, grant)) fail('SVC_TOKEN_REVOKED');
    },

    /** Fails for a user who gets no token; otherwise when it counts as issued: after everything that was revoked. */
    async issue(scope: ProjectScope, userId: string): Promise<number> {
      const user = await known(scope, userId);
      if (!user) return clock.now();
      if (isBanned(user)) fail('SVC_USER_BANNED');
      return Math.max(clock.now(), Date.parse(user.revokedAt) + 1);
    },

    /** Whether this token is among those that ended with the user. */
    isOver: (user: StoredEndUser, grant: Grant): boolean =>
      grant.projectId === user.projectId &&
      grant.environment === user.environment &&
      isNamed(user.userId, grant) &&
      (isBanned(user) || isVoid(user, grant.issuedAt)),
  };
}
