import {
  defaultPermissions,
  fail,
  isServiceError,
  type MintRtcToken,
  type ParticipantKind,
  type RtcToken,
  type RtcTokenPermissions,
  roleMay,
} from '@parley/contract';
import type { ProjectScope, ProjectSessionCaller, RtcTokenCaller } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { Grant } from '../../core/grant.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import type { Claims, Tokens } from '../../core/tokens.ts';
import type { Standing } from '../end-users/index.ts';
import type { Access } from '../projects/index.ts';
import type { IceServers } from './ice-servers.ts';
import { createOfflineRtcTokens, type OfflineRtcTokenDeps } from './offline-rtc-tokens.ts';
import type { StoredRoom } from './room-store.ts';
import { createRtcRevocation, type RtcRevocationDeps } from './rtc-revocation.ts';
import {
  deleteCutoffs,
  deleteTokensExpired,
  findToken,
  insertToken,
  type StoredToken,
  updateTokenExpiry,
} from './rtc-token-store.ts';

interface RtcTokenDeps extends OfflineRtcTokenDeps, RtcRevocationDeps {
  ids: Ids;
  tokens: Tokens;
  access: Pick<Access, 'assertNotArchived' | 'isKeyActive' | 'roleIn'>;
  standing: Pick<Standing, 'issue' | 'assertHolds'>;
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
  const { db, clock, ids, tokens, access, standing, iceServers, assertMayMint, findRoom, offlineTokens } = deps;
  const { signalingUrl, ttlSecondsDefault, refreshableSeconds } = deps;
  const offline = createOfflineRtcTokens(deps);

  const sign = (token: UnsignedToken, ttlSeconds = token.ttlSeconds) => tokens.sign('rtc', claimsOf(token), ttlSeconds);

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
    return { ...mintedToken(token, signed, room), signalingUrl, iceServers: iceServers(token.identity) };
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

  /** The token behind a JWT: signature and time by its text, revocation and permissions by its row. */
  async function authenticate(jwt: string): Promise<StoredToken> {
    return offlineTokens.isOffline(jwt) ? offline.authenticate(jwt) : authenticateOwn(jwt);
  }

  async function authenticateOwn(jwt: string): Promise<StoredToken> {
    const claims: Claims = tokens.verify('rtc', jwt);
    const token = await findToken(db, scopeIn(claims), claims.jti);
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
    return {
      ...scopeIn(claims),
      id: claims.jti,
      roomId: String(claims['room']),
      identity: claims.sub,
      requestId: null,
    };
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

  return {
    mint,
    mintTest,
    ...createRtcRevocation(deps),
    authenticate,
    nameOf,
    authenticateCaller,
    refresh,
    deleteExpired,
  };
}

type UnsignedToken = Omit<StoredToken, 'expiresAt' | 'revokedAt'>;

const claimsOf = (token: UnsignedToken) => ({
  sub: token.identity,
  jti: token.id,
  pid: token.projectId,
  env: token.environment,
  room: token.roomId,
  perm: token.permissions,
  md: token.metadata,
  ...(token.isTest ? { dashboard: true } : {}),
});

/** What a claim says that `claimsOf` has put there: the signature is ours. */
const scopeIn = (claims: Claims) => ({ projectId: claims['pid'], environment: claims['env'] }) as ProjectScope;

const mintedToken = (
  { id, identity, permissions, metadata }: UnsignedToken,
  signed: ReturnType<Tokens['sign']>,
  room: Pick<StoredRoom, 'id' | 'name'>,
): Omit<RtcToken, 'signalingUrl' | 'iceServers'> => ({
  id,
  tokenId: id,
  token: signed.token,
  tokenType: 'Bearer',
  expiresAt: iso(signed.expiresAt),
  expiresIn: signed.expiresIn,
  roomId: room.id,
  roomName: room.name,
  participantIdentity: identity,
  permissions,
  metadata,
});

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
