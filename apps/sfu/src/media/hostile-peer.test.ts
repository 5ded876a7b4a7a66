import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Description } from '@parley/media-description';
import fc from 'fast-check';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import { collectPeers, newPeer, parametersOf, remoteSdp } from '../../testkit/native-peer.ts';
import { eventually, startTestNode } from '../../testkit/node.ts';
import { rtpPacket } from '../../testkit/packets.ts';
import { everything } from '../../testkit/permissions.ts';
import { forgottenOnceClosed } from './native-part.ts';

after(collectPeers);

/** Packets that nearly are something: RTP with odd lengths, RTCP of every type, extensions that lie. */
const packets = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: 0, max: 0x3f }),
      fc.integer({ min: 0, max: 255 }),
      fc.uint8Array({ minLength: 10, maxLength: 300 }),
    )
    .map(([flags, second, rest]) => Buffer.from([0x80 | flags, second, ...rest])),
  fc
    .tuple(
      fc.integer({ min: 0, max: 31 }),
      fc.integer({ min: 200, max: 207 }),
      fc.nat(40),
      fc.uint8Array({ minLength: 4, maxLength: 160 }),
    )
    .map(([count, type, words, rest]) => Buffer.from([0x80 | count, type, 0, words, ...rest])),
  fc.tuple(fc.nat(65_535), fc.uint8Array({ maxLength: 40 })).map(([sequence, payload]) =>
    rtpPacket({
      sequence,
      ssrc: 777,
      payload,
      extensions: [
        [3, [sequence >> 8, sequence & 0xff]],
        [4, [0x30]],
        [10, [0x71]],
      ],
    }),
  ),
);

test('[MED-11] an admitted peer that sends garbage as media, reports and data harms nobody', async () => {
  const kit = await startTestNode({ SFU_ANNOUNCED_HOST: '127.0.0.1' });
  const control = await kit.connect();
  const room = 'room_hostile';
  const address = { room, participant: 'ps_mallory' };
  await control.command('room.open', { room });
  await control.command('participant.add', {
    ...address,
    identity: 'mallory',
    permissions: everything,
    autoSubscribe: true,
  });
  await control.command('participant.add', {
    room,
    participant: 'ps_bob',
    identity: 'bob',
    permissions: everything,
    autoSubscribe: true,
  });

  const pub = newPeer('pub');
  pub.connection.setLocalDescription('offer');
  const media: Description['media'] = [
    {
      mid: '0',
      kind: 'video',
      direction: 'sendonly',
      trackId: 'c',
      codecs: [{ name: 'VP8', pt: 96 }],
      extensions: { transportCc: 3, mid: 4, rid: 10 },
      rids: ['q', 'h'],
    },
  ];
  const answer = await control.command('pub.offer', {
    ...address,
    tracks: [{ cid: 'c', kind: 'VIDEO', source: 'CAMERA' }],
    description: { ...parametersOf(pub.connection), media },
  });
  pub.connection.setRemoteDescription(remoteSdp(answer.description, false), 'answer');

  const offer = await eventually(
    () => control.events.find(({ type, data }) => type === 'sub.offer' && data.participant === 'ps_mallory'),
    'no offer came',
  );
  assert.ok(offer.type === 'sub.offer');
  const sub = newPeer('sub');
  const channel = forgottenOnceClosed(sub.connection.createDataChannel('reliable', { negotiated: true, id: 0 }));
  sub.connection.setRemoteDescription(remoteSdp(offer.data.description, true), 'offer');
  sub.connection.setLocalDescription('answer');
  await control.command('sub.answer', {
    ...address,
    revision: 1,
    description: { ...parametersOf(sub.connection), media: [] },
  });
  await eventually(
    () => pub.track.isOpen() && sub.track.isOpen() && channel.isOpen(),
    'the peer did not connect',
    mediaMs,
  );

  const pids = kit.node.pids();
  for (const packet of fc.sample(packets, 3000)) {
    // The library itself refuses some: that is no packet then.
    for (const send of [
      () => pub.track.sendMessageBinary(packet),
      () => sub.track.sendMessageBinary(packet),
      () => channel.sendMessageBinary(packet),
    ])
      try {
        send();
      } catch {}
  }
  channel.sendMessage('not ours');
  const { participants } = await eventually(() => control.command('stats', { room }), 'the node does not answer');
  assert.equal(participants.length, 2);
  assert.deepEqual(kit.node.pids(), pids);
  assert.deepEqual(kit.problems, []);
  const { rooms } = await control.command('snapshot', { room });
  assert.ok(
    rooms[0]?.participants.some(
      ({ participant, transports }) => participant === 'ps_mallory' && transports.pub === 'CONNECTED',
    ),
  );
  for (const part of [channel, pub.track, sub.track, pub.connection, sub.connection]) part.close();
  await kit.stop();
});
