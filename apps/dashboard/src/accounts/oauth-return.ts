import { safeNext } from '../frame/url.ts';

const storageKey = 'parley.after-sign-in';

/** Where a provider sends the browser back to, and where the person was before. */
export const oauthReturn = {
  addressFor: (provider: string): string => `${location.origin}/oauth/${provider}`,
  remember: (path: string): void => sessionStorage.setItem(storageKey, path),
  recall: (): string => {
    const path = sessionStorage.getItem(storageKey);
    sessionStorage.removeItem(storageKey);
    const next = new URLSearchParams(path?.split('?')[1] ?? '').get('next');
    return safeNext(path === null || path.startsWith('/login') || path.startsWith('/register') ? next : path);
  },
};
