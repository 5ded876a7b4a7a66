import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { MediaEntry } from '@parley/media-description';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { line, local, stageRoom, VP8 } from '../../testkit/room-stage.ts';
import { TrackSampler, type TrackTotals } from './track-sampler.ts';

const totals = (more: Partial<TrackTotals>): TrackTotals => ({
  id: 'tr_1',
  way: 'out',
  kind: 'audio',
  bytes: 0,
  expected: 0,
  lost: 0,
  ...more,
});

const keyFrame = (sequence: number) =>
  rtpPacket({
    sequence,
    ssrc: 111,
    payloadType: 96,
    timestamp: sequence * 3000,
    payload: vp8Payload(sequence, 0, true),
  });
const numbers = (length: number) => Array.from({ length }, (_, at) => at);

test('[OBS-55] the node samples what it counted of a track since the sample before, nine at a time', () => {
  const sampler = new TrackSampler();
  const batches = numbers(11).map((at) =>
    sampler.sample(
      [
        totals({ bytes: at * 20_000, expected: at * 250, lost: at * 25 }),
        ...(at < 6 ? [] : [totals({ id: 'tr_2', way: 'in', bytes: at * 10_000, expected: at })]),
      ],
      1_000 + at * 5_000,
    ),
  );
  assert.deepEqual(
    batches.map((batch) => batch !== null),
    numbers(11).map((at) => at === 9),
  );
  const nine = (value: number) => numbers(9).map(() => value);
  const late = (value: number) => numbers(9).map((at) => (at < 6 ? null : value));
  assert.deepEqual(batches[9], [
    { id: 'tr_1', way: 'out', kind: 'audio', kbps: nine(32), loss: nine(10) },
    { id: 'tr_2', way: 'in', kind: 'audio', kbps: late(16), loss: late(0) },
  ]);
});

test('[OBS-55] a track that counts anew makes no traffic up, and of a large room sixteen are sampled', () => {
  const sampler = new TrackSampler();
  const many = (bytes: number) => numbers(40).map((at) => totals({ id: `tr_${at}`, bytes }));
  const bytes = [90_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000];
  const batch = bytes.map((sum, at) => sampler.sample(many(sum), 1_000 + at * 5_000)).at(-1);
  assert.deepEqual(
    batch?.map(({ kbps }) => kbps),
    numbers(16).map(() => [null, 16, 16, 16, 16, 16, 16, 16, 16]),
  );
});

test('[OBS-55] samples of a participant go to its owner, of what it sends and of what it gets', async () => {
  const on = stageRoom();
  const { publisher } = on.join('p');
  const { subscriber } = on.join('s');
  publisher.offer([{ cid: 'c', kind: 'VIDEO', source: 'CAMERA' }], { ...local, media: [line('0', 'c', VP8, 111)] });
  await turn();
  const { revision } = on.of('sub.offer').find(({ participant }) => participant === 's') ?? assert.fail();
  const answer: MediaEntry = { mid: '0', kind: 'video', direction: 'recvonly', codecs: [VP8] };
  subscriber.answer(revision, { ...local, media: [answer] });
  for (const at of numbers(11)) {
    on.pass(5_000);
    // One is lost on the way.
    for (const sequence of [at * 2, at * 2 + 1]) if (sequence !== 7) on.give(keyFrame(sequence));
    on.room.report((at + 1) * 5_000);
    on.room.rate((at + 1) * 5_000);
  }
  const samples = on.of('track.samples').map(({ participant, everyMs, tracks: [track] }) => ({
    ...{ participant, everyMs, id: track?.id, way: track?.way },
    kbps: track?.kbps.length,
    loss: Math.max(...(track?.loss.map(Number) ?? [])),
  }));
  assert.deepEqual(samples, [
    { participant: 'p', everyMs: 5_000, id: 'trk_1', way: 'out', kbps: 9, loss: 33 },
    { participant: 's', everyMs: 5_000, id: 'trk_1', way: 'in', kbps: 9, loss: 0 },
  ]);
});
