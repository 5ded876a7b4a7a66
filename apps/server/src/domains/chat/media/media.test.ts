import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio } from 'thumbhash';
import { assertRefused, type ChatOf, type ChatUser, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { systemClock } from '../../../core/clock.ts';
import { sql } from '../../../core/sql.ts';
import { createMediaProcessor } from './processor.ts';

let service: TestService;
let chat: ChatOf;
let alice: ChatUser;
let room: string;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
  alice = await chat.user('alice');
  room = (await chat.conversation()).id;
});

const here = (url: string): string => url.replace(/^https?:\/\/[^/]+/, service.url);
const look = () => service.service.chat.sweep.media();

async function upload(mimeType: string, bytes: Buffer, more: { waveform?: number[] } = {}): Promise<string> {
  const body = { filename: 'a file.bin', mimeType, size: bytes.length, ...more };
  const { attachment, uploadUrl } = await alice.api.call('requestAttachment', { room, body });
  const put = await fetch(here(uploadUrl), {
    method: 'PUT',
    headers: { 'content-type': mimeType },
    body: bytes as BodyInit,
  });
  assert.equal(put.status, 204);
  const done = await alice.api.call('completeAttachment', { attachmentId: attachment.id });
  return done.id;
}

const send = (attachmentId: string) => alice.api.call('sendMessage', { room, body: { attachmentId } });

