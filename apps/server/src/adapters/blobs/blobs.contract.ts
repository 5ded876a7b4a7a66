import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { BlobSizeMismatch, type Blobs } from '../../core/ports.ts';

export function blobsContract(name: string, open: () => Promise<{ blobs: Blobs; close(): Promise<void> }>): void {
  let blobs: Blobs;
  let close: () => Promise<void>;
  before(async () => {
    ({ blobs, close } = await open());
  });
  after(() => close());

  const streamOf = (...chunks: (string | Buffer)[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const contentOf = async (key: string) => {
    const content = await blobs.read(key);
    return content && (await buffer(content));
  };

  test(`[BLB-1] ${name}: what was written is read again, and replaces what was there`, async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
    await blobs.write('a/b-1/c_2', streamOf(bytes.subarray(0, 7), bytes.subarray(7)), bytes.length);
    assert.deepEqual(await contentOf('a/b-1/c_2'), bytes);
    await blobs.write('a/b-1/c_2', streamOf('short'), 5);
    assert.equal(String(await contentOf('a/b-1/c_2')), 'short');
    await blobs.write('empty', streamOf(), 0);
    assert.equal((await contentOf('empty'))?.length, 0);
  });

  test(`[BLB-1] ${name}: stat gives the size and the hash`, async () => {
    await blobs.write('stat', streamOf('hello'), 5);
    const found = await blobs.stat('stat');
    assert.equal(found?.size, 5);
    const hash = `sha256:${createHash('sha256').update('hello').digest('hex')}`;
    assert.equal(found?.checksum, hash);
    await blobs.copy('stat', 'stat-copy');
    assert.deepEqual(await blobs.stat('stat-copy'), found);
    assert.equal(await blobs.stat('nothing/here'), null);
  });

  test(`[BLB-1] ${name}: what is not there is null, and deleting it is no fault`, async () => {
    await blobs.write('gone', streamOf('x'), 1);
    await blobs.delete('gone');
    await blobs.delete('gone');
    assert.equal(await blobs.read('gone'), null);
    assert.equal(await blobs.stat('gone'), null);
  });

  test(`[BLB-1] ${name}: a copy is an object of its own`, async () => {
    await blobs.write('source', streamOf('first'), 5);
    assert.equal(await blobs.copy('source', 'copy/1'), true);
    await blobs.write('source', streamOf('later'), 5);
    assert.equal(String(await contentOf('copy/1')), 'first');
    assert.equal(await blobs.copy('nothing/here', 'copy/2'), false);
    assert.equal(await blobs.stat('copy/2'), null);
  });

  test(`[BLB-2] ${name}: too few or too many bytes store nothing, and leave what was there`, async () => {
    await blobs.write('kept', streamOf('old'), 3);
    for (const key of ['kept', 'new']) {
      await assert.rejects(blobs.write(key, streamOf('12', '34'), 5), BlobSizeMismatch);
      await assert.rejects(blobs.write(key, streamOf('12', '345', '6'), 5), BlobSizeMismatch);
      await assert.rejects(blobs.write(key, streamOf('12345', '6'), 5), BlobSizeMismatch);
      await assert.rejects(blobs.write(key, streamOf('123456'), 5), BlobSizeMismatch);
    }
    assert.equal(String(await contentOf('kept')), 'old');
    assert.equal(await blobs.stat('new'), null);
  });

  test(`[BLB-2] ${name}: a sender that breaks off stores nothing`, async () => {
    const broken = new Error('the client went away');
    const content = Readable.from(
      (async function* () {
        yield Buffer.from('12');
        throw broken;
      })(),
    );
    await assert.rejects(blobs.write('broken', content, 5));
    assert.equal(await blobs.stat('broken'), null);
  });

  test(`[BLB-2] ${name}: a sender that breaks off at once stores nothing, and ends nobody`, async () => {
    const content = new PassThrough();
    const written = blobs.write('broken', content, 5);
    content.destroy(new Error('the client went away'));
    await assert.rejects(written);
    assert.equal(await blobs.stat('broken'), null);
  });

  test(`[BLB-3] ${name}: a key that is not one of ours is refused everywhere`, async () => {
    for (const key of [
      '../out',
      'a/../../out',
      '/etc/passwd',
      'a//b',
      'a.txt',
      'A',
      '',
      'a/',
      'a\\b',
      'a\0b',
      'ä',
      '.parts/x',
    ]) {
      await assert.rejects(blobs.write(key, streamOf('x'), 1), /not a blob key/, key);
      await assert.rejects(async () => blobs.read(key), /not a blob key/, key);
      await assert.rejects(async () => blobs.stat(key), /not a blob key/, key);
      await assert.rejects(async () => blobs.delete(key), /not a blob key/, key);
    }
  });

  test(`[BLB-4] ${name}: many writers of one key leave one whole object`, async () => {
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map((text) => blobs.write('race', streamOf(text.slice(0, 5), text.slice(5)), text.length)));
    assert.ok(texts.includes(String(await contentOf('race'))));
  });

  test(`[BLB-5] ${name}: ping measures the way to the store`, async () => {
    assert.ok((await blobs.ping()) >= 0);
  });
}
