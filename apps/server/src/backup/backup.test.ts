import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { settle } from '../../testkit/clients/webhooks.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import {
  assertGoesOn,
  inhabit,
  type Memory,
  type Place,
  startMachine,
  variablesOf,
} from '../../testkit/kit/machine.ts';
import { createEmptyDatabase, openTestDatabase } from '../../testkit/kit/test-database.ts';
import { startReceiver } from '../../testkit/peers/receiver.ts';
import { startS3Server } from '../../testkit/peers/s3-server.ts';
import { createS3Blobs } from '../adapters/blobs/s3.ts';
import { embeddedFolder, openDatabase, openUnmigrated } from '../adapters/open.ts';
import { inspectConfig, readConfig } from '../config.ts';
import type { Db } from '../core/db.ts';
import { createLog } from '../core/log.ts';
import { sql } from '../core/sql.ts';
import { type Frame, rowsIn } from './frames.ts';
import { backup, restore } from './index.ts';
import { offerSnapshots } from './live-snapshot.ts';
import { verifyArchive } from './restore-archive.ts';
import { withRestoreLock } from './restore-lock-store.ts';
import { listDrops, takeSnapshot } from './snapshot-store.ts';
import { writeArchive } from './write-archive.ts';

const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'];
const log = createLog('silent');
const progress = () => {};
const onPostgres = { skip: !adminUrl && 'no PARLEY_TEST_DATABASE_URL' };
const passphrase = 'a passphrase of several words';

let folder: string;
const ends: (() => Promise<unknown>)[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-backup-'));
});
after(async () => {
  for (const end of ends.toReversed()) await end();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;
async function newPlace(isPostgres = false): Promise<Place> {
  const dataDir = join(folder, `place-${++count}`);
  if (!isPostgres || !adminUrl) return { dataDir, databaseUrl: null };
  const { url, drop } = await createEmptyDatabase(adminUrl);
  ends.push(drop);
  return { dataDir, databaseUrl: url };
}

/** What begins with the name of this archive. */
const leftBeside = (path: string): string[] =>
  readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));

const newFile = (): string => join(folder, `archive-${++count}.parley`);

async function framesOf(db: Db): Promise<Frame[]> {
  const frames: Frame[] = [];
  await takeSnapshot(db, async (head, body = Buffer.alloc(0)) => void frames.push({ head, body }));
  return frames;
}

type Content = Record<string, string[]>;

/** Every row of every table, sorted; without the epochs, which a restore renews, and processes, which come and go. */
async function contentIn(db: Db): Promise<Content> {
  const frames = await framesOf(db);
  const shapes = frames.flatMap(({ head }) => (head.is === 'snapshot' ? head.tables : []));
  const tables = shapes.filter(({ name }) => name !== 'chat_lineage' && name !== 'server_processes');
  return Object.fromEntries(
    tables.map(({ name, columns }) => {
      const rows = frames.flatMap(({ head, body }) => (head.is === 'rows' && head.table === name ? rowsIn(body) : []));
      const kept = (row: (string | null)[]) =>
        row.filter((_, index) => `${name}.${columns[index]}` !== 'conversations.epoch');
      return [name, rows.map((row) => JSON.stringify(kept(row))).sort()];
    }),
  );
}

async function contentOf(place: Place): Promise<Content> {
  const db = await openUnmigrated(readConfig(variablesOf(place)), log);
  try {
    return await contentIn(db);
  } finally {
    await db.close();
  }
}

/** What was counted and logged is gathered first, and written in turns. */
const recordedMs = 30_000;

/** Requests and counts are stored a little after what they are about. */
const untilRecorded = (db: Db, { texts }: Memory): Promise<void> =>
  eventually(
    async () => {
      const counts = await db.query(sql`
      select metric, sum(value)::int as value from connection_rollups where grain = 'minute' group by 1 order by 1`);
      const sent = texts.length;
      assert.deepEqual(counts, [
        { metric: 'delivered', value: sent },
        { metric: 'messages', value: sent },
      ]);
      const used = await db.query(sql`select value::int as value from usage_meters where meter = 'messages'`);
      assert.deepEqual(used, [{ value: sent }]);
      const last = await db.query(sql`select from api_requests where route like '%/complete'`);
      assert.equal(last.length, 1);
    },
    { withinMs: recordedMs },
  );

