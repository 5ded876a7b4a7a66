/** What only a published package, or an older Node, needs of the embedded database. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataFolderLocked, lockFolder } from './folder-lock.ts';
import { takeAway } from './process-lock.ts';
import { packTemplate, unpackShipped } from './shipped-template.ts';

function newFolder(t: { after(run: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-published-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('[PKG-6] a shipped template is unpacked once, empty folders and all', (t) => {
  const folder = newFolder(t);
  const made = join(folder, 'template-x');
  mkdirSync(join(made, 'base', 'empty'), { recursive: true });
  writeFileSync(join(made, 'PG_VERSION'), '18\n');
  writeFileSync(join(made, 'base', '1'), Buffer.from([0, 10, 255]));
  const { name, content } = packTemplate(made);
  const shipped = join(folder, 'shipped');
  mkdirSync(shipped);
  writeFileSync(join(shipped, name), content);

  const target = join(folder, 'cache', 'template-x');
  unpackShipped(target, shipped);
  assert.deepEqual(readdirSync(target, { recursive: true }).sort(), ['PG_VERSION', 'base', 'base/1', 'base/empty']);
  assert.deepEqual(readFileSync(join(target, 'base', '1')), Buffer.from([0, 10, 255]));

  writeFileSync(join(target, 'PG_VERSION'), 'kept');
  unpackShipped(target, shipped);
  assert.equal(readFileSync(join(target, 'PG_VERSION'), 'utf8'), 'kept');
});

test('[PKG-6] without a shipped template, or where it is damaged, nothing is left behind', (t) => {
  const folder = newFolder(t);
  unpackShipped(join(folder, 'template-x'), folder);
  writeFileSync(join(folder, 'template-y.gz'), 'not compressed');
  unpackShipped(join(folder, 'template-y'), folder);
  assert.deepEqual(readdirSync(folder), ['template-y.gz']);
});

/** As on Node 20. */
const lockWithoutSqlite = (folder: string) => lockFolder(folder, null);

test('[PKG-7] without SQLite a data folder is locked by its process, and free once that has ended', (t) => {
  const folder = newFolder(t);
  const path = join(folder, 'lock-pid');
  const { release } = lockWithoutSqlite(folder);
  assert.throws(() => lockWithoutSqlite(folder), DataFolderLocked);
  release();
  for (const stale of [
    '99999999', // beyond the highest number that Linux gives
    String(process.pid), // of this number before us, as in a container that was started again
    `${process.pid} 1 process`,
    ...(existsSync('/proc/self/stat') ? [`${process.ppid} 1 process`] : []), // the number of another by now
  ]) {
    writeFileSync(path, stale);
    lockWithoutSqlite(folder).release();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name !== 'lock'),
      [],
    );
  }
  writeFileSync(path, String(process.ppid));
  assert.throws(() => lockWithoutSqlite(folder), DataFolderLocked, 'as the version before wrote it');
});

test('[PKG-7] of two that find a stale lock one takes it', (t) => {
  const folder = newFolder(t);
  const path = join(folder, 'lock-pid');
  writeFileSync(path, `${process.ppid} - process`);
  // Between the look of the other and its move somebody was first.
  assert.equal(takeAway(path, '99999999'), false);
  assert.equal(readFileSync(path, 'utf8'), `${process.ppid} - process`);
  assert.equal(takeAway(path, `${process.ppid} - process`), true);
  assert.deepEqual(readdirSync(folder), []);
});

test('[PKG-7] with and without SQLite they exclude each other', (t) => {
  const folder = newFolder(t);
  for (const [first, second] of [
    [lockFolder, lockWithoutSqlite],
    [lockWithoutSqlite, lockFolder],
  ] as const) {
    const { release } = first(folder);
    assert.throws(() => second(folder), DataFolderLocked);
    release();
    second(folder).release();
  }
  // One with SQLite that was killed: its lock is gone, even if another process has its number.
  writeFileSync(join(folder, 'lock-pid'), `${process.ppid} - system`);
  lockFolder(folder).release();
});
