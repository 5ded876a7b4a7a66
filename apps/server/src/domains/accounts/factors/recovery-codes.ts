import { randomInt } from 'node:crypto';
import type { Tx } from '../../../core/db.ts';
import { hashOf } from '../secrets.ts';
import { deleteRecoveryCode, replaceRecoveryCodes } from './recovery-code-store.ts';

const codesMade = 10;
/** Without letters that are read for others. 16 of them are 79 bits: a fast hash is enough. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const [groups, groupLength] = [4, 4];

const newCode = (): string =>
  Array.from({ length: groups }, () =>
    Array.from({ length: groupLength }, () => letters[randomInt(letters.length)]).join(''),
  ).join('-');

/** People type them with other spaces, dashes and cases. */
const hashOfCode = (code: string): string => hashOf(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));

/** Ten new codes in the place of all older ones. Only their hashes are kept. */
export async function renewRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: codesMade }, newCode);
  await replaceRecoveryCodes(tx, userId, codes.map(hashOfCode));
  return codes;
}

/** Uses a code up; false when it is none, or was used. */
export const takeRecoveryCode = (tx: Tx, userId: string, code: string): Promise<boolean> =>
  deleteRecoveryCode(tx, userId, hashOfCode(code));