describe('a machine that was used', () => {
  let place: Place;
  let memory: Memory;
  /** Its rows at its backup. */
  let was: Content;
  let archive: string;
  let plainArchive: string;
  let secrets: string;
  before(async () => {
    place = await newPlace();
    plainArchive = newFile();
    const receiver = await startReceiver();
    const machine = await startMachine(place);
    const stopOffering = await offerSnapshots(embeddedFolder(place), machine.adapters.db, log);
    memory = await inhabit(machine, receiver.url);
    await settle(machine);
    await untilRecorded(machine.adapters.db, memory);
    const [variables, options] = [variablesOf(place), { withoutFiles: false, progress }];
    // What is stored behind requests may come while the archive is written: then it has other rows than are there after it.
    await eventually(async () => {
      archive = newFile();
      was = await contentIn(machine.adapters.db);
      assert.deepEqual((await backup(variables, { path: archive, passphrase, ...options })).missing, []);
      assert.deepEqual(await contentIn(machine.adapters.db), was);
    });
    await backup(variables, { path: plainArchive, passphrase: null, ...options });
    await stopOffering();
    await machine.stop();
    await receiver.close();
    secrets = await readFile(join(place.dataDir, 'secrets.json'), 'utf8');
  });

  const restored = async (isPostgres: boolean, from = archive): Promise<Place> => {
    const target = await newPlace(isPostgres);
    await restore(variablesOf(target), { path: from, passphrase, progress });
    return target;
  };

  test('[BAK-1] is backed up while it runs and restored into an empty one: same rows, files and secrets, and it goes on', async () => {
    const target = await restored(true);
    assert.ok(Object.values(was).flat().length > 15);
    assert.deepEqual(await contentOf(target), was);
    assert.equal(await readFile(join(target.dataDir, 'secrets.json'), 'utf8'), secrets);
    assert.equal((await stat(join(target.dataDir, 'secrets.json'))).mode & 0o777, 0o600);
    const machine = await startMachine(target);
    try {
      await assertGoesOn(machine, memory);
    } finally {
      await machine.stop();
    }
  });

  test('[BAK-2] goes to PostgreSQL and a bucket, and from there back into an embedded database and a folder', {
    skip: !adminUrl && 'no PARLEY_TEST_DATABASE_URL',
  }, async () => {
    const s3 = await startS3Server();
    ends.push(() => s3.close());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3.options;
    const keys = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey };
    const target = await newPlace(true);
    const fleet = { ...variablesOf(target), S3_ENDPOINT: endpoint, S3_BUCKET: bucket, ...keys };
    await restore(fleet, { path: archive, passphrase, progress });
    const second = newFile();
    const { manifest } = await backup(fleet, { path: second, passphrase, withoutFiles: false, progress });
    assert.deepEqual(manifest.files, { count: 1, bytes: memory.file.length });
    const back = await restored(false, second);
    assert.deepEqual(await contentOf(back), await contentOf(target));
    const machine = await startMachine(back);
    try {
      await assertGoesOn(machine, memory);
    } finally {
      await machine.stop();
    }
  });

  test('[BAK-3] an archive that is damaged, cut off, extended or not ours is refused before anything is written', async () => {
    const target = await newPlace();
    const bytes = await readFile(plainArchive);
    const flipped = (at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
    const variants: [Uint8Array, RegExp][] = [
      [flipped(bytes.length >> 1), /damaged/],
      [flipped(30), /damaged/],
      [bytes.subarray(0, bytes.length - 1), /damaged/],
      [bytes.subarray(0, 200), /damaged/],
      [Buffer.concat([bytes, Buffer.from('x')]), /damaged/],
      [Buffer.from('some text\n'), /no archive/],
      [Buffer.alloc(0), /no archive/],
      [Buffer.from('parley-backup 2 {}\n'), /newer Parley/],
    ];
    for (const [content, sentence] of variants) {
      const path = newFile();
      await writeFile(path, content);
      await assert.rejects(restore(variablesOf(target), { path, passphrase: null, progress }), sentence);
    }
    await assert.rejects(restore(variablesOf(target), { path: archive, passphrase: null, progress }), /is encrypted/);
    await assert.rejects(
      restore(variablesOf(target), { path: archive, passphrase: 'another', progress }),
      /The passphrase is not/,
    );
    assert.equal(existsSync(target.dataDir), false);
  });

  test('[BAK-4] it is restored only where nothing is, and only with the key that its secrets are sealed with', async () => {
    const options = { path: archive, passphrase, progress };
    await assert.rejects(restore(variablesOf(place), options), /holds a database/);
    const other = { ...variablesOf(await newPlace()), SECRET_KEY: 'another key of thirty-two characters' };
    await assert.rejects(restore(other, options), /SECRET_KEY is not the one of this backup/);
    if (!adminUrl) return;
    const used = await openTestDatabase();
    ends.push(used.close);
    const onUsed = { ...(await newPlace()), databaseUrl: used.url };
    await assert.rejects(restore(variablesOf(onUsed), options), /DATABASE_URL has tables/);
  });

  test('[BAK-5] the archive is for its owner alone, replaces nothing, and is only there when it is whole', async () => {
    assert.equal((await stat(archive)).mode & 0o777, 0o600);
    const options = { path: archive, passphrase, withoutFiles: false, progress };
    await assert.rejects(backup(variablesOf(place), options), /is there already/);
    const path = newFile();
    const source = { snapshot: () => Promise.reject(new Error('cut')), blobs: null, secrets: noSecrets };
    await assert.rejects(writeArchive(source, { path, passphrase: null, version: '', createdAt: '', progress }), /cut/);
    assert.deepEqual(leftBeside(path), []);
  });

  test('[BAK-5] two backups at once are two whole archives; of two to one name one is refused', async () => {
    const db = await openUnmigrated(readConfig(variablesOf(place)), log);
    const stopOffering = await offerSnapshots(embeddedFolder(place), db, log);
    const [one, other] = [newFile(), newFile()];
    const outcomes = await Promise.allSettled(
      [one, other, other].map((path) =>
        backup(variablesOf(place), { path, passphrase: null, withoutFiles: false, progress }),
      ),
    );
    await stopOffering();
    await db.close();
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    assert.equal(refused.length, 1, refused.join('\n'));
    assert.match(refused[0] ?? '', /is there already/);
    for (const path of [one, other]) {
      await verifyArchive({ path, passphrase: null }, progress);
      assert.deepEqual(leftBeside(path), [basename(path)]);
    }
    const spools = readdirSync(embeddedFolder(place)).filter((name) => name.includes('spool'));
    assert.deepEqual(spools, []);
  });

  test(
    '[BAK-10] a restore into PostgreSQL that fails leaves nothing there, and the next one succeeds',
    onPostgres,
    async () => {
      const { values } = (await verifyArchive({ path: archive, passphrase }, progress)).secrets;
      const broken = newFile();
      const db = await openUnmigrated(readConfig(variablesOf(place)), log);
      await writeArchive(
        {
          async snapshot(write) {
            await takeSnapshot(db, async (head, body) => {
              await write(head, body);
              // The same row twice.
              if (head.is === 'rows' && head.table === 'users') await write(head, body);
            });
          },
          blobs: null,
          secrets: { is: 'secrets', values, devEnv: null },
        },
        { path: broken, passphrase: null, version: '', createdAt: '', progress },
      );
      await db.close();
      const target = await newPlace(true);
      await assert.rejects(restore(variablesOf(target), { path: broken, passphrase: null, progress }), {
        name: 'ConstraintViolation',
      });
      const look = await openUnmigrated(inspectConfig(variablesOf(target)), log);
      assert.deepEqual(await listDrops(look), []);
      await look.close();
      await restore(variablesOf(target), { path: archive, passphrase, progress });
      assert.deepEqual(await contentOf(target), was);
    },
  );

  test('[BAK-11] while one restore is under way another is refused, and no server starts', onPostgres, async () => {
    const target = await newPlace(true);
    const config = inspectConfig(variablesOf(target));
    const holder = await openUnmigrated(config, log);
    ends.push(() => holder.close());
    await withRestoreLock(holder, async (assertHeld) => {
      await assert.rejects(openDatabase(config, log), /A restore into this database is under way: [^.]+\.$/);
      await assert.rejects(
        restore(variablesOf(target), { path: archive, passphrase, progress }),
        /Another restore into this database is under way, [^.]+\.$/,
      );
      await assertHeld();
    });
    const db = await openDatabase(config, log);
    await db.close();
  });
});

