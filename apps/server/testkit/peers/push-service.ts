import { createDecipheriv, createECDH, createHmac, createPublicKey, hkdfSync, verify } from 'node:crypto';
import type { Subscription } from '../clients/push-devices.ts';
import { type ReceivedRequest, startReceiver, type TestReceiver } from './receiver.ts';

/** A push service as RFC 8030 has it, and the browser behind it, which decrypts with its own keys and none of our code. */
export interface PushService extends TestReceiver {
  endpoint(name: string): string;
  /** What came for this subscription, decrypted, in the order of arrival. */
  received(subscription: Subscription): Record<string, unknown>[];
}

export async function startPushService(answer: TestReceiver['answer'] = 201): Promise<PushService> {
  const receiver = await startReceiver(answer);
  const origin = `http://127.0.0.1:${receiver.port}`;
  return Object.assign(receiver, {
    endpoint: (name: string) => `${origin}/${name}`,
    received: (subscription: Subscription) =>
      receiver.requests
        .filter(({ path }) => `${origin}${path}` === subscription.endpoint)
        .map((request) => JSON.parse(decrypt(request.body, subscription)) as Record<string, unknown>),
  });
}

const label = (text: string, ...rest: Buffer[]): Buffer => Buffer.concat([Buffer.from(`${text}\0`), ...rest]);

/** RFC 8188 and 8291: `aes128gcm` with the key that the browser and the sender have in common. */
export function decrypt(body: Buffer, { keys, privateKey }: Subscription): string {
  const [salt, keyLength] = [body.subarray(0, 16), body.readUInt8(20)];
  const sender = body.subarray(21, 21 + keyLength);
  const sealed = body.subarray(21 + keyLength);
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey);
  const own = Buffer.from(keys.p256dh, 'base64url');
  const prk = createHmac('sha256', Buffer.from(keys.auth, 'base64url')).update(pair.computeSecret(sender)).digest();
  const secret = createHmac('sha256', prk)
    .update(Buffer.concat([label('WebPush: info', own, sender), Buffer.from([1])]))
    .digest();
  const derive = (name: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, label(`Content-Encoding: ${name}`), length));
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8');
}

/** RFC 8292: who sends proves that it has the key which the browser subscribed with. Gives the claims. */
export function vapidClaims({ headers }: ReceivedRequest, publicKey: string): Record<string, unknown> | null {
  const [, token = '', key] = /^vapid t=([^,]+), ?k=(.+)$/.exec(String(headers['authorization'])) ?? [];
  if (key !== publicKey) return null;
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const [head = '', claims = '', signature = ''] = token.split('.');
  const isGood = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  return isGood ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : null;
}
