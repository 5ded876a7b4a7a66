import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { killRepeatedly, killsInSuite } from '../../../../testkit/proofs/killed-writer.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { migrate, readMigrations, serverMigrations } from '../shared/migrate.ts';
import { beginEmbedded, openEmbedded } from './embedded.ts';
import { DataFolderLocked } from './folder-lock.ts';
import { prepareTemplates } from './prepare-templates.ts';
import { migratedTemplate } from './template.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-embedded-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** It looks like a database, so that none is made in its place, and does not open. */
function putNoDatabase(data: string): void {
  mkdirSync(data);
  writeFileSync(join(data, 'PG_VERSION'), 'none');
}

const sleepFor = (seconds: number) => sql`select pg_sleep(${seconds}::float8)`;
/** Holds the engine, which spins meanwhile: a second of it is a second of CPU. */
const frozen = sleepFor(3_600);

test('[STO-1] [STO-2] embedded: a process killed again and again while it writes loses no acknowledged row and leaves no half; a second one on its folder refuses in one sentence, and the first goes on', async (t) => {
  const folder = newFolder(t);
  let refusals = 0;
  await killRepeatedly(folder, killsInSuite, async ({ stored }) => {
    await assert.rejects(openEmbedded({ folder }), (error) => {
      assert.ok(error instanceof DataFolderLocked);
      assert.match(error.message, /^The data folder \S+ is in use by another Parley process: [^.]+\.$/);
      return true;
    });
    const before = stored.length;
    await eventually(() => assert.ok(stored.length > before + 20));
    refusals++;
  });
  assert.equal(refusals, killsInSuite + 1);
});

test('[STO-2] [STO-8] embedded: one that still opens answers "unavailable" and has its folder to itself; one that did not open, or is closed, leaves it free', async (t) => {
  const folder = newFolder(t);
  const data = join(folder, 'postgres');
  putNoDatabase(data);
  await assert.rejects(openEmbedded({ folder }));
  rmSync(data, { recursive: true });
  const first = beginEmbedded({ folder });
  await assert.rejects(first.query(sql`select 1`), DatabaseUnavailable);
  await assert.rejects(openEmbedded({ folder }), DataFolderLocked);
  await first.opened;
  assert.deepEqual(await first.query(sql`select 1 as one`), [{ one: 1 }]);
  await first.close();
  const second = beginEmbedded({ folder });
  await second.close();
  await assert.rejects(second.query(sql`select 1`), DatabaseUnavailable);
  await (await openEmbedded({ folder })).close();
});

test('[STO-2] embedded: closing waits for an engine that is starting again, and may be said twice', async (t) => {
  const folder = newFolder(t);
  const db = await openEmbedded({ folder, statementTimeoutMs: 100 });
  await assert.rejects(db.query(frozen), DatabaseUnavailable);
  await sleep(600);
  await Promise.all([db.close(), db.close()]);
  await (await openEmbedded({ folder })).close();
});

const hasTable = sql`select to_regclass('of_the_template') is not null as has`;

/** To make one where no template is any good takes seconds: tools/proof/broken-template.ts. */
test('[STO-14] embedded: a new folder is a copy of the first template that is one; later it is its own', async (t) => {
  const [first, second] = [newFolder(t), newFolder(t)];
  const made = await openEmbedded({ folder: first });
  await made.script('create table of_the_template (id text)');
  await made.close();
  const [text, half] = [join(second, 'text'), join(second, 'half')];
  writeFileSync(text, 'no database');
  cpSync(join(first, 'postgres'), half, { recursive: true });
  rmSync(join(half, 'global'), { recursive: true });
  const templates = [join(first, 'none'), text, half, join(first, 'postgres')];
  for (const has of [true, false]) {
    const copy = await openEmbedded({ folder: second, templates });
    assert.deepEqual(await copy.query(hasTable), [{ has }]);
    await copy.script('drop table if exists of_the_template');
    await copy.close();
  }
});

test('[STO-14] embedded: the prepared template lacks no migration', async (t) => {
  await prepareTemplates();
  const templates = [migratedTemplate(readMigrations(serverMigrations))];
  const db = await openEmbedded({ folder: newFolder(t), templates });
  t.after(() => db.close());
  const [found] = await db.query<{ has: boolean }>(sql`select to_regclass('messages') is not null as has`);
  assert.equal(found?.has, true);
  assert.deepEqual(await migrate(db, serverMigrations), { applied: [] });
});

test('[STO-14] embedded: a prepared template is world-readable, and only its owner may write it', async () => {
  await prepareTemplates();
  const template = migratedTemplate(readMigrations(serverMigrations));
  const modes = readdirSync(template, { recursive: true, withFileTypes: true }).map((entry) => {
    const { mode } = statSync(join(entry.parentPath, entry.name));
    return `${entry.isDirectory() ? 'folder' : 'file'} ${(mode & 0o777).toString(8)}`;
  });
  assert.deepEqual([...new Set(modes)].sort(), ['file 644', 'folder 755']);
});

