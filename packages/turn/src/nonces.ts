import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE_SECONDS = 3600;
const MAC_BYTES = 9;

/** Nonces without a memory: each says until when it is good, and is signed for one client address. */
export function createNonces(now: () => number) {
  const key = randomBytes(32);
  const macOf = (address: string, expiry: string): Buffer =>
    createHmac('sha256', key).update(`${expiry}|${address}`).digest().subarray(0, MAC_BYTES);

  return {
    issue(address: string): string {
      const expiry = (Math.floor(now() / 1000) + NONCE_SECONDS).toString(36);
      return `${expiry}.${macOf(address, expiry).toString('base64url')}`;
    },
    isGood(address: string, nonce: string): boolean {
      const [expiry = '', mac = ''] = nonce.split('.', 2);
      const given = Buffer.from(mac, 'base64url');
      if (given.length !== MAC_BYTES || !timingSafeEqual(given, macOf(address, expiry))) return false;
      return Number.parseInt(expiry, 36) * 1000 > now();
    },
  };
}
