import { suite, test } from 'node:test';
import { emptyMigrations } from '../../../../testkit/kit/migration-folder.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import type { Db } from '../../../core/db.ts';
import { dbContract } from './db.contract.ts';

const url = process.env['PARLEY_TEST_DATABASE_URL'];
const migrations = emptyMigrations();

const open = async (where: string | undefined): Promise<Db> => {
  const { db, close } = await openTestDatabase({ migrations, url: where });
  return { ...db, close };
};

suite('embedded', () => dbContract('embedded', () => open('')));

if (url) suite('postgres', () => dbContract('postgres', () => open(url)));
else test('postgres', { skip: 'no PARLEY_TEST_DATABASE_URL' }, () => {});
