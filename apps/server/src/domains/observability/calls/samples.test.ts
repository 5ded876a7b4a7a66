import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, readBatch, unpack } from './samples.ts';

/** Of a call as they are: figures that wander. */
function sentBy(tracks: number, seed = 1): Record<string, unknown> {
  let state = seed;
  const wander = (from: number, by: number) =>
    Array.from({ length: 4 }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return Math.round(from + (state / 2_147_483_647) * by);
    });
  return {
    everyMs: 5_000,
    count: 4,
    bandwidth: wander(1_500, 900),
    tracks: Array.from({ length: tracks }, (_, at) => ({
      id: `tr_${(at * 7_919 + 104_729).toString(36)}abcdefgh`,
      way: at < 2 ? 'out' : 'in',
      kind: at % 2 === 0 ? 'audio' : 'video',
      kbps: wander(300, 600),
      loss: wander(0, 9),
      rtt: wander(40, 60),
      jitter: wander(2, 20),
      ...(at % 2 === 0 ? {} : { fps: wander(22, 8), freeze: wander(0, 400), height: [360, 360, 720, 720] }),
    })),
  };
}

test('[OBS-25] samples of a participant take at most two kilobytes a minute, however large the call', () => {
  const sizes = [4, 8, 16, 32].map((tracks) => {
    const batches = [1, 2, 3].map((seed) => readBatch(sentBy(tracks, seed * 77)));
    return batches.reduce((sum, batch) => sum + (batch ? pack(batch).length : Number.NaN), 0);
  });
  for (const bytes of sizes) assert.ok(bytes <= 2_000, `${sizes.join(', ')} bytes a minute`);
  const four = readBatch(sentBy(4)) ?? assert.fail();
  const kept = unpack(pack(four));
  assert.deepEqual(
    kept.tracks.toSorted((a, b) => a.id.localeCompare(b.id)),
    four.tracks.toSorted((a, b) => a.id.localeCompare(b.id)),
  );
  // What is left out of a large one has least to tell.
  const large = readBatch({
    ...sentBy(32),
    tracks: [...(sentBy(31)['tracks'] as object[]), { id: 'bad', way: 'in', kind: 'audio', loss: [40, 40, 40, 40] }],
  });
  assert.ok(unpack(pack(large ?? assert.fail())).tracks.some(({ id }) => id === 'bad'));
});

test('[OBS-24] what a client sends is believed as far as it makes sense', () => {
  const track = { id: 'tr_1', way: 'in', kind: 'audio' };
  const cases: readonly [data: Record<string, unknown>, reads: unknown][] = [
    [{}, null],
    [{ everyMs: 5_000, count: 0, tracks: [] }, null],
    [{ everyMs: 5_000, count: 13, tracks: [] }, null],
    [{ everyMs: 1, count: 1, tracks: [] }, null],
    [{ everyMs: 5_000, count: 1, tracks: 'none' }, []],
    [{ everyMs: 5_000, count: 1, tracks: [{ ...track, way: 'up' }, { ...track, id: '<b>' }, null, 7] }, []],
    [{ everyMs: 5_000, count: 2, tracks: [{ ...track, loss: [-1, 1e12] }] }, [[null, null]]],
    [{ everyMs: 5_000, count: 2, tracks: [{ ...track, loss: ['3', 4.26, 9] }] }, [[null, 4.3]]],
  ];
  for (const [data, reads] of cases)
    assert.deepEqual(readBatch(data)?.tracks.map(({ loss }) => loss) ?? null, reads, JSON.stringify(data));
});

test('[OBS-25] what is about a short time is small', () => {
  const short = readBatch({ ...sentBy(8), count: 1, everyMs: 1_000 }) ?? assert.fail();
  assert.ok(pack(short).length <= 33);
});

test('[OBS-55] what the node counted is stored beside it, within the same two kilobytes a minute', () => {
  const ofNode = (seed: number) => {
    const { everyMs, tracks } = sentBy(16, seed);
    const columns = (tracks as { id: string; way: string; kind: string; kbps: number[]; loss: number[] }[]).map(
      ({ id, way, kind, kbps, loss }) => ({
        id,
        way,
        kind,
        kbps: [...kbps, ...kbps, 300],
        loss: [...loss, ...loss, 0],
      }),
    );
    return readBatch({ everyMs, count: 9, tracks: columns }, 'node') ?? assert.fail();
  };
  const minute = [
    ...[1, 2, 3].map((seed) => readBatch(sentBy(32, seed)) ?? assert.fail()),
    ofNode(1),
    { ...ofNode(2), count: 3 },
  ];
  const bytes = minute.reduce((sum, batch) => sum + pack(batch).length, 0);
  assert.ok(bytes <= 2_000, `${bytes} bytes a minute`);
  const kept = unpack(pack(ofNode(3)));
  assert.deepEqual([kept.measuredBy, kept.count], ['node', 9]);
  assert.ok(kept.tracks.length >= 6, `${kept.tracks.length} tracks`);
});
