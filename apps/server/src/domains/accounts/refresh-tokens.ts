import type { Keyring } from '../../core/keyring.ts';

/** A place in a session's line of refresh tokens. Only the newest is good; an older one has been used before. */
export interface RefreshToken {
  sessionId: string;
  generation: number;
}

interface RefreshTokens {
  write(token: RefreshToken): string;
  read(text: string): RefreshToken | null;
}

const pattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d{0,8})\.([\w-]{43})$/;

/** Nothing is stored of a token: our key makes it, so the database alone gives no way to forge one (ADR 0011). */
export function createRefreshTokens(keyring: Keyring): RefreshTokens {
  return {
    write({ sessionId, generation }) {
      const body = `${sessionId}.${generation}`;
      return `${body}.${keyring.mac('refresh', body).toString('base64url')}`;
    },
    read(text) {
      const [, sessionId, generation, mac] = pattern.exec(text) ?? [];
      if (sessionId === undefined || generation === undefined || mac === undefined) return null;
      const isOurs = keyring.isMac('refresh', `${sessionId}.${generation}`, Buffer.from(mac, 'base64url'));
      return isOurs ? { sessionId, generation: Number(generation) } : null;
    },
  };
}
