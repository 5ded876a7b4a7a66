import type { SessionHint } from './session.ts';

const storageKey = 'parley.has-session';

/** Kept in the browser's storage: one bit, never a token. */
export const sessionHint: SessionHint = {
  get() {
    try {
      return localStorage.getItem(storageKey) === '1';
    } catch {
      return true;
    }
  },
  set(hasSession) {
    try {
      if (hasSession) localStorage.setItem(storageKey, '1');
      else localStorage.removeItem(storageKey);
    } catch {
      // Without storage every visit asks the service.
    }
  },
};
