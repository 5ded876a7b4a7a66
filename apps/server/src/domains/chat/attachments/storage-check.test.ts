import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { createFolderBlobs } from '../../../adapters/blobs/folder.ts';
import { BlobsFull, BlobsUnavailable } from '../../../core/ports.ts';
import { createStorageCheck } from './storage-check.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'parley-storage-'));

test('[ATT-8] one look at the store answers for two seconds, whatever it saw', async (t) => {
  const parent = newFolder();
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'blobs');
  const clock = createFakeClock();
  const check = createStorageCheck({ blobs: createFolderBlobs(folder), clock });
  await check('write');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await clock.advance(1_999);
  await check('read');
  await clock.advance(1);
  await assert.rejects(check('read'), BlobsUnavailable);
  rmSync(folder);
  await assert.rejects(check('write'), BlobsUnavailable);
  await clock.advance(2_000);
  await check('write');
});

test('[ATT-8] a full store is there for those who read', async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  const full = { ...createFolderBlobs(folder), ping: () => Promise.reject(new BlobsFull('full')) };
  const check = createStorageCheck({ blobs: full, clock: createFakeClock() });
  await check('read');
  await assert.rejects(check('write'), BlobsFull);
});
