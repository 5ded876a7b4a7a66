import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Environment } from '@parley/contract';

/** `whsec_` and 32 random bytes: what Standard Webhooks libraries expect. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const hintOf = (secret: string): string => secret.slice(-4);

/** One secret, ready for both signatures. */
export interface SigningKey {
  /** The whole text is the key of `svc-signature`, prefix included. */
  own: KeyObject;
  /** Its bytes are the key of Standard Webhooks. */
  standard: KeyObject;
}

export const signingKey = (secret: string): SigningKey => ({
  own: createSecretKey(Buffer.from(secret, 'utf8')),
  standard: createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')),
});

export interface Envelope {
  id: string;
  type: string;
  projectId: string;
  environment: Environment;
  createdAt: string;
}

/** The bytes that are sent and signed. `data` is JSON already, so that they are the same on every attempt. */
export const bodyOf = ({ id, type, projectId, environment, createdAt }: Envelope, data: string): Buffer =>
  Buffer.from(`${JSON.stringify({ id, type, projectId, environment, createdAt }).slice(0, -1)},"data":${data}}`);

/** Headers of one attempt. The time is that of the attempt: receivers refuse what is older than five minutes. */
export function signatureHeaders(
  keys: readonly SigningKey[],
  eventId: string,
  body: Buffer,
  nowMs: number,
): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000);
  const own = keys.map(
    ({ own: key }) => `v1=${createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex')}`,
  );
  const standard = keys.map(
    ({ standard: key }) =>
      `v1,${createHmac('sha256', key).update(`${eventId}.${seconds}.`).update(body).digest('base64')}`,
  );
  return {
    'svc-signature': `t=${seconds},${own.join(',')}`,
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  };
}
