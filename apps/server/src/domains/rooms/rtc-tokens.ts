import {
  defaultPermissions,
  fail,
  type MintRtcToken,
  type ParticipantKind,
  type RevokedRtcToken,
  type RtcToken,
  type RtcTokenPermissions,
} from '@parley/contract';
import type { ProjectScope, RtcTokenCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import type { Claims, Tokens } from '../../core/tokens.ts';
import type { Access } from '../projects/index.ts';
import type { Departures } from './departures.ts';
import type { IceServers } from './ice-servers.ts';
import type { RoomChange } from './room-change.ts';
import type { StoredRoom } from './room-store.ts';
import {
  deleteTokensExpired,
  findToken,
  insertToken,
  type StoredToken,
  updateTokenExpiry,
  updateTokenRevoked,
  updateTokensRevoked,
} from './rtc-token-store.ts';

interface RtcTokenDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  tokens: Tokens;
  access: Pick<Access, 'assertActive' | 'assertNotArchived'>;
  departures: Departures;
  roomChange: RoomChange;
  iceServers: IceServers;
  signalingUrl: string;
  ttlSecondsDefault: number;
  /** Refuses minting for a project that has used up what it may. */
  assertMayMint: (scope: ProjectScope) => Promise<void>;
  findRoom: (scope: ProjectScope, reference: string) => Promise<StoredRoom>;
}

/** What of a token a timeline needs. */
export type TokenName = Pick<StoredToken, 'id' | 'projectId' | 'environment' | 'roomId' | 'identity' | 'requestId'>;

interface MintOptions extends MintRtcToken {
  kind?: ParticipantKind;
  isTest?: boolean;
  /** Of the request that asks for it. */
  requestId?: string;
}

const testTokenSeconds = 600;
const everything: RtcTokenPermissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
};
/** How long a token that has ended can still be named, to revoke it once more. */
const keptAfterExpiryMs = 7 * 24 * 60 * 60_000;

