import { createHmac, hkdfSync } from 'node:crypto';

/** Of every media node: credentials are bound to it by their key. */
export const TURN_REALM = 'parley';

/** Longer than any token lives: an ICE restart late in a call still finds its relay. */
export const TURN_CREDENTIAL_MS = 24 * 60 * 60_000;

/** What signs the credentials of our own relays, of a secret that server and node share. */
export const turnSecretOf = (registrationSecret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', registrationSecret, '', 'parley turn credentials v1', 32));

/** Credentials of the TURN REST API: they carry their expiry, so that no user has to be registered. */
export function turnCredential(secret: Buffer | string, user: string, expiresAtMs: number) {
  const username = `${Math.floor(expiresAtMs / 1000)}:${user}`;
  return { username, credential: passwordOf(secret, username) };
}

export const passwordOf = (secret: Buffer | string, username: string): string =>
  createHmac('sha1', secret).update(username).digest('base64');

const USERNAME = /^(\d{1,12}):(.{1,256})$/su;

/** Undefined when it is none of ours, or has expired. */
export function userOf(username: string, nowMs: number): string | undefined {
  const [, expiry, user] = USERNAME.exec(username) ?? [];
  return expiry !== undefined && Number(expiry) * 1000 > nowMs ? user : undefined;
}
