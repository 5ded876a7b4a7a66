import { createECDH, randomBytes } from 'node:crypto';

/** A browser's subscription, with the keys that only the browser has. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  privateKey: Buffer;
}

export function newSubscription(endpoint: string): Subscription {
  const pair = createECDH('prime256v1');
  const p256dh = pair.generateKeys('base64url', 'uncompressed');
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
  return { endpoint, keys, privateKey: pair.getPrivateKey() };
}

/** The body that registers it. */
export const webPush = ({ endpoint, keys }: Subscription) => ({ kind: 'WEB_PUSH' as const, endpoint, keys });

export const fcm = (token: string) => ({ kind: 'FCM' as const, token });

export const apns = (token: string, topic = 'com.example.chat') => ({ kind: 'APNS' as const, token, topic });
