import { type CloseCode, closeReactions, type Reaction } from '@parley/contract/close-reactions';
import type { DisconnectReason } from './errors.ts';

export type ConnectionState = 'idle' | 'connecting' | 'connected' | 'reconnecting' | 'disconnected';

export interface ReconnectOptions {
  /** After so long without a connection the state becomes `disconnected`. */
  giveUpAfterMs?: number;
}

/** Waits before each attempt; the last one repeats. With ±20 % at most 6 attempts fall into any minute. */
export const SCHEDULE_MS = [300, 1_000, 3_000, 7_000, 15_000, 30_000] as const;
/** A connection that held so long resets the backoff; a shorter one does not, or a flapping server is hammered. */
export const STABLE_MS = 60_000;

export function backoffMs(attempt: number, random: () => number): number {
  const wait = SCHEDULE_MS[Math.min(attempt, SCHEDULE_MS.length - 1)] ?? 0;
  return Math.round(wait * (0.8 + 0.4 * random()));
}

export interface CloseInfo {
  code: number;
  reason: string;
}

export type Verdict =
  | { go: 'stop'; reason: DisconnectReason }
  | { go: 'retry'; reason: DisconnectReason; afterMs: number; renewToken: boolean };

export const retryAfter = (reason: DisconnectReason, afterMs: number, renewToken = false): Verdict => ({
  go: 'retry',
  reason,
  afterMs,
  renewToken,
});

export interface Past {
  /** Attempts since the last stable connection. */
  attempt: number;
  /** The token was renewed since the last connection. */
  hasRenewed: boolean;
  canRenew: boolean;
}

/** What to do about a closed socket: the policy is the row of its code in the contract. */
export function classify(close: CloseInfo, { attempt, hasRenewed, canRenew }: Past, random: () => number): Verdict {
  const reason = reasonOf(close);
  const reaction: Reaction = isKnown(close.code) ? closeReactions[close.code] : 'reconnect';
  const isRenewable = reaction === 'renewToken' && !hasRenewed && canRenew && reason !== 'token_revoked';
  if (isRenewable) return retryAfter(reason, attempt && backoffMs(attempt, random), true);
  if (reaction === 'stop' || reaction === 'renewToken') return { go: 'stop', reason };
  if (reaction === 'wait')
    return retryAfter(reason, Math.round(retryAfterSeconds(close.reason) * 1000 + random() * 10_000));
  return retryAfter(reason, backoffMs(attempt, random));
}

const isKnown = (code: number): code is CloseCode => code in closeReactions;

/** `RATE_LIMITED; retryAfter=41`; without a number one whole window. */
export const retryAfterSeconds = (reason: string): number => Number(/retryAfter=(\d+)/.exec(reason)?.[1] ?? 60);

/** Disconnect reasons whose SDK name is not the contract's in lower case. */
const REASONS: Readonly<Record<string, DisconnectReason>> = {
  CLIENT_INITIATED: 'client',
  PARTICIPANT_REMOVED: 'removed',
  STREAM_ENDED: 'room_closed',
  SERVER_SHUTDOWN: 'node_lost',
  NODE_DRAINED: 'node_lost',
  JOIN_FAILURE: 'protocol',
};
const REASONS_BY_CODE: Readonly<Record<number, DisconnectReason>> = {
  1000: 'client',
  1009: 'protocol',
  4400: 'protocol',
  4401: 'token_expired',
  4403: 'forbidden',
  4404: 'room_closed',
  4409: 'duplicate_identity',
  4410: 'removed',
  4422: 'room_full',
  4429: 'rate_limited',
  4503: 'node_lost',
};
const SAME_WORDS: readonly DisconnectReason[] = [
  'token_expired',
  'token_revoked',
  'room_closed',
  'duplicate_identity',
  'room_full',
  'rate_limited',
];

/** Undefined for a word that says nothing more than the close code does. */
export const reasonFrom = (name: string): DisconnectReason | undefined =>
  REASONS[name] ?? SAME_WORDS.find((word) => word === name.toLowerCase());

const reasonOf = ({ code, reason }: CloseInfo): DisconnectReason =>
  reasonFrom(reason.split(';')[0] ?? '') ?? REASONS_BY_CODE[code] ?? 'network';
