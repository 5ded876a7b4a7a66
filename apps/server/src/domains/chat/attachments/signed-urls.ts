import { fail } from '@parley/contract';
import type { Clock } from '../../../core/clock.ts';
import type { Keyring } from '../../../core/keyring.ts';
import type { AttachmentEntry } from './attachment-store.ts';

export interface SignedQuery {
  exp?: string;
  sig?: string;
  as?: string;
}

export interface SignedUrls {
  upload(attachment: Signable, ttlSeconds: number): string;
  /** `as`: instead of the file itself one of its sizes, or the file for a scanner. */
  download(attachment: Signable, ttlSeconds: number, as?: string): string;
  /** SVC_FORBIDDEN unless exactly this was signed and its time is not over. */
  check(method: 'PUT' | 'GET', attachment: Signable, query: SignedQuery): void;
}

/** Everything a signature covers: change any of it and the URL is worth nothing. */
type Signable = Pick<AttachmentEntry, 'id' | 'environment' | 'size' | 'mimeType' | 'filename'>;

export function createSignedUrls(deps: { keyring: Keyring; clock: Clock; publicUrl: string }): SignedUrls {
  const { keyring, clock, publicUrl } = deps;

  function textOf(method: string, attachment: Signable, exp: number, as?: string): string {
    const { id, environment, size, mimeType, filename } = attachment;
    return JSON.stringify([method, id, environment, exp, size, mimeType, filename, ...(as === undefined ? [] : [as])]);
  }

  function urlOf(method: 'PUT' | 'GET', attachment: Signable, ttlSeconds: number, as?: string): string {
    const exp = Math.floor(clock.now() / 1000) + ttlSeconds;
    const sig = keyring.mac('signed-url', textOf(method, attachment, exp, as)).toString('base64url');
    const folder = method === 'PUT' ? 'uploads' : 'downloads';
    const form = as === undefined ? '' : `&as=${as}`;
    return `${publicUrl}/v1/chat/${folder}/${attachment.id}?exp=${exp}&sig=${sig}${form}`;
  }

  return {
    upload: (attachment, ttlSeconds) => urlOf('PUT', attachment, ttlSeconds),
    download: (attachment, ttlSeconds, as) => urlOf('GET', attachment, ttlSeconds, as),
    check(method, attachment, { exp = '', sig = '', as }) {
      const refuse = (): never => fail('SVC_FORBIDDEN', { message: 'This signed URL is not valid, or not any more.' });
      if (!/^\d{1,12}$/.test(exp)) refuse();
      const given = Buffer.from(sig, 'base64url');
      const isSigned = keyring.isMac('signed-url', textOf(method, attachment, Number(exp), as), given);
      if (!isSigned || given.toString('base64url') !== sig) refuse();
      if (clock.now() / 1000 >= Number(exp)) refuse();
    },
  };
}
