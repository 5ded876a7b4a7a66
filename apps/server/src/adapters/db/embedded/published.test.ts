/** What only a published package, or an older Node, needs of the embedded database. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataFolderLocked, lockByProcess } from './folder-lock.ts';
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

test('[PKG-7] without SQLite a data folder is locked by its process, and free once that has ended', (t) => {
  const folder = newFolder(t);
  const { release } = lockByProcess(folder);
  assert.throws(() => lockByProcess(folder), DataFolderLocked);
  release();
  // Beyond the highest number that Linux gives.
  writeFileSync(join(folder, 'lock-pid'), '99999999');
  lockByProcess(folder).release();
});
