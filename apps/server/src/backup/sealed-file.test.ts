import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeSealed } from './sealed-file.ts';

const slowMs = 50;

test('[BAK-5] what is cut short before its file is open leaves none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sealed-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const open = fs.open.bind(fs) as (...args: unknown[]) => void;
  t.mock.method(fs, 'open', (...args: unknown[]) => void setTimeout(open, slowMs, ...args));
  await assert.rejects(
    writeSealed(join(folder, 'archive'), null, () => Promise.reject(new Error('cut'))),
    /cut/,
  );
  await sleep(2 * slowMs);
  assert.deepEqual(await readdir(folder), []);
});
