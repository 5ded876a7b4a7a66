import {
  defaultPermissions,
  fail,
  idPattern,
  isServiceError,
  type MintRtcToken,
  type ParticipantKind,
  type RevokedRtcToken,
  type RtcToken,
  type RtcTokenPermissions,
  roleMay,
  rtcTokenSeconds,
} from '@parley/contract';
import type { ProjectScope, ProjectSessionCaller, RtcTokenCaller } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { Grant } from '../../core/grant.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import type { Claims, Tokens } from '../../core/tokens.ts';
import type { RevokedTokens, Standing } from '../end-users/index.ts';
import type { Access } from '../projects/index.ts';
import type { Departures } from './departures.ts';
import type { IceServers } from './ice-servers.ts';
import { createOfflineRtcTokens, type OfflineRtcTokenDeps } from './offline-rtc-tokens.ts';
import type { RoomChange } from './room-change.ts';
import type { RoomTx } from './room-store.ts';
import {
  deleteCutoffs,
  deleteTokensExpired,
  findToken,
  insertToken,
  type StoredToken,
  updateTokenExpiry,
  updateTokenRevoked,
  updateTokensRevoked,
  upsertCutoff,
} from './rtc-token-store.ts';

interface RtcTokenDeps extends OfflineRtcTokenDeps {
  ids: Ids;
  tokens: Tokens;
  access: Pick<Access, 'assertNotArchived' | 'isKeyActive' | 'roleIn'>;
  standing: Pick<Standing, 'issue' | 'assertHolds'>;
  revokedTokens: Pick<RevokedTokens, 'note' | 'announce'>;
  departures: Departures;
  roomChange: RoomChange;
  iceServers: IceServers;
  signalingUrl: string;
  ttlSecondsDefault: number;
  /** How long after its minting a token may be refreshed; 0 for ever. */
  refreshableSeconds: number;
}

/** What of a token a timeline needs. */
export type TokenName = Pick<StoredToken, 'id' | 'projectId' | 'environment' | 'roomId' | 'identity' | 'requestId'>;

interface MintOptions extends MintRtcToken {
  kind?: ParticipantKind;
  isTest?: boolean;
  /** The API key that asks for it, or the member. */
  keyId?: string;
  memberId?: string;
  /** Of the request that asks for it. */
  requestId?: string;
}

const tokenIdPattern = new RegExp(idPattern('rtcToken'));
const testTokenSeconds = 600;
const everything: RtcTokenPermissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
  updateMetadata: true,
};
/** How long a token that has ended can still be named, to revoke it once more. */
const keptAfterExpiryMs = 7 * 24 * 60 * 60_000;

