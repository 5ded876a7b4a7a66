import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ArrivalLog, readTransportFeedback, writeTransportFeedback } from './transport-feedback.ts';

const ids = { senderSsrc: 1, mediaSsrc: 7, feedbackCount: 5 };
const NONE = Number.NaN;

/** A feedback packet by hand: chunks as 16-bit words, deltas as bytes. */
function feedback(base: number, count: number, reference: number, chunks: number[], deltas: number[]): Buffer {
  const words = chunks.flatMap((chunk) => [chunk >> 8, chunk & 0xff]);
  const body = [base >> 8, base & 0xff, count >> 8, count & 0xff];
  const time = [(reference >> 16) & 0xff, (reference >> 8) & 0xff, reference & 0xff, 0];
  const bytes = [0x8f, 205, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, ...body, ...time, ...words, ...deltas];
  while (bytes.length % 4 !== 0) bytes.push(0);
  bytes[3] = bytes.length / 4 - 1;
  return Buffer.from(bytes);
}

function arrivalsOf(packet: Buffer | undefined): { base: number; arrivals: number[] } | undefined {
  const found = packet && readTransportFeedback(packet, 0, packet.length);
  return found && { base: found.base, arrivals: [...found.arrivals.subarray(0, found.count)] };
}

test('[MED-48] a run of small deltas is read, over the wrap of the numbers', () => {
  assert.deepEqual(arrivalsOf(feedback(0xfffe, 4, 1, [0x2004], [0, 4, 8, 255])), {
    base: 0xfffe,
    arrivals: [64, 65, 67, 130.75],
  });
});

test('[MED-48] gaps, one-bit and two-bit vectors and runs of lost packets are read', () => {
  // One bit: came, lost, came, then eleven lost. A run of three lost. Two bits: small, large, lost, large.
  const chunks = [0b10_10100000000000, 0x0003, 0b11_01100010000000];
  const { base, arrivals = [] } = arrivalsOf(feedback(10, 21, 0, chunks, [4, 4, 40, 0x10, 0, 0xff, 0xfc])) ?? {};
  assert.equal(base, 10);
  assert.deepEqual(arrivals, [1, NONE, 2, ...Array(14).fill(NONE), 12, 1036, NONE, 1035]);
});

test('[MED-48] a packet that overtook another has a negative delta; the base time may be negative', () => {
  assert.deepEqual(arrivalsOf(feedback(1, 2, -1, [0b11_01100000000000], [8, 0xff, 0xf8]))?.arrivals, [-62, -64]);
});

test('[MED-48] malformed feedback is no feedback', () => {
  const whole = feedback(1, 3, 0, [0x2003], [1, 2, 3, 4]);
  assert.ok(arrivalsOf(whole));
  const broken: Record<string, Buffer> = {
    'no packets': feedback(1, 0, 0, [0x2000], []),
    'more packets than anybody sends': feedback(1, 0xffff, 0, Array(9).fill(0x1fff), []),
    'chunks end too early': feedback(1, 40, 0, [0x200a], []),
    'deltas end too early': feedback(1, 30, 0, [0x201e], [1, 2]),
    'a large delta cut in two': feedback(1, 1, 0, [0x4001], [1]).subarray(0, 23),
    'an empty run': feedback(1, 3, 0, [0x2000, 0x2003], [1, 2, 3]),
    'the reserved kind': feedback(1, 3, 0, [0x6003], [1, 2, 3, 4, 5, 6, 7, 8]),
    'only a head': whole.subarray(0, 20),
    'not even a head': whole.subarray(0, 16),
  };
  for (const [name, packet] of Object.entries(broken)) assert.equal(arrivalsOf(packet), undefined, name);
});

test('[MED-48] what is written is what a reader by hand expects', () => {
  const head = [0xaf, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0, 3, 0, 0, 1, 2];
  const packet = writeTransportFeedback({ ...ids, feedbackCount: 258 }, 65_535, [260, 261, 263]);
  assert.deepEqual([...packet], [...head, 0x20, 3, 4, 1, 2, 0, 0, 3]);
});

