import { createPublicKey, hash } from 'node:crypto';
import type { ErrorDetail, PutPushDevice } from '@parley/contract';
import { refuse } from '../../core/validation.ts';
import type { PushAddress } from './device-store.ts';

/** True when requests of this environment may go to the URL. */
type IsUrlAllowed = (url: string) => boolean;

/** The address in what a device was registered with; what cannot work is refused here, not with each message. */
export function readAddress(body: PutPushDevice, isUrlAllowed: IsUrlAllowed): PushAddress {
  if (body.kind === 'WEB_PUSH') return readSubscription(body, isUrlAllowed);
  if (body.kind === 'FCM') return { kind: 'FCM', token: required(body, 'token', /^[\x21-\x7e]+$/) };
  return {
    kind: 'APNS',
    token: required(body, 'token', /^([0-9a-fA-F]{2}){8,100}$/).toLowerCase(),
    topic: required(body, 'topic', /^[A-Za-z0-9.-]+$/),
    environment: body.environment ?? 'PRODUCTION',
  };
}

function readSubscription({ endpoint, keys }: PutPushDevice, isUrlAllowed: IsUrlAllowed): PushAddress {
  const problems: ErrorDetail[] = [];
  if (endpoint === undefined || !isUrlAllowed(endpoint))
    problems.push(detail('endpoint', 'endpoint must be the https URL of a public push service.'));
  const p256dh = Buffer.from(keys?.p256dh ?? '', 'base64url');
  const auth = Buffer.from(keys?.auth ?? '', 'base64url');
  if (!isPoint(p256dh)) problems.push(detail('keys.p256dh', 'keys.p256dh must be a P-256 public key in base64url.'));
  if (auth.length !== 16) problems.push(detail('keys.auth', 'keys.auth must be 16 bytes in base64url.'));
  if (problems.length > 0) refuse(problems);
  return {
    kind: 'WEB_PUSH',
    endpoint: endpoint ?? '',
    p256dh: p256dh.toString('base64url'),
    auth: auth.toString('base64url'),
  };
}

/** Uncompressed, and on the curve. */
function isPoint(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map((half) => half.toString('base64url'));
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
    return true;
  } catch {
    return false;
  }
}

function required(body: PutPushDevice, field: 'token' | 'topic', pattern: RegExp): string {
  const given = body[field] ?? '';
  if (!pattern.test(given)) refuse([detail(field, `A device of kind ${body.kind} needs ${field}.`)]);
  return given;
}

const detail = (field: string, message: string): ErrorDetail => ({ field, rule: 'address', message });

const keyOf = (address: PushAddress): string => (address.kind === 'WEB_PUSH' ? address.endpoint : address.token);

export const hashOf = (address: PushAddress): string =>
  `${address.kind} ${hash('sha256', keyOf(address), 'base64url')}`;

export const hintOf = (address: PushAddress): string =>
  address.kind === 'WEB_PUSH' ? new URL(address.endpoint).hostname : address.token.slice(-4);