export function createRtcTokens(deps: RtcTokenDeps) {
  const { db, clock, ids, tokens, access, standing, departures, roomChange, iceServers, assertMayMint, findRoom } =
    deps;
  const { signalingUrl, ttlSecondsDefault, refreshableSeconds, revokedTokens, offlineTokens } = deps;
  const offline = createOfflineRtcTokens(deps);

  const sign = (token: Omit<StoredToken, 'expiresAt' | 'revokedAt'>, ttlSeconds = token.ttlSeconds) =>
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
      ttlSeconds,
    );

  async function mint(scope: ProjectScope, reference: string, options: MintOptions): Promise<RtcToken> {
    const room = await findRoom(scope, reference);
    await assertMayMint(scope);
    const issuedAt = await standing.issue(scope, options.participantIdentity);
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
      keyId: options.keyId ?? null,
      memberId: options.memberId ?? null,
      requestId: options.requestId ?? null,
      claimsHash: null,
      createdAt: iso(issuedAt),
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
    caller: ProjectSessionCaller,
    reference: string,
    identity: string | undefined,
    requestId: string,
  ): Promise<RtcToken> {
    await access.assertNotArchived(caller.projectId);
    return mint(caller, reference, {
      requestId,
      memberId: caller.userId,
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
      const revoked = await updateTokenRevoked(tx, roomId, tokenId, at);
      if (revoked) await departures.end(tx, record, roomId, { tokenIds: [tokenId] }, 'TOKEN_REVOKED');
      return revoked ?? revokeUnseen(tx, scope, tokenId);
    });
    if (!('id' in token)) revokedTokens.announce(scope, tokenId);
    return {
      id: tokenId,
      tokenId,
      roomId,
      participantIdentity: token.identity,
      expiresAt: token.expiresAt,
      revokedAt: token.revokedAt ?? at,
    };
  }

  /** A token that was signed offline has no row until it is used; whose it is and when it ends only its holder knows. */
  async function revokeUnseen(tx: RoomTx, scope: ProjectScope, tokenId: string) {
    const mayExist = tokenIdPattern.test(tokenId) && (await offlineTokens.hasKey(tx, scope));
    if (!mayExist || (await findToken(tx, scope, tokenId))) return fail('SVC_TOKEN_NOT_FOUND');
    const revokedAt = await revokedTokens.note(tx, scope, tokenId);
    return { identity: '', expiresAt: iso(Date.parse(revokedAt) + rtcTokenSeconds.max * 1000), revokedAt };
  }

  /** Revokes every token of an identity and ends its session. */
  async function revokeIdentity(scope: ProjectScope, roomId: string, identity: string): Promise<void> {
    await roomChange(scope, roomId, async (tx, record) => {
      await revokeTokensOf(tx, roomId, identity, iso(clock.now()));
      await departures.end(tx, record, roomId, { identity }, 'TOKEN_REVOKED');
    });
  }

  /** The token behind a JWT: signature and time by its text, revocation and permissions by its row. */
  async function authenticate(jwt: string): Promise<StoredToken> {
    return offlineTokens.isOffline(jwt) ? offline.authenticate(jwt) : authenticateOwn(jwt);
  }

  async function authenticateOwn(jwt: string): Promise<StoredToken> {
    const claims: Claims = tokens.verify('rtc', jwt);
    // Signed by us: the claims are what `sign` put there.
    const scope = { projectId: claims['pid'], environment: claims['env'] } as ProjectScope;
    const token = await findToken(db, scope, claims.jti);
    if (!token || token.roomId !== claims['room'] || token.identity !== claims.sub) return fail('SVC_INVALID_TOKEN');
    await standing.assertHolds(grantOf(token));
    if (token.revokedAt !== null) return fail('SVC_TOKEN_REVOKED');
    // A refreshed token lives longer than this one: what counts is the text that was shown.
    return { ...token, expiresAt: iso(claims.exp * 1000) };
  }

  /** Whose token this is, also when it has ended or was revoked; null unless its signature is good. Proves no right to anything. */
  async function nameOf(jwt: string): Promise<TokenName | null> {
    if (offlineTokens.isOffline(jwt)) return offline.nameOf(jwt);
    const claims = tokens.read('rtc', jwt);
    if (!claims) return null;
    const scope = { projectId: claims['pid'], environment: claims['env'] } as ProjectScope;
    return { ...scope, id: claims.jti, roomId: String(claims['room']), identity: claims.sub, requestId: null };
  }

  /** A credential of a request is good or it is not: that its room is gone is told as that. */
  async function authenticateCaller(jwt: string): Promise<RtcTokenCaller> {
    const token = await authenticate(jwt).catch((error: unknown) => {
      if (!isServiceError(error) || !offline.firstUseRefusals.includes(error.code)) throw error;
      return fail('SVC_INVALID_TOKEN', { message: error.message });
    });
    const { id, projectId, environment, roomId, identity } = token;
    return { kind: 'rtcToken', tokenId: id, projectId, environment, roomId, identity };
  }

  /** The same token with a longer life; null once it was revoked, grew too old, or who minted it may no longer. */
  async function refresh(token: StoredToken): Promise<{ token: string; expiresAt: number } | null> {
    const ttlSeconds = Math.min(token.ttlSeconds, secondsLeft(token));
    const expiresAt = clock.now() + ttlSeconds * 1000;
    // In whole seconds: what is left at the end of its age may look like a fraction more.
    const isLonger = expiresAt - Date.parse(token.expiresAt) >= 1_000;
    if (ttlSeconds <= 0 || !isLonger || !(await mayMinterMint(token))) return null;
    const stored = await updateTokenExpiry(db, token.id, iso(expiresAt));
    return stored ? sign(stored, ttlSeconds) : null;
  }

  const secondsLeft = ({ createdAt }: StoredToken): number =>
    refreshableSeconds === 0 ? Infinity : Math.floor((Date.parse(createdAt) - clock.now()) / 1000) + refreshableSeconds;

  async function mayMinterMint({ projectId, environment, keyId, memberId }: StoredToken): Promise<boolean> {
    if (keyId !== null) return access.isKeyActive(keyId);
    if (memberId === null) return true;
    const role = await access.roleIn(projectId, memberId);
    return role !== null && roleMay(role, 'room:manage', environment);
  }

  function deleteExpired(turn: Turn): Promise<number> {
    const before = iso(clock.now() - keptAfterExpiryMs);
    return deleteInBatches(
      { turn },
      (limit) => deleteTokensExpired(db, before, limit),
      (limit) => deleteCutoffs(db, before, limit),
    );
  }

  return { mint, mintTest, revoke, revokeIdentity, authenticate, nameOf, authenticateCaller, refresh, deleteExpired };
}

/** Every token of an identity for a room, also those signed offline that nobody has shown yet. */
export async function revokeTokensOf(tx: RoomTx, roomId: string, identity: string, at: string): Promise<void> {
  await updateTokensRevoked(tx, roomId, { identity }, at);
  await upsertCutoff(tx, roomId, identity, at);
}

/** Where a token comes from. */
export const grantOf = ({ id, projectId, environment, identity, keyId, createdAt }: StoredToken): Grant => ({
  projectId,
  environment,
  userId: identity,
  tokenId: id,
  keyId,
  issuedAt: Date.parse(createdAt),
});

export type RtcTokens = ReturnType<typeof createRtcTokens>;