test('[BAK-11] a restore that lost its lock drops nothing', onPostgres, async () => {
  const target = await newPlace(true);
  const config = inspectConfig(variablesOf(target));
  const [holder, other] = [await openUnmigrated(config, log), await openUnmigrated(config, log)];
  ends.push(
    () => holder.close(),
    () => other.close(),
  );
  const restoring = withRestoreLock(holder, async (assertHeld) => {
    await other.query(sql`select pg_terminate_backend(pid) as done from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    await assert.rejects(assertHeld());
    throw new Error('of the restore itself');
  });
  await assert.rejects(restoring, { message: 'of the restore itself' });
});

const noSecrets = { is: 'secrets', values: {}, devEnv: null } as const;

test('[BAK-6] an archive of a newer schema is refused with one sentence', async () => {
  const path = newFile();
  const schema = [{ version: 9999, name: '9999_future', checksum: '' }];
  await writeArchive(
    {
      snapshot: (write) => write({ is: 'snapshot', database: 'embedded', schema, tables: [] }),
      blobs: null,
      secrets: noSecrets,
    },
    { path, passphrase: null, version: '9.0.0', createdAt: '', progress },
  );
  const target = await newPlace();
  await assert.rejects(
    restore(variablesOf(target), { path, passphrase: null, progress }),
    /^MigrationRefused: The data is of a newer version of Parley \(it has migration 9999_future\): [^.]+\.$/,
  );
  assert.equal(existsSync(target.dataDir), false);
});

test('[BAK-7] files come from the bucket too; one that the store lacks is named, not fatal', async () => {
  const s3 = await startS3Server();
  ends.push(() => s3.close());
  const bucket = createS3Blobs(s3.options);
  await bucket.write('chat/a', Readable.from(['content of a']), 12);
  const columns = ['blob_key', 'status'];
  const rows = [
    ['chat/a', 'ATTACHED'],
    ['chat/gone', 'UPLOADED'],
    ['chat/pending', 'PENDING'],
  ];
  const path = newFile();
  const written = await writeArchive(
    {
      async snapshot(write) {
        const tables = [{ name: 'attachments', columns }];
        await write({ is: 'snapshot', database: 'embedded', schema: [], tables });
        await write(
          { is: 'rows', table: 'attachments', count: 3 },
          Buffer.from(rows.map((row) => JSON.stringify(row)).join()),
        );
      },
      blobs: bucket,
      secrets: noSecrets,
    },
    { path, passphrase: null, version: '', createdAt: '', progress },
  );
  assert.deepEqual(written.missing, ['chat/gone']);
  assert.deepEqual(written.manifest.files, { count: 1, bytes: 12 });
  const { manifest } = await verifyArchive({ path, passphrase: null }, progress);
  assert.deepEqual(manifest, written.manifest);
});
