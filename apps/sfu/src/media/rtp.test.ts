import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rtpPacket } from '../../testkit/packets.ts';
import { extensionLength, findExtension, newRtpView, readExtensionText, readRtp, sequenceDistance } from './rtp.ts';

test('[MED-10] an RTP packet is read field by field', () => {
  const view = newRtpView();
  const packet = rtpPacket({
    sequence: 65535,
    timestamp: 0xffffffff,
    ssrc: 0xdeadbeef,
    payloadType: 111,
    marker: true,
    payload: Uint8Array.of(9, 8),
    extensions: [
      [4, [0x76, 0x31]],
      [1, [0x85]],
    ],
  });
  assert.ok(readRtp(packet, view));
  const { sequence, timestamp, ssrc, payloadType, marker } = view;
  assert.deepEqual(
    { sequence, timestamp, ssrc, payloadType, marker },
    { sequence: 65535, timestamp: 0xffffffff, ssrc: 0xdeadbeef, payloadType: 111, marker: true },
  );
  assert.deepEqual([...packet.subarray(view.payloadStart, view.payloadEnd)], [9, 8]);
  assert.equal(readExtensionText(view, 4), 'v1');
  assert.equal(packet[findExtension(view, 1)], 0x85);
  assert.equal(extensionLength, 1);
  assert.equal(findExtension(view, 7), -1);
});

test('[MED-10] padding is cut, and padding longer than the packet is refused', () => {
  const view = newRtpView();
  const packet = Buffer.concat([rtpPacket({ sequence: 1, payload: Uint8Array.of(5) }), Buffer.from([0, 0, 3])]);
  packet[0] = 0xa0;
  assert.ok(readRtp(packet, view));
  assert.equal(view.payloadEnd - view.payloadStart, 1);
  packet[packet.length - 1] = 200;
  assert.equal(readRtp(packet, view), false);
});

test('[MED-11] no bytes make the RTP reader throw or point outside the packet', () => {
  const view = newRtpView();
  const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => {
    if (array.length > 0) array[0] = 0x80 | ((array[0] ?? 0) & 0x3f);
    return Buffer.from(array);
  });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 14 }), (buffer, id) => {
      if (!readRtp(buffer, view)) return;
      assert.ok(view.payloadStart <= view.payloadEnd && view.payloadEnd <= buffer.length);
      const at = findExtension(view, id);
      assert.ok(at < 0 || at + extensionLength <= view.extensionEnd);
    }),
    { numRuns: 2000 },
  );
});

test('[MED-10] sequence numbers compare around the wrap', () => {
  assert.equal(sequenceDistance(65535, 0), 1);
  assert.equal(sequenceDistance(0, 65535), -1);
  assert.equal(sequenceDistance(10, 10), 0);
});
