import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { startUdpProxy } from '../../../../e2e/udp-proxy.ts';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../../server/testkit/kit/ports.ts';
import { eventually, startTestNode } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';
import { endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';

after(() => endPeers());

const bytes = (max: number) => fc.uint8Array({ maxLength: max });

/** STUN whose attributes lie about their lengths, with the user name of a participant. */
const stun = (ufrag: string) =>
  fc
    .tuple(fc.constantFrom(0x0001, 0x0101, 0x0111, 0x0003, 0x3fff), fc.nat(65_535), bytes(80), fc.nat(300))
    .map(([type, length, rest, nameLength]) => {
      const head = Buffer.alloc(20);
      head.writeUInt16BE(type, 0);
      head.writeUInt16BE(length % 3 === 0 ? length : 8 + ufrag.length + rest.length, 2);
      head.writeUInt32BE(0x2112a442, 4);
      const name = Buffer.alloc(4);
      name.writeUInt16BE(0x0006, 0);
      name.writeUInt16BE(nameLength % 2 === 0 ? ufrag.length : nameLength, 2);
      return Buffer.concat([head, name, Buffer.from(ufrag), rest]);
    });

/** DTLS records of every type whose lengths lie. */
const dtls = fc
  .tuple(fc.integer({ min: 20, max: 25 }), fc.constantFrom(0xfefd, 0xfeff, 0x0303), fc.nat(65_535), bytes(200))
  .map(([type, version, length, rest]) => {
    const head = Buffer.alloc(13);
    head[0] = type;
    head.writeUInt16BE(version, 1);
    head.writeUInt16BE(length % 2 === 0 ? rest.length : length, 11);
    return Buffer.concat([head, rest]);
  });

/** What looks like SRTP or SRTCP, and what looks like nothing. */
const other = fc.tuple(fc.nat(255), bytes(300)).map(([first, rest]) => Buffer.from([first, ...rest]));

test('[MED-11] malformed STUN, DTLS and SRTP, from strangers and on the path of a participant, do no harm', async () => {
  const port = await ownPort();
  const proxy = await startUdpProxy(port, { host: '127.0.0.1' });
  const kit = await startTestNode({
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_UDP_PORT: String(port),
    SFU_ANNOUNCED_UDP_PORT: String(proxy.port),
  });
  const control = await kit.connect();
  const room = 'room_strangers';
  const [alice, bob] = [new RtpPeer('alice'), new RtpPeer('bob')];
  await control.command('room.open', { room });
  const enter = (participant: string) =>
    control.command('participant.add', {
      room,
      participant,
      identity: participant,
      permissions: everything,
      autoSubscribe: true,
    });
  await enter('ps_alice');
  const { description } = await control.command('pub.offer', {
    room,
    participant: 'ps_alice',
    tracks: [{ cid: 'c', kind: 'VIDEO', source: 'CAMERA' }],
    description: alice.offer('c', 4242),
  });
  alice.accept(description);
  await enter('ps_bob');
  const offer = await eventually(
    () => control.events.find(({ type, data }) => type === 'sub.offer' && data.participant === 'ps_bob'),
    'no offer came',
  );
  assert.ok(offer.type === 'sub.offer');
  const answer = bob.answer(offer.data.description);
  await control.command('sub.answer', { room, participant: 'ps_bob', revision: 1, description: answer });
  const source = new Vp8Source({ ssrc: 4242, bytes: 400, packetsPerSecond: 200 });
  source.start((packet) => alice.send(packet));
  await eventually(() => bob.received > 50, 'nothing comes on a quiet network', mediaMs);

  const pids = kit.node.pids();
  const stranger = createSocket('udp4');
  const ufrags = [description.ice?.ufrag ?? '', `${description.ice?.ufrag}:x`, 'nobody:x'];
  const packets = fc.oneof(...ufrags.map(stun), dtls, other);
  for (const [index, packet] of fc.sample(packets, 4000).entries()) {
    stranger.send(packet, port, '127.0.0.1');
    proxy.inject(packet);
    // In portions: what overflows a buffer of the system was never read.
    if (index % 100 === 0) await sleep(5);
  }
  const before = bob.received;
  await eventually(() => bob.received > before + 200, 'the media stopped', mediaMs);
  assert.deepEqual(kit.node.pids(), pids, 'the same processes');
  assert.deepEqual(kit.problems, []);
  source.stop();
  stranger.close();
  for (const peer of [alice, bob]) peer.close();
  await kit.stop();
  proxy.close();
});
