import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  middleNtp,
  type ReceptionReport,
  readRtcp,
  writeNack,
  writePli,
  writeReceiverReport,
  writeRemb,
  writeSenderReport,
} from './rtcp.ts';
import { type TransportFeedback, writeTransportFeedback } from './transport-feedback.ts';

const everything = () => {
  const received: unknown[] = [];
  const listener = {
    senderReport: (report: unknown) => received.push(['sr', report]),
    receptionReport: (report: unknown) => received.push(['rr', report]),
    nack: (ssrc: number, sequences: number[]) => received.push(['nack', ssrc, sequences]),
    keyFrameRequest: (ssrc: number) => received.push(['key', ssrc]),
    remb: (bps: number, ssrcs: number[]) => received.push(['remb', bps, ssrcs]),
    transportFeedback: ({ base, count }: TransportFeedback) => received.push(['feedback', base, count]),
    bye: (ssrc: number) => received.push(['bye', ssrc]),
  };
  return { received, listener };
};

test('[MED-12] the numbers of a NACK come back, over the wrap too', () => {
  const increasing = fc
    .tuple(fc.nat(65535), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 }))
    .map(([start, steps]) => {
      let at = start;
      return steps.map((step) => {
        at = (at + step) & 0xffff;
        return at;
      });
    });
  fc.assert(
    fc.property(increasing, (sequences) => {
      const { received, listener } = everything();
      readRtcp(writeNack(1, 77, sequences), listener);
      assert.deepEqual(received, [['nack', 77, sequences]]);
    }),
  );
});

test('[MED-12] a compound packet is read part by part', () => {
  const report: ReceptionReport = {
    ssrc: 5,
    fractionLost: 12,
    packetsLost: -3,
    highestSequence: 70000,
    jitter: 9,
    lastSenderReport: 1,
    delaySinceLastSenderReport: 2,
  };
  const sender = { ssrc: 9, ntpSeconds: 0xe0000001, ntpFraction: 0x80000000, rtpTimestamp: 4000000000 };
  const { received, listener } = everything();
  readRtcp(
    Buffer.concat([
      writeSenderReport(sender, 1, 2),
      writeReceiverReport(1, [report]),
      writePli(1, 6),
      writeTransportFeedback({ senderSsrc: 1, mediaSsrc: 6, feedbackCount: 3 }, 65_535, [400, Number.NaN, 402]),
      writeRemb(1, 1_500_000, [6, 7]),
    ]),
    listener,
  );
  assert.deepEqual(received, [
    ['sr', sender],
    ['rr', report],
    ['key', 6],
    ['feedback', 65_535, 3],
    ['remb', 1_500_000, [6, 7]],
  ]);
  assert.equal(middleNtp(sender), 0x00018000);
});

test('[MED-12] a bandwidth survives REMB within its precision', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 1_000_000_000 }), (bps) => {
      const { received, listener } = everything();
      readRtcp(writeRemb(1, bps, [1]), listener);
      const [, read] = received[0] as [string, number];
      assert.ok(read <= bps && read > bps * 0.9999);
    }),
  );
});

test('[MED-11] no bytes make the RTCP reader throw', () => {
  const packet = fc
    .tuple(fc.integer({ min: 0, max: 31 }), fc.integer({ min: 199, max: 207 }), fc.uint8Array({ maxLength: 60 }))
    .map(([count, type, body]) => {
      const bytes = Buffer.concat([Buffer.from([0x80 | count, type, 0, 0]), body]);
      bytes.writeUInt16BE(Math.floor(body.length / 4), 2);
      return bytes;
    });
  fc.assert(
    fc.property(packet, (bytes) => readRtcp(bytes, everything().listener)),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => readRtcp(Buffer.from(bytes), everything().listener)),
  );
});
