import { fail } from '@parley/contract';
import type { Keyring } from './keyring.ts';

/** Opaque, authenticated positions in a list. A cursor of another list, project or environment is unreadable here. */
export interface Cursors {
  write(scope: string, position: readonly (string | number)[]): string;
  /** The position, or SVC_INVALID_CURSOR; never a silent first page. */
  read(scope: string, cursor: string): (string | number)[];
}

const macBytes = 12;

export function createCursors(keyring: Keyring): Cursors {
  return {
    write(scope, position) {
      const body = JSON.stringify(position);
      const mac = keyring.mac('cursor', `${scope}\n${body}`).subarray(0, macBytes);
      return Buffer.concat([mac, Buffer.from(body)]).toString('base64url');
    },
    read(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) fail('SVC_INVALID_CURSOR');
      const body = bytes.subarray(macBytes).toString();
      const mac = bytes.subarray(0, macBytes);
      if (!keyring.isMac('cursor', `${scope}\n${body}`, mac, macBytes)) fail('SVC_INVALID_CURSOR');
      return JSON.parse(body) as (string | number)[];
    },
  };
}

/** Cuts a list read with `limit + 1` rows down to its page and says where the next one starts. */
export function cutPage<T>(
  rows: T[],
  limit: number,
  cursorOf: (last: T) => string,
): { items: T[]; nextCursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}

/** Page size of every list that does not set its own. */
export const pageSizeDefault = 100;
