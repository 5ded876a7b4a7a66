import type { NewAttribute } from './stun.ts';

/** The error codes of RFC 8489 and RFC 8656 that this relay answers with. */
const REASONS = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  420: 'Unknown Attribute',
  437: 'Allocation Mismatch',
  438: 'Stale Nonce',
  440: 'Address Family not Supported',
  441: 'Wrong Credentials',
  442: 'Unsupported Transport Protocol',
  443: 'Peer Address Family Mismatch',
  486: 'Allocation Quota Reached',
  508: 'Insufficient Capacity',
} as const;

export interface Refusal {
  code: number;
  reason: string;
  extra: readonly NewAttribute[];
}

export const refusal = (code: keyof typeof REASONS, extra: readonly NewAttribute[] = []): Refusal => ({
  code,
  reason: REASONS[code],
  extra,
});
