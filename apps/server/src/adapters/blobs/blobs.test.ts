import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { suite, type TestContext, test } from 'node:test';
import { startS3Server } from '../../../testkit/peers/s3-server.ts';
import { BlobsFull, BlobsUnavailable } from '../../core/ports.ts';
import { blobsContract } from './blobs.contract.ts';
import { createFolderBlobs } from './folder.ts';
import { createS3Blobs, type S3Options } from './s3.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'parley-blobs-'));
const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });

function testFolder(t: TestContext): string {
  const folder = newFolder();
  t.after(() => remove(folder));
  return folder;
}

suite('folder', () =>
  blobsContract('folder', async () => {
    const folder = newFolder();
    return { blobs: createFolderBlobs(folder), close: async () => remove(folder) };
  }));

suite('s3', () =>
  blobsContract('s3', async () => {
    const { options, close } = await startS3Server();
    return { blobs: createS3Blobs(options), close };
  }));

suite('s3 that keeps checksums', () =>
  blobsContract('s3 that keeps checksums', async () => {
    const { options, close } = await startS3Server({ checksums: 'kept' });
    return { blobs: createS3Blobs(options), close };
  }));

const streamOf = (text: string) => Readable.from([Buffer.from(text)]);

test('[BLB-3] folder: files are for this user only, and no link leads out or in', async (t) => {
  const folder = testFolder(t);
  const outside = testFolder(t);
  writeFileSync(join(outside, 'secret'), 'secret');
  const blobs = createFolderBlobs(folder);
  await blobs.write('a/file', streamOf('x'), 1);
  assert.equal(statSync(join(folder, 'a/file')).mode & 0o777, 0o600);

  symlinkSync(join(outside, 'secret'), join(folder, 'link'));
  assert.equal(await blobs.read('link'), null);
  assert.equal(await blobs.stat('link'), null);
  await blobs.write('link', streamOf('mine'), 4);
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');

  symlinkSync(outside, join(folder, 'elsewhere'));
  await assert.rejects(blobs.read('elsewhere/secret'), /leads out/);
  await assert.rejects(blobs.write('elsewhere/new', streamOf('x'), 1), /leads out/);
  assert.equal(existsSync(join(outside, 'new')), false);
});

test('[BLB-2] folder: nothing unfinished stays, and what a killed process left goes after a day', async (t) => {
  const folder = testFolder(t);
  mkdirSync(join(folder, '.parts'));
  writeFileSync(join(folder, '.parts/old'), 'x');
  utimesSync(join(folder, '.parts/old'), 1, 1);
  writeFileSync(join(folder, '.parts/young'), 'x');
  const blobs = createFolderBlobs(folder);
  await assert.rejects(blobs.write('a', streamOf('too much'), 1));
  assert.deepEqual(readdirSync(join(folder, '.parts')), ['young']);
});

test('[BLB-5] folder: one that cannot be is unavailable', async (t) => {
  const file = join(testFolder(t), 'file');
  writeFileSync(file, '');
  const blobs = createFolderBlobs(join(file, 'blobs'));
  await assert.rejects(blobs.ping(), BlobsUnavailable);
  await assert.rejects(blobs.write('a', streamOf('x'), 1), BlobsUnavailable);
});

test('[BLB-5] folder: a full disk is unavailable, and nothing is left of the write', async (t) => {
  const folder = newFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
  t.after(() => {
    spawnSync('umount', [folder]);
    remove(folder);
  });
  if (mounted.status !== 0) return t.skip('no right to mount a small disk');
  const blobs = createFolderBlobs(folder);
  await blobs.write('kept', streamOf('x'), 1);
  const size = 4 * 1024 * 1024;
  await assert.rejects(blobs.write('large', Readable.from([Buffer.alloc(size)]), size), BlobsUnavailable);
  assert.equal(await blobs.stat('large'), null);
  assert.deepEqual(readdirSync(join(folder, '.parts')), []);
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(1_200_000));
  await assert.rejects(blobs.ping(), BlobsFull);
  assert.equal((await blobs.stat('kept'))?.size, 1);
});

