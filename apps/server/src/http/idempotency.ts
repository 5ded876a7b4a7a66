import { createHash } from 'node:crypto';
import { errors, fail, isServiceError, type ReplayWindow, replayWindowSeconds, ServiceError } from '@parley/contract';
import type { Clock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import type { Attempt } from '../core/handlers.ts';
import type { Keyring } from '../core/keyring.ts';
import { claimKey, findAnswer, releaseKey, type StoredAnswer, storeAnswer, unlockKey } from './idempotency-store.ts';

/** An answer as it goes out, ready to be kept and sent again. */
export interface WireAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  /** JSON text, or '' when there is no body. */
  text: string;
}

/** What is stored, sealed: an answer, or the refusal that the work ended in. */
type Kept = Pick<WireAnswer, 'headers' | 'text'> | Pick<ServiceError, 'code' | 'message' | 'fields'>;

/** The refusal that the first request with this key got. */
export class ReplayedRefusal extends ServiceError {}

export const replayedHeader = { 'idempotent-replayed': 'true' } as const;

/** What one use of a key is bound to: the same key on another route, or by another caller, is another key. */
interface ReplayScope {
  window: ReplayWindow;
  route: string;
  credential: string;
  key: string;
  /** Everything that makes the request: path parameters, query and body. */
  input: unknown;
}

/**
 * Runs `work` once per scope; a repeat gets the first answer, sealed in the store until the window ends. Work that was
 * cut off between its effect and its answer runs again as a retry.
 */
export type Once = (scope: ReplayScope, work: (attempt: Attempt) => Promise<WireAnswer>) => Promise<WireAnswer>;

/** A request that runs longer than this has died with its process: another may take its place. */
const leaseMs = 30_000;
const waitForFirstMs = 5_000;
const pollMs = 25;

export function createOnce({ db, clock, keyring }: { db: Db; clock: Clock; keyring: Keyring }): Once {
  async function replayOf(scope: string, bodyHash: string): Promise<WireAnswer | null> {
    const stored = await waitForAnswer(scope, bodyHash);
    if (!stored) return null;
    const kept = JSON.parse(keyring.unseal(stored.answer)) as Kept;
    if ('code' in kept) throw new ReplayedRefusal(kept.code, { ...kept.fields, message: kept.message });
    return { status: stored.status, headers: { ...kept.headers, ...replayedHeader }, text: kept.text };
  }

  /** Gives a parallel first request a moment to finish, so that retries get its answer and not a conflict. */
  async function waitForAnswer(scope: string, bodyHash: string): Promise<{ status: number; answer: string } | null> {
    for (const deadline = clock.elapsed() + waitForFirstMs; ; await clock.sleep(pollMs)) {
      const stored = await findAnswer(db, scope, clock.now());
      if (!stored) return null;
      if (stored.bodyHash !== bodyHash) fail('SVC_IDEMPOTENCY_MISMATCH');
      if (isFinished(stored)) return stored;
      if (stored.isFree) return null;
      if (clock.elapsed() >= deadline) fail('SVC_IDEMPOTENCY_IN_PROGRESS');
    }
  }

  const keep = (scope: string, status: number, kept: Kept): Promise<void> =>
    storeAnswer(db, scope, status, keyring.seal(JSON.stringify(kept)));

  async function run(scope: string, work: () => Promise<WireAnswer>): Promise<WireAnswer> {
    try {
      const answer = await work();
      await keep(scope, answer.status, { headers: answer.headers, text: answer.text });
      return answer;
    } catch (error) {
      if (isReplayable(error))
        await keep(scope, errors[error.code].status, {
          code: error.code,
          message: error.message,
          fields: error.fields,
        });
      // A limit, or a fault of ours: nothing is kept and the caller may try again with the same key.
      else if (isServiceError(error) && errors[error.code].status === 429) await releaseKey(db, scope).catch(() => {});
      else await unlockKey(db, scope, clock.now()).catch(() => {});
      throw error;
    }
  }

  return async ({ window, route, credential, key, input }, work) => {
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) fail('SVC_INVALID_IDEMPOTENCY_KEY');
    const scope = hash(JSON.stringify([route, credential, key]));
    const bodyHash = hash(JSON.stringify(input) ?? '');
    for (;;) {
      const now = clock.now();
      const expiresAt = now + replayWindowSeconds[window] * 1000;
      const claim = await claimKey(db, { scope, bodyHash, now, lockedUntil: now + leaseMs, expiresAt });
      if (claim) {
        const seed = hash(`${scope} ${claim.expiresAt}`);
        return run(scope, () => work({ seed, isRetry: claim.isRetry }));
      }
      const replay = await replayOf(scope, bodyHash);
      if (replay) return replay;
    }
  };
}

/** The work itself refused (name taken, wrong state): a repeat gets the same refusal. */
const isReplayable = (error: unknown): error is ServiceError =>
  isServiceError(error) && errors[error.code].status < 500 && errors[error.code].status !== 429;

const isFinished = (stored: StoredAnswer): stored is StoredAnswer & { status: number; answer: string } =>
  stored.status !== null && stored.answer !== null;

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');
