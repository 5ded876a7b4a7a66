import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PacketInit, paddingPacket, rtpPacket, rtxPacket } from '../../testkit/packets.ts';
import { newRtpView, readRtp } from './rtp.ts';
import { RtxStreams, unwrapRtx } from './rtx.ts';

const view = newRtpView();
const read = (packet: Buffer) => readRtp(packet, view);
const rtx = { ssrc: 2, payloadType: 97, sequence: 7 };

test('[MED-120] what RTX repeats is the packet itself again, whatever its header has', () => {
  const element = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.array(fc.nat(255), { minLength: 1, maxLength: 16 }));
  const elements = fc.array(element, { maxLength: 3 });
  const any = fc.record({
    sequence: fc.nat(65_535),
    timestamp: fc.nat(0xffffffff),
    marker: fc.boolean(),
    payload: fc.uint8Array({ maxLength: 1200 }),
  });
  fc.assert(
    fc.property(any, elements, fc.boolean(), (fields, list, isWide) => {
      const packet: PacketInit = {
        ...fields,
        ssrc: 0xfedcba98,
        ...(isWide ? { wideExtensions: list } : { extensions: list }),
      };
      assert.ok(read(rtxPacket(packet, rtx)));
      assert.ok(unwrapRtx(view, 0xfedcba98, 96));
      assert.deepEqual(view.buffer, rtpPacket(packet));
      const unwrapped = { ...view };
      assert.ok(read(rtpPacket(packet)));
      assert.deepEqual(unwrapped, view);
    }),
    { numRuns: 200 },
  );
});

test('[MED-120] padding, and what is too short for a number, repeats nothing; nor does anything make it throw', () => {
  for (const packet of [paddingPacket(rtx), paddingPacket(rtx, 1), rtpPacket({ ...rtx, payload: Uint8Array.of(1) })]) {
    assert.ok(read(packet));
    assert.equal(unwrapRtx(view, 1, 96), false);
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 64 }), (bytes) => {
      const packet = Buffer.from(bytes);
      packet[0] = 0x80 | ((packet[0] ?? 0) & 0x3f);
      if (!read(packet) || !unwrapRtx(view, 1, 96)) return;
      assert.ok(view.payloadStart <= view.payloadEnd && view.payloadEnd <= view.buffer.length);
      assert.equal(view.ssrc, view.buffer.readUInt32BE(8));
    }),
  );
});

test('[MED-120] a stream is repeated by one other, the last that was bound to it', () => {
  const streams = new RtxStreams<object>();
  const [one, two] = [{}, {}];
  for (let ssrc = 0; ssrc < 10_000; ssrc += 1) streams.bind(ssrc, one);
  assert.equal(streams.get(9999), one);
  assert.equal(streams.get(9998), undefined);
  streams.bind(9999, two);
  assert.equal(streams.get(9999), two);
  assert.ok(!streams.repairs(one));
  streams.forget(one);
  assert.ok(streams.repairs(two));
  streams.forget(two);
  assert.equal(streams.get(9999), undefined);
});
