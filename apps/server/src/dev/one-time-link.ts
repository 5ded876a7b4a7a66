import { randomBytes, timingSafeEqual } from 'node:crypto';

interface OneTimeLink {
  /** A new code; the one before it is void. */
  renew(): string;
  /** True once for the present code. */
  take(code: string): boolean;
}

const guessesMax = 10;

/** The code of the printed link: good once, and void after ten wrong guesses. Kept in memory only. */
export function createOneTimeLink(): OneTimeLink {
  let current: { code: Buffer; guesses: number } | null = null;
  return {
    renew() {
      const code = randomBytes(8)
        .toString('hex')
        .replace(/(.{4})(?=.)/g, '$1-');
      current = { code: Buffer.from(code), guesses: 0 };
      return code;
    },
    take(text) {
      if (current === null) return false;
      const given = Buffer.from(text);
      const isRight = given.length === current.code.length && timingSafeEqual(given, current.code);
      if (isRight || ++current.guesses >= guessesMax) current = null;
      return isRight;
    },
  };
}
