/**
 * What was acknowledged survives kill -9, on the embedded database and on PostgreSQL:
 *
 *   node tools/proof/killed-writer.ts [kills]
 *
 * PostgreSQL is that of PARLEY_TEST_DATABASE_URL; without it the embedded database alone is tried.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyMigrations } from '../../apps/server/testkit/kit/migration-folder.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';
import { killRepeatedly } from '../../apps/server/testkit/proofs/killed-writer.ts';

const kills = Number(process.argv[2] ?? 20);
const folder = await mkdtemp(join(tmpdir(), 'parley-killed-'));
await killRepeatedly(folder, kills);
console.log(`embedded: ${kills} kills, nothing lost`);
await rm(folder, { recursive: true, force: true });

const url = process.env['PARLEY_TEST_DATABASE_URL'];
if (url !== undefined) {
  const database = await openTestDatabase({ migrations: emptyMigrations(), url });
  await killRepeatedly(database.url ?? '', kills);
  console.log(`PostgreSQL: ${kills} kills, nothing lost`);
  await database.close();
}
