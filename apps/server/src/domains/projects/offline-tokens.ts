import { createHash } from 'node:crypto';
import {
  chatTokenSeconds,
  fail,
  isServiceError,
  OfflineChatClaims,
  OfflineRtcClaims,
  rtcTokenSeconds,
} from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Queryable } from '../../core/db.ts';
import type { Grant } from '../../core/grant.ts';
import { type OfflineHeader, readOfflineHeader } from '../../core/offline-header.ts';
import { readJson } from '../../core/safe-json.ts';
import { clockLeewaySeconds, tokenLengthMax } from '../../core/tokens.ts';
import { compileParser } from '../../core/validation.ts';
import type { Access } from './access.ts';
import { isSignedBy, type SigningKeyRecord } from './signatures.ts';
import { hasSigningKey, lockSigningKey } from './signing-key-store.ts';

type Family = OfflineHeader['family'];
type ClaimsOf = { chat: OfflineChatClaims; rtc: OfflineRtcClaims };

/** A token whose signature was checked. Project and environment are its key's; the token has no say in them. */
interface OfflineToken<F extends Family> {
  grant: Grant;
  claims: ClaimsOf[F];
  /** Of the text that was signed. */
  claimsHash: Buffer;
}

export interface OfflineTokens {
  isOffline(token: string): boolean;
  /** The token, or SVC_INVALID_TOKEN / SVC_TOKEN_LIFETIME / SVC_TOKEN_EXPIRED / SVC_TOKEN_REVOKED. */
  verify<F extends Family>(family: F, token: string): Promise<OfflineToken<F>>;
  /** Whose token this is, whatever became of it since; null unless a key of a project signed it. */
  read<F extends Family>(family: F, token: string): Promise<OfflineToken<F> | null>;
  /** Keeps the key from being revoked until the transaction ends; false when it was already. */
  holdKey(tx: Queryable, keyId: string): Promise<boolean>;
  /** Whether there may be tokens here that we have not seen. */
  hasKey(db: Queryable, scope: ProjectScope): Promise<boolean>;
}

export interface OfflineTokenDeps {
  clock: Clock;
  access: Pick<Access, 'findSigningKey' | 'noteSigningKeyUse'>;
  noteForgery: (family: Family) => void;
}

const lifetimes = { chat: chatTokenSeconds, rtc: rtcTokenSeconds } as const;
const parsers = { chat: compileParser(OfflineChatClaims, 'claims'), rtc: compileParser(OfflineRtcClaims, 'claims') };

export function createOfflineTokens({ clock, access, noteForgery }: OfflineTokenDeps): OfflineTokens {
  function refuse(family: Family): never {
    noteForgery(family);
    return fail('SVC_INVALID_TOKEN');
  }

  /** The claims under a good signature, unread; null for anything else. The key's row decides how it is verified. */
  async function open(family: Family, token: string): Promise<{ key: SigningKeyRecord; payload: string } | null> {
    const header = token.length > tokenLengthMax ? null : readOfflineHeader(token);
    if (header?.family !== family) return null;
    const key = await access.findSigningKey(header.keyId);
    if (!key || header.algorithm !== key.algorithm || !isSignedBy(key, token)) return null;
    return { key, payload: token.slice(token.indexOf('.') + 1, token.lastIndexOf('.')) };
  }

  function tokenOf<F extends Family>(family: F, { key, payload }: { key: SigningKeyRecord; payload: string }) {
    const claims = readClaims(family, payload);
    const { projectId, environment, id: keyId } = key;
    const grant = {
      projectId,
      environment,
      userId: claims.sub,
      tokenId: claims.jti,
      keyId,
      issuedAt: issuedAt(claims),
    };
    return { grant, claims, claimsHash: createHash('sha256').update(payload).digest() };
  }

  function assertInTime(family: Family, { iat, exp, nbf = iat }: ClaimsOf[Family]): void {
    const now = clock.now() / 1000;
    const { min, max } = lifetimes[family];
    if (exp - iat < min || exp - iat > max)
      fail('SVC_TOKEN_LIFETIME', { message: `exp must be ${min} to ${max} seconds after iat.` });
    if (exp + clockLeewaySeconds <= now) fail('SVC_TOKEN_EXPIRED');
    if (Math.max(iat, nbf) - clockLeewaySeconds > now)
      fail('SVC_INVALID_TOKEN', { message: 'This token is of the future: set the clock of who signed it.' });
  }

  return {
    isOffline: (token) => readOfflineHeader(token) !== null,

    async verify(family, token) {
      const opened = (await open(family, token)) ?? refuse(family);
      if (opened.key.isRevoked) fail('SVC_TOKEN_REVOKED');
      const signed = tokenOf(family, opened);
      assertInTime(family, signed.claims);
      access.noteSigningKeyUse(opened.key.id);
      return signed;
    },

    async read(family, token) {
      const opened = await open(family, token);
      return opened && tokenOf(family, opened);
    },

    holdKey: lockSigningKey,
    hasKey: hasSigningKey,
  };
}

/** Signed by the project's own backend: it may be told what is wrong with its claims. */
function readClaims<F extends Family>(family: F, payload: string): ClaimsOf[F] {
  try {
    return parsers[family](readJson(Buffer.from(payload, 'base64url'))) as ClaimsOf[F];
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const [detail] = (error.fields['details'] ?? []) as { message: string }[];
    return fail('SVC_INVALID_TOKEN', { message: `The claims are not valid: ${detail?.message ?? error.message}` });
  }
}

/** `ims` only makes `iat` exact; it says nothing else. */
const issuedAt = ({ iat, ims }: ClaimsOf[Family]): number =>
  ims !== undefined && Math.floor(ims / 1000) === iat ? ims : iat * 1000;
