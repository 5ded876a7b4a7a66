import {
  type ChatToken,
  chatScopes,
  chatTokenSeconds,
  fail,
  idPattern,
  type Limits,
  type MintChatToken,
  type RevokedChatToken,
  tokenScopes,
} from '@parley/contract';
import type { ApiKeyCaller, ChatTokenCaller, ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import { type Claims, clockLeewaySeconds, type Tokens } from '../../core/tokens.ts';
import type { RevokedTokens, Standing } from '../end-users/index.ts';
import type { OfflineTokens } from '../projects/index.ts';
import { findPublicIds } from './conversations/conversation-store.ts';
import type { ChatStanding } from './moderation/standing.ts';
import { readReference } from './references.ts';

export type StandingOfUsers = Pick<Standing, 'issue' | 'assertHolds'>;

interface ChatTokenDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  tokens: Tokens;
  limits: Limits;
  publicUrl: string;
  standing: StandingOfUsers;
  revokedTokens: Pick<RevokedTokens, 'revoke'>;
  offlineTokens: Pick<OfflineTokens, 'isOffline' | 'verify'>;
  chatStanding: Pick<ChatStanding, 'assertNotBanned'>;
}

const { min: ttlMin, max: ttlMax } = chatTokenSeconds;
const tokenIdPattern = new RegExp(idPattern('chatToken'));

export type ChatTokens = ReturnType<typeof createChatTokens>;

export function createChatTokens(deps: ChatTokenDeps) {
  const { db, clock, ids, tokens, limits, publicUrl, standing, revokedTokens, offlineTokens, chatStanding } = deps;

  async function mint(caller: ApiKeyCaller, draft: MintChatToken): Promise<ChatToken> {
    const scopes = narrowed(draft.scopes);
    const ttlSeconds = lifetime(draft.ttlSeconds);
    // Names move, ids do not: the token holds what its references meant when it was minted.
    const conversations = draft.conversations === undefined ? null : await resolve(caller, draft.conversations);
    return sign(caller, { userId: draft.userId, scopes, conversations, ttlSeconds });
  }

  /** For another domain, which has decided everything already. */
  async function sign(
    { projectId, environment, publicId: keyId }: ApiKeyCaller,
    claims: { userId: string; scopes: readonly string[]; conversations: readonly string[] | null; ttlSeconds: number },
  ): Promise<ChatToken> {
    const { userId, scopes, conversations, ttlSeconds } = claims;
    const issuedAt = await standing.issue({ projectId, environment }, userId);
    const tokenId = ids.newId('chatToken');
    const { token, expiresAt, expiresIn } = tokens.sign(
      'chat',
      {
        sub: userId,
        jti: tokenId,
        pid: projectId,
        env: environment,
        scp: scopes,
        conv: conversations,
        key: keyId,
        ims: issuedAt,
      },
      ttlSeconds,
    );
    return {
      id: tokenId,
      publicId: tokenId,
      tokenId,
      token,
      tokenType: 'Bearer',
      userId,
      scopes: [...scopes],
      conversations: conversations === null ? null : [...conversations],
      expiresAt: iso(expiresAt),
      expiresIn,
      websocketUrl: `${publicUrl.replace(/^http/, 'ws')}/v1/chat/ws`,
    };
  }

  function lifetime(asked: number | undefined): number {
    const cap = limits.CHAT_TOKEN_MAX_TTL_SECONDS;
    if (asked === undefined) return Math.min(limits.CHAT_TOKEN_DEFAULT_TTL_SECONDS, cap);
    if (!Number.isInteger(asked) || asked < ttlMin || asked > ttlMax) {
      fail('SVC_INVALID_TTL', { message: `ttlSeconds must be a whole number from ${ttlMin} to ${ttlMax}.` });
    }
    return Math.min(asked, cap);
  }

  async function resolve(scope: ProjectScope, references: readonly string[]): Promise<string[]> {
    const found = await findPublicIds(db, scope, references.map(readReference));
    const byValue = new Map(found.map(({ value, publicId }) => [value, publicId]));
    const ids = references.map((text) => byValue.get(readReference(text).value) ?? fail('SVC_CONVERSATION_NOT_FOUND'));
    return [...new Set(ids)];
  }

  async function authenticate(token: string): Promise<ChatTokenCaller> {
    const caller = offlineTokens.isOffline(token) ? await readOffline(token) : readOwn(token);
    await standing.assertHolds(caller);
    await chatStanding.assertNotBanned(caller);
    return caller;
  }

  function readOwn(token: string): ChatTokenCaller {
    const claims = tokens.verify('chat', token);
    // Our signature covers the claims: they are what `sign` wrote.
    const { pid, env, scp, conv, key = null, ims = claims.iat * 1000 } = claims as Claims & ChatClaims;
    return {
      kind: 'chatToken',
      projectId: pid,
      environment: env,
      userId: claims.sub,
      tokenId: claims.jti,
      keyId: key,
      issuedAt: ims,
      scopes: scp,
      conversations: conv,
      expiresAt: claims.exp * 1000,
    };
  }

  /** Signed by the project's backend: bounded as if it had asked us. */
  async function readOffline(token: string): Promise<ChatTokenCaller> {
    const { grant, claims } = await offlineTokens.verify('chat', token);
    const { iat, exp, scp, conv = null } = claims;
    const expiresAt = Math.min(exp, iat + limits.CHAT_TOKEN_MAX_TTL_SECONDS) * 1000;
    if (expiresAt + clockLeewaySeconds * 1000 <= clock.now()) fail('SVC_TOKEN_EXPIRED');
    const scopes = hasUnknown(scp)
      ? fail('SVC_INVALID_TOKEN', { message: 'scp names an unknown scope.' })
      : narrowed(scp);
    return { kind: 'chatToken', ...grant, scopes, conversations: conv, expiresAt };
  }

  /** A chat token has no row: whether there is one with this id is not known, and does not matter. */
  async function revoke(scope: ProjectScope, tokenId: string): Promise<RevokedChatToken> {
    if (!tokenIdPattern.test(tokenId)) fail('SVC_TOKEN_NOT_FOUND');
    return { id: tokenId, tokenId, revokedAt: await revokedTokens.revoke(scope, tokenId) };
  }

  return { mint, sign, authenticate, revoke };
}

interface ChatClaims {
  pid: string;
  env: ProjectScope['environment'];
  scp: string[];
  conv: string[] | null;
  /** The key that minted it. */
  key?: string;
  /** Issued at, in milliseconds: a revocation in the same second is before it or after it. */
  ims?: number;
}

/** Scopes only narrow: naming `chat:manage` does not grant it, and an unknown name is an error. */
function narrowed(asked: readonly string[] | undefined): string[] {
  if (asked === undefined) return [...tokenScopes];
  if (hasUnknown(asked)) fail('SVC_INVALID_SCOPE');
  return tokenScopes.filter((scope) => asked.includes(scope));
}

const hasUnknown = (scopes: readonly string[] = []): boolean =>
  scopes.some((scope) => !(chatScopes as readonly string[]).includes(scope));