/** A half red, half blue picture, turned as a camera held upright notes it, with a place in its EXIF. */
const photo = () =>
  sharp({ create: { width: 1200, height: 600, channels: 3, background: '#cc2222' } })
    .composite([
      { input: { create: { width: 600, height: 600, channels: 3, background: '#2222cc' } }, left: 0, top: 0 },
    ])
    .withExif({ IFD0: { Copyright: 'A Secret Name' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();

function wav(samples: readonly number[], rate = 8_000): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length * 2, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length * 2, 40);
  const data = Buffer.alloc(samples.length * 2);
  for (const [at, sample] of samples.entries()) data.writeInt16LE(sample, at * 2);
  return Buffer.concat([head, data]);
}

function crc(bytes: Buffer): number {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}

/** A PNG whose header promises so many pixels; its data are a few bytes. */
function bomb(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const [length, body, sum] = [Buffer.alloc(4), Buffer.concat([Buffer.from(type), data]), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(Buffer.alloc(1 << 20));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

test('[ATT-12] a picture gets width, height, thumbhash and sizes after its upload, told by a change of its message', async () => {
  const id = await upload('image/jpeg', await photo());
  const sent = await send(id);
  await look();
  // Whether it was read before or after the send is chance: once more, surely after it.
  await service.adapters.db.execute(
    sql`update attachments set media = null, media_due_at = now() - interval '1 second', media_tries = 0
      where id = ${id}`,
  );
  await look();
  const { changes } = await alice.api.call('listChanges', { room, query: {} });
  assert.equal(changes.at(-1)?.type, 'message.updated');
  assert.deepEqual(
    changes.map(({ change }) => change),
    Array.from(changes, (_, at) => at + 1),
  );
  const message = await alice.api.call('getMessage', { messageId: sent.id });
  const media = message.attachment?.media ?? assert.fail();
  assert.deepEqual([media.kind, media.width, media.height, media.animated], ['image', 600, 1200, false]);
  assert.deepEqual(
    media.sizes?.map(({ size, width, height }) => [size, width, height]),
    [
      [320, 160, 320],
      [960, 480, 960],
    ],
  );
  assert.deepEqual([message.edited, message.attachments?.[0]?.media], [false, media]);
  const ratio = thumbHashToApproximateAspectRatio(Buffer.from(media.thumbhash ?? '', 'base64'));
  assert.ok(Math.abs(ratio - 0.5) < 0.1, String(ratio));

  for (const [asked, width] of [
    [100, 160],
    [320, 160],
    [500, 480],
  ] as const) {
    const link = await alice.api.call('getAttachmentDownload', { attachmentId: id, query: { size: asked } });
    assert.deepEqual([link.mimeType, link.filename], ['image/webp', 'a file.webp']);
    const answer = await fetch(here(link.url));
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.deepEqual([answer.headers.get('content-type'), bytes.length], ['image/webp', link.size]);
    const found = await sharp(bytes).metadata();
    assert.deepEqual([found.width, found.exif, found.orientation], [width, undefined, undefined]);
    assert.equal(bytes.includes('Secret'), false);
    // The form is signed too.
    const other = here(link.url).replace(/&as=\d+/, '');
    assert.equal((await fetch(other)).status, 403);
    assert.equal((await fetch(`${other}&as=scan`)).status, 403);
  }
  const whole = await alice.api.call('getAttachmentDownload', { attachmentId: id, query: { size: 5_000 } });
  assert.equal(whole.mimeType, 'image/jpeg');

  await alice.api.call('deleteMessage', { messageId: sent.id });
  // What has ended in this millisecond is taken in a later one, and what the chore has taken goes when it is through.
  await eventually(async () => {
    await service.service.chat.sweep.attachments();
    for (const size of [320, 960]) assert.equal(await service.adapters.blobs.stat(`chat/${id}/s${size}`), null);
  });
});

test('[ATT-12] a picture that is small, animated or of another kind is read; what cannot be is kept as it is', async () => {
  const small = sharp({ create: { width: 40, height: 20, channels: 4, background: '#00ff0080' } });
  const frames = Buffer.concat([Buffer.alloc(20 * 20 * 3, 120), Buffer.alloc(20 * 20 * 3, 240)]);
  const animated = await sharp(frames, { raw: { width: 20, height: 40, channels: 3, pageHeight: 20 } })
    .gif({ delay: [100, 100], loop: 0 })
    .toBuffer();
  const noisy = await sharp({
    create: {
      width: 900,
      height: 900,
      channels: 3,
      background: 'red',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .jpeg()
    .toBuffer();
  const files: [string, Buffer, unknown][] = [
    ['image/png', await small.clone().png().toBuffer(), [40, 20, false, 1]],
    ['image/webp', await small.clone().webp().toBuffer(), [40, 20, false, 1]],
    ['image/avif', await small.clone().avif({ effort: 0 }).toBuffer(), [40, 20, false, 1]],
    ['image/gif', animated, [20, 20, true, 1]],
    // A wrong type is what its bytes are.
    ['image/png', noisy, [900, 900, false, 2]],
    ['image/png', bomb(50_000, 50_000), null],
    ['image/png', bomb(6_000, 6_000), null],
    ['image/jpeg', noisy.subarray(0, noisy.length / 3), null],
    ['image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), null],
    ['image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), null],
    ['text/plain', await small.clone().png().toBuffer(), null],
  ];
  const ids: string[] = [];
  for (const [type, bytes] of files) ids.push(await upload(type, bytes));
  await look();
  const shown = await Promise.all(ids.map((attachmentId) => alice.api.call('completeAttachment', { attachmentId })));
  assert.deepEqual(
    shown.map(({ media }) => media && [media.width, media.height, media.animated, media.sizes?.length]),
    files.map(([, , expected]) => expected),
  );
  for (const attachmentId of ids) {
    const { url } = await alice.api.call('getAttachmentDownload', { attachmentId, query: { size: 320 } });
    assert.equal((await fetch(here(url))).status, 200);
  }
  const [waiting] = await service.adapters.db.query(sql`
    select count(*)::int as count from attachments where id = any(${ids}) and media_due_at is not null`);
  assert.deepEqual(waiting, { count: 0 });
});

const soundFolder = new URL('../../../../testkit/chat/sounds/', import.meta.url);
const sound = (name: string): Promise<Buffer> => readFile(new URL(name, soundFolder));

const mediaOf = async (attachmentId: string) => (await alice.api.call('completeAttachment', { attachmentId })).media;

// A second each, its first half soft; the last as Chromium records it, which says no length.
const decoded = [
  ['voice.ogg', 'audio/ogg; codecs=opus', 1_000],
  ['voice.webm', 'audio/webm', 1_000],
  ['voice.mp3', 'audio/mpeg', 1_045],
  ['recorded.webm', 'audio/webm;codecs=opus', 1_200],
] as const;

test('[ATT-13] a sound of a recorder gets its length and its wave', async () => {
  const ids = await Promise.all(decoded.map(async ([name, mimeType]) => upload(mimeType, await sound(name))));
  await look();
  for (const [at, [name, , lengthMs]] of decoded.entries()) {
    const { durationMs, waveform } = (await mediaOf(ids[at] ?? '')) ?? assert.fail(name);
    assert.ok(Math.abs((durationMs ?? 0) - lengthMs) < 20, `${name}: ${durationMs}`);
    assert.equal(waveform?.length, 64, name);
    const [soft, loud] = [waveform?.slice(2, 28), waveform?.slice(36, 62)];
    assert.ok(soft?.every((peak) => peak < 20) && loud?.every((peak) => peak > 70), `${name}: ${waveform}`);
  }
});

test('[ATT-13] what is broken in the middle has a length; of other kinds the wave is the one that came with it', async () => {
  const loud = Array.from({ length: 16_000 }, (_, at) => (at < 8_000 ? 1_000 : 20_000) * (at % 2 ? 1 : -1));
  const id = await upload('audio/wav', wav(loud), { waveform: [1, 2, 3] });
  const aac = await upload('audio/mp4', await sound('voice.m4a'), { waveform: [5, 100] });
  const recorded = await sound('recorded.webm');
  const cut = await upload('audio/webm', Buffer.concat([recorded.subarray(0, 1_500), Buffer.alloc(500, 0xff)]));
  const broken = await upload('audio/ogg; codecs=opus', Buffer.from('OggS nothing'), { waveform: [7] });
  const nothing = await upload('audio/webm', Buffer.from('nothing at all'));
  await look();
  const wave = await mediaOf(id);
  assert.deepEqual([wave?.kind, wave?.durationMs, wave?.waveform?.length], ['audio', 2_000, 64]);
  assert.deepEqual([wave?.waveform?.[0], wave?.waveform?.[63]], [5, 100]);
  const { durationMs, waveform } = (await mediaOf(aac)) ?? assert.fail();
  assert.ok(Math.abs((durationMs ?? 0) - 1_000) < 150, String(durationMs));
  assert.deepEqual(waveform, [5, 100]);
  const half = (await mediaOf(cut)) ?? assert.fail();
  assert.ok((half.durationMs ?? 0) > 400 && (half.durationMs ?? 0) < 1_200, String(half.durationMs));
  assert.deepEqual(await mediaOf(broken), { kind: 'audio', durationMs: null, waveform: [7] });
  assert.equal(await mediaOf(nothing), null);
});

test('[ATT-13] a wave is 1 to 128 numbers from 0 to 100, and of sounds alone', async () => {
  const ask = (mimeType: string, given: number[]) =>
    alice.api.call('requestAttachment', { room, body: { filename: 'a', mimeType, size: 5, waveform: given } });
  for (const given of [[], [101], [-1], [1.5], Array.from({ length: 129 }, () => 1)])
    assert.equal((await refusal(ask('audio/ogg', given))).status, 400);
  await assertRefused(ask('image/png', [1]), 400, 'SVC_VALIDATION_FAILED');
});

test('[ATT-15] a picture that is passed on has what is known of it, and sizes of its own, without being read again', async () => {
  const sent = await send(await upload('image/jpeg', await photo()));
  await look();
  const id = sent.attachmentId ?? '';
  // What reading it again would not find.
  await service.adapters.db.execute(sql`
    update attachments set media = media || '{"width": 601}' where id = ${id} and media is not null`);
  const passOn = async () => {
    const { id: to } = await chat.conversation();
    const copy = await alice.api.call('sendMessage', { room: to, body: { forward: { messageId: sent.id } } });
    await look();
    return copy.attachmentId ?? '';
  };
  const mediaOf = async (attachmentId: string) => (await alice.api.call('completeAttachment', { attachmentId })).media;
  const copy = await passOn();
  assert.equal((await mediaOf(copy))?.width, 601);
  // A size that is lost is made again.
  await service.adapters.db.execute(sql`update attachments set media = null where id = ${copy}`);
  await service.adapters.blobs.delete(`chat/${id}/s320`);
  const second = await passOn();
  assert.equal((await mediaOf(second))?.width, 600);
  await alice.api.call('deleteMessage', { messageId: sent.id });
  await service.service.chat.sweep.attachments();
  for (const size of [320, 960]) {
    const { url } = await alice.api.call('getAttachmentDownload', { attachmentId: second, query: { size } });
    assert.equal((await sharp(Buffer.from(await (await fetch(here(url))).arrayBuffer())).metadata()).height, size);
  }
});

test('[ATT-14] a file whose reading was cut off by a kill is read by another, once', async () => {
  const id = await upload(
    'image/png',
    await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  );
  await look();
  // As a process leaves it that was killed in the middle: claimed, its time run out.
  const leave = (due: string) =>
    service.adapters.db.execute(sql`
      update attachments set media = null, media_due_at = now() + ${due}::interval, media_tries = 1 where id = ${id}`);
  const mediaOf = async () => (await alice.api.call('completeAttachment', { attachmentId: id })).media;
  await leave('1 hour');
  await look();
  assert.equal(await mediaOf(), null);
  await leave('-1 second');
  await Promise.all([look(), look()]);
  assert.equal((await mediaOf())?.width, 8);
  const [row] = await service.adapters.db.query(sql`select media_tries as tries from attachments where id = ${id}`);
  assert.deepEqual(row, { tries: 2 });
});

const folder = mkdtemp(join(tmpdir(), 'parley-media-'));
after(async () => rm(await folder, { recursive: true }));

test('[ATT-14] the process that reads files may end or hang: the next file is read', async (t) => {
  const path = join(await folder, 'process.mjs');
  await writeFile(
    path,
    `let bytes = '';
     process.on('message', (m) => {
       if (m.is === 'bytes') bytes += Buffer.from(m.bytes);
       if (m.is !== 'end') return;
       if (bytes === 'abort') process.abort();
       if (process.env.SECRET_KEY) process.exit(1);
       process.send({ is: 'unreadable', why: bytes });
       bytes = '';
     });`,
  );
  const { SECRET_KEY: before } = process.env;
  process.env['SECRET_KEY'] = 'must not be passed on';
  // Other files run in this process, and start processes.
  t.after(() => {
    if (before === undefined) delete process.env['SECRET_KEY'];
    else process.env['SECRET_KEY'] = before;
  });
  const processor = createMediaProcessor({ clock: systemClock, path });
  const read = (text: string) =>
    processor.read({ kind: 'image', mimeType: 'image/png' }, Readable.from([Buffer.from(text)]));
  assert.equal(processor.isRunning(), false);
  const outcomes = await Promise.all([read('abort'), read('one'), read('abort'), read('two')]);
  assert.deepEqual(outcomes, [
    { is: 'failed', why: 'the process ended' },
    { is: 'unreadable', why: 'one' },
    { is: 'failed', why: 'the process ended' },
    { is: 'unreadable', why: 'two' },
  ]);
  await assert.rejects(processor.read({ kind: 'image', mimeType: 'a/b' }, createReadStream('/nothing/there')));
  processor.stop();
  assert.equal((await read('three')).is, 'failed');
});