export function createRtcTokens({
  db,
  clock,
  ids,
  tokens,
  access,
  departures,
  roomChange,
  iceServers,
  signalingUrl,
  ttlSecondsDefault,
  assertMayMint,
  findRoom,
}: RtcTokenDeps) {
  const sign = (token: Omit<StoredToken, 'expiresAt' | 'revokedAt'>) =>
    tokens.sign(
      'rtc',
      {
        sub: token.identity,
        jti: token.id,
        pid: token.projectId,
        env: token.environment,
        room: token.roomId,
        perm: token.permissions,
        md: token.metadata,
        ...(token.isTest ? { dashboard: true } : {}),
      },
      token.ttlSeconds,
    );

  async function mint(scope: ProjectScope, reference: string, options: MintOptions): Promise<RtcToken> {
    const room = await findRoom(scope, reference);
    await assertMayMint(scope);
    const token = {
      id: ids.newId('rtcToken'),
      projectId: scope.projectId,
      environment: scope.environment,
      roomId: room.id,
      identity: options.participantIdentity,
      kind: options.kind ?? 'MEMBER',
      isTest: options.isTest ?? false,
      permissions: { ...defaultPermissions, ...options.permissions },
      metadata: options.metadata ?? null,
      ttlSeconds: options.ttlSeconds ?? ttlSecondsDefault,
      requestId: options.requestId ?? null,
      createdAt: iso(clock.now()),
    };
    const signed = sign(token);
    const stored = await insertToken(db, { ...token, expiresAt: iso(signed.expiresAt) });
    if (!stored) return fail('SVC_ROOM_CLOSED');
    return {
      id: token.id,
      tokenId: token.id,
      token: signed.token,
      tokenType: 'Bearer',
      expiresAt: iso(signed.expiresAt),
      expiresIn: signed.expiresIn,
      roomId: room.id,
      roomName: room.name,
      participantIdentity: token.identity,
      permissions: token.permissions,
      metadata: token.metadata,
      signalingUrl,
      iceServers: iceServers(token.identity),
    };
  }

  async function mintTest(
    scope: ProjectScope,
    reference: string,
    identity: string | undefined,
    requestId: string,
  ): Promise<RtcToken> {
    await access.assertNotArchived(scope.projectId);
    return mint(scope, reference, {
      requestId,
      participantIdentity: identity ?? `dashboard-${randomBase62(8)}`,
      permissions: everything,
      ttlSeconds: testTokenSeconds,
      isTest: true,
    });
  }

  /** Takes the room's row like a join does: either the join sees the revocation, or this sees the session. */
  async function revoke(scope: ProjectScope, reference: string, tokenId: string): Promise<RevokedRtcToken> {
    const { id: roomId } = await findRoom(scope, reference);
    const at = iso(clock.now());
    const token = await roomChange(scope, roomId, async (tx, record) => {
      const revoked = (await updateTokenRevoked(tx, roomId, tokenId, at)) ?? fail('SVC_TOKEN_NOT_FOUND');
      await departures.end(tx, record, roomId, { tokenId }, 'TOKEN_REVOKED');
      return revoked;
    });
    return {
      id: token.id,
      tokenId: token.id,
      roomId,
      participantIdentity: token.identity,
      expiresAt: token.expiresAt,
      revokedAt: token.revokedAt ?? at,
    };
  }

  /** Revokes every token of an identity and ends its session. */
  async function revokeIdentity(scope: ProjectScope, roomId: string, identity: string): Promise<void> {
    await roomChange(scope, roomId, async (tx, record) => {
      await updateTokensRevoked(tx, roomId, identity, iso(clock.now()));
      await departures.end(tx, record, roomId, { identity }, 'TOKEN_REVOKED');
    });
  }

  /** The token behind a JWT: signature and time by its text, revocation and permissions by its row. */
  async function authenticate(jwt: string): Promise<StoredToken> {
    const claims: Claims = tokens.verify('rtc', jwt);
    // Signed by us: the claims are what `sign` put there.
    const scope = { projectId: claims['pid'], environment: claims['env'] } as ProjectScope;
    await access.assertActive(scope.projectId);
    const token = await findToken(db, scope, claims.jti);
    if (!token || token.roomId !== claims['room'] || token.identity !== claims.sub) return fail('SVC_INVALID_TOKEN');
    if (token.revokedAt !== null) return fail('SVC_TOKEN_REVOKED');
    // A refreshed token lives longer than this one: what counts is the text that was shown.
    return { ...token, expiresAt: iso(claims.exp * 1000) };
  }

  /** Whose token this is, also when it has ended or was revoked; null unless we signed it. Proves no right to anything. */
  function nameOf(jwt: string): TokenName | null {
    const claims = tokens.read('rtc', jwt);
    if (!claims) return null;
    const scope = { projectId: claims['pid'], environment: claims['env'] } as ProjectScope;
    return { ...scope, id: claims.jti, roomId: String(claims['room']), identity: claims.sub, requestId: null };
  }

  async function authenticateCaller(jwt: string): Promise<RtcTokenCaller> {
    const { id, projectId, environment, roomId, identity } = await authenticate(jwt);
    return { kind: 'rtcToken', tokenId: id, projectId, environment, roomId, identity };
  }

  /** The same token with another life; null once it was revoked or its project is gone. */
  async function refresh(token: StoredToken): Promise<{ token: string; expiresAt: number } | null> {
    await access.assertActive(token.projectId);
    const stored = await updateTokenExpiry(db, token.id, iso(clock.now() + token.ttlSeconds * 1000));
    return stored ? sign(stored) : null;
  }

  const deleteExpired = (): Promise<number> => deleteTokensExpired(db, iso(clock.now() - keptAfterExpiryMs));

  return { mint, mintTest, revoke, revokeIdentity, authenticate, nameOf, authenticateCaller, refresh, deleteExpired };
}

export type RtcTokens = ReturnType<typeof createRtcTokens>;