test('[BLB-6] s3: a signed upload takes the declared size and type only', async (t) => {
  const { options, close } = await startS3Server();
  t.after(close);
  const blobs = createS3Blobs(options);
  const upload = await blobs.presignUpload('up/1', { contentType: 'image/png', size: 5, expiresInSeconds: 900 });
  assert.ok(upload);
  assert.equal(upload.method, 'PUT');
  assert.match(upload.url, /X-Amz-Expires=900/);
  const send = (body: string, headers: Record<string, string>) => fetch(upload.url, { method: 'PUT', body, headers });
  assert.equal((await send('12345', { 'content-type': 'text/html' })).status, 403);
  assert.equal((await send('123456', { 'content-type': 'image/png' })).status, 403);
  assert.equal(await blobs.stat('up/1'), null);
  assert.equal((await send('12345', { 'content-type': 'image/png' })).status, 200);
  assert.equal((await blobs.stat('up/1'))?.size, 5);
  const otherKey = upload.url.replace('/up/1', '/up/2');
  assert.equal((await fetch(otherKey, { method: 'PUT', body: '12345', headers: upload.headers })).status, 403);
});

test('[BLB-6] s3: a signed download names the file and how to show it, and cannot be changed', async (t) => {
  const { options, close } = await startS3Server();
  t.after(close);
  const blobs = createS3Blobs(options);
  await blobs.write('down', streamOf('hello'), 5);
  const download = await blobs.presignDownload('down', {
    filename: 'Übersicht "1".txt',
    contentType: 'text/plain',
    isInline: false,
    expiresInSeconds: 60,
  });
  assert.ok(download);
  const response = await fetch(download.url);
  assert.equal(await response.text(), 'hello');
  assert.equal(response.headers.get('content-type'), 'text/plain');
  assert.equal(
    response.headers.get('content-disposition'),
    `attachment; filename="?bersicht \\"1\\".txt"; filename*=UTF-8''%C3%9Cbersicht%20%221%22.txt`,
  );
  assert.equal((await fetch(download.url.replace('attachment', 'inline'))).status, 403);
});

test('[BLB-7] s3: the hash of a copy comes from the store; where it keeps none the object is read', async (t) => {
  for (const [checksums, reads] of [
    ['kept', 0],
    ['ignored', 1],
    ['refused', 1],
  ] as const) {
    const { options, asked, close } = await startS3Server({ checksums });
    t.after(close);
    const blobs = createS3Blobs(options);
    const upload = await blobs.presignUpload('up', { contentType: 'text/plain', size: 5, expiresInSeconds: 60 });
    await fetch(upload?.url ?? '', { method: 'PUT', body: 'hello', headers: { 'content-type': 'text/plain' } });
    assert.equal(await blobs.copy('up', 'copy'), true);
    assert.equal(await blobs.copy('nothing', 'copy/2'), false);
    assert.deepEqual(await blobs.stat('copy'), {
      size: 5,
      checksum: `sha256:${createHash('sha256').update('hello').digest('hex')}`,
    });
    assert.equal(asked.filter((method) => method === 'GET').length, reads, checksums);
  }
});

test('[BLB-5] s3: a request that meets the end of an idle connection is sent once more', async (t) => {
  const { options, close, hangUp } = await startS3Server();
  t.after(close);
  const blobs = createS3Blobs(options);
  await blobs.write('a/file', streamOf('hello'), 5);
  hangUp(1);
  assert.equal((await blobs.stat('a/file'))?.size, 5);
  hangUp(1);
  assert.equal(await blobs.copy('a/file', 'a/copy'), true);
  hangUp(2);
  await assert.rejects(blobs.stat('a/copy'), BlobsUnavailable);
});

test('[BLB-5] s3: a store that is gone, refuses the key or has no such bucket is unavailable', async (t) => {
  const { options, close } = await startS3Server();
  t.after(close);
  const broken: S3Options[] = [
    { ...options, endpoint: 'http://127.0.0.1:1' },
    { ...options, secretAccessKey: 'wrong' },
    { ...options, bucket: 'missing' },
  ];
  for (const each of broken) {
    const blobs = createS3Blobs(each);
    await assert.rejects(blobs.ping(), BlobsUnavailable);
    await assert.rejects(blobs.write('a', streamOf('x'), 1), BlobsUnavailable);
  }
});