test('[MED-48] chunks: runs, one bit, two bits', () => {
  const chunks = (ticks: number[]) => {
    const packet = writeTransportFeedback(ids, 0, ticks);
    return [packet.readUInt16BE(20), packet.readUInt16BE(22)];
  };
  const many = Array.from({ length: 300 }, (_, index) => index);
  assert.equal(chunks(many)[0], 0x2000 | 300);
  assert.equal(chunks([0, NONE, 1])[0], 0b10_10100000000000);
  assert.equal(chunks([0, 1000, 1001])[0], 0b11_01100100000000);
  assert.deepEqual(chunks([0, ...Array(20).fill(NONE), 1]), [0b10_10000000000000, 0b10_00000001000000]);
});

/** Arrivals of up to 300 packets, each at most 8 s from the one before, some lost, some overtaken. */
const arrivals = fc
  .array(fc.option(fc.integer({ min: -32_767, max: 32_767 }), { freq: 4 }), { minLength: 1, maxLength: 300 })
  .filter((steps) => steps.some((step) => step !== null))
  .map((steps) => {
    let at = 10_000_000;
    return steps.map((step) => {
      if (step === null) return NONE;
      at += step;
      return at;
    });
  });

test('[MED-48] any arrivals come back as they were, in whole words', () => {
  fc.assert(
    fc.property(fc.nat(65_535), arrivals, (base, ticks) => {
      const packet = writeTransportFeedback(ids, base, ticks);
      assert.equal(packet.length % 4, 0);
      assert.equal(packet.readUInt16BE(2), packet.length / 4 - 1);
      assert.deepEqual(arrivalsOf(packet), { base, arrivals: ticks.map((tick) => tick / 4) });
    }),
    { numRuns: 500 },
  );
});

test('[MED-11] no bytes make the feedback reader throw', () => {
  const bytes = fc.tuple(fc.uint8Array({ minLength: 12, maxLength: 40 }), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(bytes, fc.nat(300), ([head, rest], count) => {
      const packet = Buffer.concat([head, rest]);
      if (packet.length >= 16) packet.writeUInt16BE(count, 14);
      readTransportFeedback(packet, 0, packet.length);
    }),
    { numRuns: 5000 },
  );
});

test('[MED-49] a sender gets feedback on what came and what did not, each range once', () => {
  const log = new ArrivalLog();
  assert.equal(log.take(1, 7), undefined);
  for (const [sequence, at] of [
    [65_534, 100],
    [65_535, 101],
    [1, 103],
  ] as const)
    log.packet(sequence, at);
  assert.deepEqual(arrivalsOf(log.take(1, 7)), { base: 65_534, arrivals: [100, 101, NONE, 103] });
  assert.equal(log.take(1, 7), undefined, 'nothing new');
  log.packet(1, 110);
  assert.equal(log.take(1, 7), undefined, 'a repeated packet is not new');
  log.packet(4, 120);
  assert.deepEqual(arrivalsOf(log.take(1, 7)), { base: 2, arrivals: [NONE, NONE, 120] });
});

test('[MED-49] a packet that was overtaken is reported with the next feedback', () => {
  const log = new ArrivalLog();
  log.packet(10, 100);
  log.packet(12, 102);
  log.take(1, 7);
  log.packet(11, 130.25);
  log.packet(13, 131);
  assert.deepEqual(arrivalsOf(log.take(1, 7)), { base: 11, arrivals: [130.25, 102, 131] });
});

test('[MED-49] a leap and a long silence are a new beginning', () => {
  const log = new ArrivalLog();
  log.packet(5, 100);
  log.packet(5005, 200);
  const reported = arrivalsOf(log.take(1, 7));
  assert.equal(reported?.arrivals.length, 512);
  assert.equal(reported?.arrivals.at(-1), 200);
  log.packet(5006, 201);
  log.packet(5007, 60_000);
  assert.deepEqual(arrivalsOf(log.take(1, 7)), { base: 5007, arrivals: [60_000] });
  log.packet(100, 60_001);
  assert.equal(log.take(1, 7), undefined, 'a packet from before the leap says nothing');
});

test('[MED-49] whatever numbers come, feedback is readable and fits a datagram', () => {
  const packets = fc.array(fc.tuple(fc.nat(65_535), fc.nat(20_000)), { maxLength: 200 });
  fc.assert(
    fc.property(packets, (list) => {
      const log = new ArrivalLog();
      let now = 0;
      for (const [sequence, step] of list) {
        now += step;
        log.packet(sequence, now);
        if (step % 5 !== 0) continue;
        const packet = log.take(1, 7);
        assert.ok(!packet || (arrivalsOf(packet) && packet.length <= 1200));
      }
    }),
  );
});
