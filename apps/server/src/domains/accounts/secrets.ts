import { createHash, randomBytes } from 'node:crypto';

/** A secret for a link or a cookie: 256 bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** How such a secret is kept. It is random, so a fast hash is enough. */
export const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('base64url');
