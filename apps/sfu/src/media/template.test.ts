import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rtpPacket } from '../../testkit/packets.ts';
import { extensionLength, findExtension, newRtpView, readRtp } from './rtp.ts';
import { extensionTable, PacketTemplate, stampTransport, translateExtensions } from './template.ts';

/** A packet with a level and a delay from a publisher that numbers them 6 and 7, as subscribers get it. */
function built(): Buffer {
  const view = newRtpView();
  const source = rtpPacket({
    sequence: 1,
    payload: Buffer.from([1, 2, 3]),
    extensions: [
      [6, [0x85]],
      [7, [1, 2, 3]],
    ],
  });
  assert.ok(readRtp(source, view));
  const template = new PacketTemplate();
  assert.ok(template.build(view, view.payloadStart, view.payloadEnd, { audioLevel: 6, playoutDelay: 7 }, 1000));
  stampTransport(template.packet, 0x1234);
  return template.packet;
}

/** Data of an extension by its id, and the payload. */
function read(packet: Buffer, id: number) {
  const view = newRtpView();
  assert.ok(readRtp(packet, view));
  assert.deepEqual([...packet.subarray(view.payloadStart, view.payloadEnd)], [1, 2, 3]);
  const at = findExtension(view, id);
  return at < 0 ? undefined : [...packet.subarray(at, at + extensionLength)];
}

test('[MED-51] subscribers get the extensions under our ids, with the place in the count of their transport', () => {
  const packet = built();
  assert.deepEqual(read(packet, 1), [0x85]);
  assert.deepEqual(read(packet, 3), [0x12, 0x34]);
  assert.deepEqual(read(packet, 5), [1, 2, 3]);
});

test('[MED-51] a client that laid down its own ids gets them under those, and nothing that it does not have', () => {
  const packet = built();
  // To this client 3 is the name of the line: a number there would put the packet on another.
  const table = extensionTable({ transportCc: 7, audioLevel: 2, playoutDelay: 1 });
  const theirs = translateExtensions(packet, table);
  assert.deepEqual(read(theirs, 7), [0x12, 0x34]);
  assert.deepEqual(read(theirs, 2), [0x85]);
  assert.deepEqual(read(theirs, 1), [1, 2, 3]);
  for (const id of [3, 5, 13]) assert.equal(read(theirs, id), undefined);
  assert.deepEqual(read(packet, 3), [0x12, 0x34], 'the packet of the others is as it was');
  assert.equal(read(translateExtensions(packet, extensionTable({})), 3), undefined);
});

test('[MED-85] [MED-51] a descriptor that is too long for short heads goes out under long ones, and the rest with it', () => {
  const view = newRtpView();
  const descriptor = Array.from({ length: 40 }, (_, at) => at);
  const wideExtensions: [number, number[]][] = [
    [9, [1, 2, 3]],
    [11, descriptor],
  ];
  assert.ok(readRtp(rtpPacket({ sequence: 1, payload: Buffer.from([1, 2, 3]), wideExtensions }), view));
  const template = new PacketTemplate();
  const build = (length: number) => {
    const ids = { playoutDelay: 9, dependencyDescriptor: 11 };
    view.buffer[view.extensionStart + 6] = length;
    assert.ok(template.build(view, view.payloadStart, view.payloadEnd, ids, 1000));
    stampTransport(template.packet, 0x1234);
    return template.packet;
  };
  for (const length of [40, 4]) {
    const packet = build(length);
    assert.deepEqual(read(packet, 3), [0x12, 0x34]);
    assert.equal(read(packet, 2)?.length, 3);
    assert.deepEqual(read(packet, 5), [1, 2, 3]);
    assert.deepEqual(read(packet, 12), descriptor.slice(0, length));
    const theirs = translateExtensions(packet, extensionTable({ transportCc: 7, playoutDelay: 4 }));
    assert.deepEqual([read(theirs, 7), read(theirs, 4), read(theirs, 12)], [[0x12, 0x34], [1, 2, 3], undefined]);
  }
});
