import { defaultPermissions, type ErrorCode, fail } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { clockLeewaySeconds } from '../../core/tokens.ts';
import type { Standing } from '../end-users/index.ts';
import type { OfflineTokens } from '../projects/index.ts';
import type { StoredRoom } from './room-store.ts';
import { findToken, insertToken, type StoredToken } from './rtc-token-store.ts';

export interface OfflineRtcTokenDeps {
  db: Db;
  clock: Clock;
  offlineTokens: OfflineTokens;
  standing: Pick<Standing, 'assertHolds'>;
  /** Refuses minting for a project that has used up what it may. */
  assertMayMint: (scope: ProjectScope) => Promise<void>;
  findRoom: (scope: ProjectScope, reference: string) => Promise<StoredRoom>;
}

type SignedToken = Awaited<ReturnType<typeof verifyRtc>>;
const verifyRtc = (offlineTokens: OfflineTokens, jwt: string) => offlineTokens.verify('rtc', jwt);

/** RTC tokens that a backend signed by itself: each gets its row when it is first used, and is like any other from then on. */
export function createOfflineRtcTokens(deps: OfflineRtcTokenDeps) {
  const { db, offlineTokens, standing, assertMayMint, findRoom } = deps;

  async function authenticate(jwt: string): Promise<StoredToken> {
    const signed = await verifyRtc(offlineTokens, jwt);
    const { grant, claims, claimsHash } = signed;
    await standing.assertHolds(grant);
    const token = (await findToken(db, grant, claims.jti)) ?? (await firstUse(signed));
    if (token.revokedAt !== null) fail('SVC_TOKEN_REVOKED');
    if (!token.claimsHash?.equals(claimsHash)) fail('SVC_INVALID_TOKEN', { message: 'Another token has this id.' });
    return { ...token, expiresAt: iso(claims.exp * 1000) };
  }

  /** What minting does, at the time of use. Of several first uses at once one makes the row, and the others find it. */
  async function firstUse({ grant, claims, claimsHash }: SignedToken): Promise<StoredToken> {
    const { projectId, environment, keyId } = grant;
    const room = await roomOf(grant, claims.room, grant.issuedAt);
    await assertMayMint(grant);
    return db.transaction(async (tx) => {
      // Held until the row is there: a call that revokes the key afterwards finds it.
      if (keyId === null || !(await offlineTokens.holdKey(tx, keyId))) fail('SVC_TOKEN_REVOKED');
      const stored = await insertToken(tx, {
        id: claims.jti,
        projectId,
        environment,
        roomId: room.id,
        identity: claims.sub,
        kind: 'MEMBER',
        isTest: false,
        permissions: { ...defaultPermissions, ...claims.perm },
        metadata: claims.md ?? null,
        ttlSeconds: claims.exp - claims.iat,
        keyId,
        memberId: null,
        requestId: null,
        claimsHash,
        createdAt: iso(grant.issuedAt),
        expiresAt: iso(claims.exp * 1000),
      });
      return stored ?? (await findToken(tx, grant, claims.jti)) ?? fail('SVC_INVALID_TOKEN');
    });
  }

  /** A name means a room that was there when the token was signed: it opens none that took the name later. */
  async function roomOf(scope: ProjectScope, reference: string, issuedAt: number): Promise<StoredRoom> {
    const room = await findRoom(scope, reference);
    if (room.status !== 'ACTIVE') fail('SVC_ROOM_CLOSED');
    const isYounger = Date.parse(room.createdAt) > issuedAt + clockLeewaySeconds * 1000;
    if (reference !== room.id && isYounger) fail('SVC_ROOM_NOT_FOUND');
    return room;
  }

  /** Whose token this is; null for one that was never used. */
  async function nameOf(jwt: string): Promise<StoredToken | null> {
    const signed = await offlineTokens.read('rtc', jwt);
    return (signed && (await findToken(db, signed.grant, signed.claims.jti))) ?? null;
  }

  /** Refusals that are not about the token but about what it is for. */
  const firstUseRefusals: readonly ErrorCode[] = ['SVC_ROOM_NOT_FOUND', 'SVC_ROOM_CLOSED', 'SVC_QUOTA_EXCEEDED'];

  return { authenticate, nameOf, firstUseRefusals };
}
