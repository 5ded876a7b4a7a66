import type { SessionHint } from './session.ts';

const storageKey = 'parley.has-session';
const hintCookie = 'parley_has_session=1';

/** Kept in the browser's storage: one bit, never a token. */
export const sessionHint: SessionHint = {
  get() {
    try {
      // The printed sign-in link of development mode leaves the cookie: it has no page to write the storage from.
      return localStorage.getItem(storageKey) === '1' || document.cookie.includes(hintCookie);
    } catch {
      return true;
    }
  },
  set(hasSession) {
    try {
      if (hasSession) localStorage.setItem(storageKey, '1');
      else {
        localStorage.removeItem(storageKey);
        // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere yet.
        document.cookie = 'parley_has_session=; Path=/; Max-Age=0; SameSite=Strict';
      }
    } catch {
      // Without storage every visit asks the service.
    }
  },
};
