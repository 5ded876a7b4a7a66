import { fail } from '@parley/contract';
import type { Clock } from '../../../core/clock.ts';
import type { Keyring } from '../../../core/keyring.ts';
import type { AttachmentEntry } from './attachment-store.ts';

interface SignedUrls {
  upload(attachment: Signable, ttlSeconds: number): string;
  download(attachment: Signable, ttlSeconds: number): string;
  /** SVC_FORBIDDEN unless exactly this was signed and its time is not over. */
  check(method: 'PUT' | 'GET', attachment: Signable, query: { exp?: string; sig?: string }): void;
}

/** Everything a signature covers: change any of it and the URL is worth nothing. */
type Signable = Pick<AttachmentEntry, 'id' | 'environment' | 'size' | 'mimeType' | 'filename'>;

export function createSignedUrls(deps: { keyring: Keyring; clock: Clock; publicUrl: string }): SignedUrls {
  const { keyring, clock, publicUrl } = deps;

  const textOf = (method: string, { id, environment, size, mimeType, filename }: Signable, exp: number): string =>
    JSON.stringify([method, id, environment, exp, size, mimeType, filename]);

  const urlOf = (method: 'PUT' | 'GET', folder: string, attachment: Signable, ttlSeconds: number): string => {
    const exp = Math.floor(clock.now() / 1000) + ttlSeconds;
    const sig = keyring.mac('signed-url', textOf(method, attachment, exp)).toString('base64url');
    return `${publicUrl}/v1/chat/${folder}/${attachment.id}?exp=${exp}&sig=${sig}`;
  };

  return {
    upload: (attachment, ttlSeconds) => urlOf('PUT', 'uploads', attachment, ttlSeconds),
    download: (attachment, ttlSeconds) => urlOf('GET', 'downloads', attachment, ttlSeconds),
    check(method, attachment, { exp = '', sig = '' }) {
      const refuse = (): never => fail('SVC_FORBIDDEN', { message: 'This signed URL is not valid, or not any more.' });
      if (!/^\d{1,12}$/.test(exp)) refuse();
      const given = Buffer.from(sig, 'base64url');
      const isSigned = keyring.isMac('signed-url', textOf(method, attachment, Number(exp)), given);
      if (!isSigned || given.toString('base64url') !== sig) refuse();
      if (clock.now() / 1000 >= Number(exp)) refuse();
    },
  };
}
