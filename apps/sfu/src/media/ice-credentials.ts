import { createHmac, randomBytes } from 'node:crypto';

/** Entropy of a ufrag; RFC 8445 5.3 asks for 24 bits at least, and for 128 of a password. */
const UFRAG_BYTES = 6;
const PWD_LENGTH = 32;

/** The password follows from the ufrag, so that the node's relay knows it without being told of each transport. */
export const icePasswordOf = (key: Buffer, ufrag: string): string =>
  createHmac('sha256', key).update(ufrag).digest('hex').slice(0, PWD_LENGTH);

export function newIceCredentials(key: Buffer): { ufrag: string; pwd: string } {
  const ufrag = randomBytes(UFRAG_BYTES).toString('hex');
  return { ufrag, pwd: icePasswordOf(key, ufrag) };
}
