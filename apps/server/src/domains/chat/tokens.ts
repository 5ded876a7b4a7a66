import { type ChatToken, chatScopes, fail, type Limits, type MintChatToken, tokenScopes } from '@parley/contract';
import type { ChatTokenCaller, ProjectScope } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Claims, Tokens } from '../../core/tokens.ts';
import { findPublicIds } from './conversations/conversation-store.ts';
import { readReference } from './references.ts';

interface ChatTokenDeps {
  db: Db;
  ids: Ids;
  tokens: Tokens;
  limits: Limits;
  publicUrl: string;
  /** Tokens of an archived project are worth nothing. */
  assertActive: (projectId: string) => Promise<void>;
}

const ttlMin = 60;
const ttlMax = 21_600;

export type ChatTokens = ReturnType<typeof createChatTokens>;

export function createChatTokens({ db, ids, tokens, limits, publicUrl, assertActive }: ChatTokenDeps) {
  async function mint(scope: ProjectScope, draft: MintChatToken): Promise<ChatToken> {
    const scopes = narrowed(draft.scopes);
    const ttlSeconds = lifetime(draft.ttlSeconds);
    // Names move, ids do not: the token holds what its references meant when it was minted.
    const conversations = draft.conversations === undefined ? null : await resolve(scope, draft.conversations);
    return sign(scope, { userId: draft.userId, scopes, conversations, ttlSeconds });
  }

  /** For another domain, which has decided everything already. */
  function sign(
    { projectId, environment }: ProjectScope,
    claims: { userId: string; scopes: readonly string[]; conversations: readonly string[] | null; ttlSeconds: number },
  ): ChatToken {
    const { userId, scopes, conversations, ttlSeconds } = claims;
    const tokenId = ids.newId('chatToken');
    const { token, expiresAt, expiresIn } = tokens.sign(
      'chat',
      { sub: userId, jti: tokenId, pid: projectId, env: environment, scp: scopes, conv: conversations },
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
    const claims = tokens.verify('chat', token);
    // Our signature covers the claims: they are what `sign` wrote.
    const { pid, env, scp, conv } = claims as Claims & ChatClaims;
    await assertActive(pid);
    return {
      kind: 'chatToken',
      projectId: pid,
      environment: env,
      userId: claims.sub,
      tokenId: claims.jti,
      scopes: scp,
      conversations: conv,
      expiresAt: claims.exp * 1000,
    };
  }

  return { mint, sign, authenticate };
}

interface ChatClaims {
  pid: string;
  env: ProjectScope['environment'];
  scp: string[];
  conv: string[] | null;
}

/** Scopes only narrow: naming `chat:manage` does not grant it, and an unknown name is an error. */
function narrowed(asked: readonly string[] | undefined): string[] {
  if (asked === undefined) return [...tokenScopes];
  if (asked.some((scope) => !(chatScopes as readonly string[]).includes(scope))) fail('SVC_INVALID_SCOPE');
  return tokenScopes.filter((scope) => asked.includes(scope));
}
