import { isIP } from 'node:net';

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** A name or address that only this machine answers to, with or without brackets. */
export const isLoopbackHost = (hostname: string): boolean => loopback.test(hostname);

/** Whether a `Host` header names us. Another name may be a stranger's that was made to point here (DNS rebinding). */
export type IsOwnHost = (header: string | undefined) => boolean;

/** This machine by its loopback names; in public also the name in PUBLIC_URL and plain addresses, which nobody can rebind. */
export function createIsOwnHost({ publicUrl, isPublic }: { publicUrl: string; isPublic: boolean }): IsOwnHost {
  const ownName = new URL(publicUrl).hostname;
  return (header = '') => {
    const hostname = /^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)(?::\d{1,5})?$/i.exec(header)?.[1]?.toLowerCase() ?? '';
    if (isLoopbackHost(hostname)) return true;
    return isPublic && (hostname === ownName || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0);
  };
}