test('[STO-9] embedded: an engine that freezes is unavailable, and comes back with what was committed', async (t) => {
  const db = await openEmbedded({ folder: newFolder(t), statementTimeoutMs: 1_500 });
  t.after(() => db.close());
  await db.script('create table kept (id integer primary key);');
  await db.execute(sql`insert into kept values (1)`);
  const inTransaction = db.transaction(async (tx) => {
    await tx.execute(sql`insert into kept values (2)`);
    await tx.query(frozen).catch(() => {});
    // The engine is a new one by now, or not there yet: this must not be written outside of the transaction.
    await tx.execute(sql`insert into kept values (3)`);
  });
  const waiting = db.query(sql`select id from kept`);
  await assert.rejects(inTransaction, DatabaseUnavailable);
  await waiting.catch((error) => assert.ok(error instanceof DatabaseUnavailable));
  const rows = await eventually(() => db.query(sql`select id from kept order by id`), { withinMs: 60_000 });
  assert.deepEqual(rows, [{ id: 1 }]);
});

test('[STO-17] embedded: an engine that stops is reported with its cause, ever longer waits and its return', async (t) => {
  const lines: { message: string; error: unknown; restartInMs?: number }[] = [];
  const note = (fields: object, message: string) => void lines.push({ error: null, ...fields, message });
  const folder = newFolder(t);
  const db = await openEmbedded({
    folder,
    statementTimeoutMs: 1_000,
    log: { debug: note, info: note, warn: note, error: note },
  });
  t.after(() => db.close());
  // What the statement needs is in memory from here on.
  await db.query(sleepFor(0));
  const data = join(folder, 'postgres');
  renameSync(data, `${data}-away`);
  putNoDatabase(data);
  await assert.rejects(db.query(frozen), DatabaseUnavailable);
  await eventually(() => assert.ok(lines.length >= 3), { withinMs: 60_000 });
  rmSync(data, { recursive: true });
  renameSync(`${data}-away`, data);
  await eventually(() => db.query(sql`select 1`), { withinMs: 60_000 });
  assert.deepEqual(
    lines.slice(0, 3).map(({ restartInMs }) => restartInMs),
    [500, 1_000, 2_000],
  );
  assert.match(String(lines[0]?.error), /more than 1000 ms/);
  assert.ok(lines.slice(0, -1).every(({ message }) => message.includes('stopped and is started again')));
  assert.equal(lines.at(-1)?.message, 'the embedded database runs again');
});

test('[STO-11] embedded: when the disk is nearly full writes are unavailable and reads go on', async (t) => {
  const folder = newFolder(t);
  const roomy = await openEmbedded({ folder });
  await roomy.script('create table kept (id integer primary key); insert into kept values (1);');
  await roomy.close();
  const db = await openEmbedded({ folder, freeBytesMin: Number.MAX_SAFE_INTEGER });
  t.after(() => db.close());
  await assert.rejects(db.execute(sql`insert into kept values (2)`), DatabaseUnavailable);
  await assert.rejects(
    db.transaction((tx) => tx.execute(sql`insert into kept values (3)`)),
    DatabaseUnavailable,
  );
  assert.deepEqual(await db.query(sql`select id from kept`), [{ id: 1 }]);
});

test('[STO-12] embedded: checkpoints and analyze run by themselves', async (t) => {
  const db = await openEmbedded({ folder: newFolder(t) });
  t.after(() => db.close());
  await db.script('create table rows (id integer primary key);');
  const logEnd = sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`;
  const [before] = await db.query<{ bytes: number }>(logEnd);
  await db.execute(sql`insert into rows select i from generate_series(1, 1000) i`);
  // What only fills the log.
  await db.query(sql`select pg_logical_emit_message(false, 'fill', repeat('x', 1000000)) from generate_series(1, 18)`);
  const [after] = await db.query<{ bytes: number }>(logEnd);
  assert.ok((after?.bytes ?? 0) - (before?.bytes ?? 0) > 16 * 1024 * 1024);
  const patience = { withinMs: 60_000, everyMs: 1_000 };
  await eventually(async () => {
    const [now] = await db.query<{ bytes: number }>(
      sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`,
    );
    assert.ok((now?.bytes ?? 0) < 1024 * 1024);
  }, patience);
  await eventually(async () => {
    const [table] = await db.query<{ at: string | null }>(sql`select last_analyze as at from pg_stat_user_tables`);
    assert.ok(table?.at);
  }, patience);
});
