import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertGoesOn, type Memory, type Place, startMachine, variablesOf } from '../../testkit/kit/machine.ts';
import { createEmptyDatabase } from '../../testkit/kit/test-database.ts';
import { engineMajor } from '../adapters/db/embedded/engine.ts';
import { emptyTemplate } from '../adapters/db/embedded/template.ts';
import { readMigrations, serverMigrations } from '../adapters/db/shared/migrate.ts';
import { embeddedFolder, openDatabase, openStores, openUnmigrated } from '../adapters/open.ts';
import { readConfig } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import { createLog } from '../core/log.ts';
import { sql } from '../core/sql.ts';
import { keepSecrets } from '../kept-secrets.ts';
import { explainStartFailure } from '../start-failure.ts';
import { loadArchive, verifyArchive } from './restore-archive.ts';

const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'];
const log = createLog('silent');
const progress = () => {};
const fixtures = fileURLToPath(new URL('../../testkit/fixtures/', import.meta.url));
const names = readdirSync(fixtures).filter((name) => name.endsWith('.parley'));

let folder: string;
const ends: (() => Promise<unknown>)[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-upgrade-'));
});
after(async () => {
  for (const end of ends.toReversed()) await end();
  await rm(folder, { recursive: true, force: true });
});

/** A machine as an older version left it: its schema, its rows as its own code wrote them, its files and secrets. */
async function asLeftBy(name: string): Promise<Place> {
  const database = adminUrl ? await createEmptyDatabase(adminUrl) : null;
  if (database) ends.push(database.drop);
  const place = { dataDir: join(folder, name), databaseUrl: database?.url ?? null };
  const archive = { path: join(fixtures, name), passphrase: null };
  const { manifest, secrets } = await verifyArchive(archive, progress);
  keepSecrets(place.dataDir, secrets.values);
  const config = readConfig(variablesOf(place));
  const [db, { blobs }] = [await openUnmigrated(config, log), await openStores(config, { clock: systemClock, log })];
  await loadArchive(archive, manifest, { db, blobs }, progress);
  // A file that no message has is kept for a day, and the archive is older: as if it had been left just now.
  await db.execute(sql`update attachments set expires_at = now() + interval '1 day' where status = 'UPLOADED'`);
  await db.close();
  return place;
}

const migrationsOf = (db: Db) => db.query<{ name: string }>(sql`select name from schema_migrations order by version`);

let upgraded: Place;
for (const name of names)
  test(`[UPG-1] this version starts on what ${name} left, migrates it and goes on`, async () => {
    const place = await asLeftBy(name);
    const memory: Memory = JSON.parse(readFileSync(join(fixtures, name.replace('.parley', '.json')), 'utf8'));
    const machine = await startMachine(place);
    try {
      const newest = readMigrations(serverMigrations).map((migration) => ({ name: migration.name }));
      assert.deepEqual(await migrationsOf(machine.adapters.db), newest);
      await assertGoesOn(machine, memory);
      await machine.adapters.db.execute(
        sql`insert into schema_migrations (version, name, checksum) values (9999, '9999_future', '')`,
      );
    } finally {
      await machine.stop();
    }
    upgraded = place;
  });

/** That a start prints this and ends is what RUN-2 shows. */
test('[UPG-2] data of a newer version stops the start with one sentence', async () => {
  await assert.rejects(openDatabase(readConfig(variablesOf(upgraded)), log), (error) => {
    assert.equal(
      explainStartFailure(error, adminUrl === undefined),
      'The data is of a newer version of Parley (it has migration 9999_future): run that version or a newer one, or restore a backup from before the upgrade.',
    );
    return true;
  });
});

test('[UPG-3] a data folder of another PostgreSQL is refused with one sentence', async () => {
  const place = { dataDir: join(folder, 'other-major'), databaseUrl: null };
  const config = readConfig(variablesOf(place));
  const data = join(embeddedFolder(config), 'postgres');
  await cp(emptyTemplate(), data, { recursive: true });
  const file = join(data, 'PG_VERSION');
  assert.equal(readFileSync(file, 'utf8').trim(), engineMajor);
  await writeFile(file, '12\n');
  await assert.rejects(openDatabase(config, log), /written by PostgreSQL 12 and this version has \d+: back it up/);
});
