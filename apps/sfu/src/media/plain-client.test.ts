import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everything } from '../../testkit/call.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';
import { endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';
import { Silence } from './silence.ts';

const GONE_MS_MAX = 15_000;
const room = 'room_plain';
let kit: TestNode;
let control: ControlClient;

before(async () => {
  kit = await startTestNode({ SFU_ANNOUNCED_HOST: '127.0.0.1' });
  control = await kit.connect();
  await control.command('room.open', { room });
});
after(async () => {
  await kit.stop();
  endPeers();
});

/** As WHIP does it: one offer, and no socket beside it. */
async function publish(participant: string, plain: boolean): Promise<RtpPeer> {
  const address = { room, participant };
  const about = { identity: participant, permissions: everything, autoSubscribe: false };
  await control.command('participant.add', { ...address, ...about, ...(plain && { plain }) });
  const peer = new RtpPeer(participant);
  const { description } = await control.command('pub.offer', {
    ...address,
    tracks: [{ cid: 'c', kind: 'VIDEO', source: 'CAMERA' }],
    description: peer.offer('c', 4242),
  });
  peer.accept(description);
  await eventually(() => peer.isConnected, 'not connected');
  return peer;
}

const reasonOf = (participant: string): string | undefined => {
  const closed = control.events.find(
    (event) => event.type === 'participant.closed' && event.data.participant === participant,
  );
  return closed?.type === 'participant.closed' ? closed.data.reason : undefined;
};

test('[MED-76] [MED-63] a plain client that vanishes without a word is gone; one with a socket may come back', async () => {
  const [peer, sdk] = [await publish('ps_cable', true), await publish('ps_sdk', false)];
  const { delivered } = await control.command('data.send', { room, payload: 'x', to: ['ps_cable'], reliable: true });
  assert.equal(delivered, 0, 'nothing but media reaches it');
  const source = new Vp8Source({ ssrc: 4242, bytes: 200, packetsPerSecond: 50 });
  source.start((packet) => peer.send(packet));
  await eventually(() => control.events.some(({ type }) => type === 'track.started'), 'no media came');
  source.stop();
  await eventually(() => reasonOf('ps_cable'), 'the ghost stays', GONE_MS_MAX);
  assert.equal(reasonOf('ps_cable'), 'CONNECTION_TIMEOUT');
  assert.equal(reasonOf('ps_sdk'), undefined);
  for (const one of [peer, sdk]) one.close();
});

test('[MED-76] a receiver is silent only when what it got stays without a report', () => {
  const silence = new Silence(10);
  assert.equal(silence.measure({ receivedBytes: 0, sentPackets: 0 }, 1000), 0);
  assert.equal(silence.measure({ receivedBytes: 0, sentPackets: 0 }, 60_000), 0, 'nothing to report');
  assert.equal(silence.measure({ receivedBytes: 0, sentPackets: 50 }, 61_000), 1000);
  assert.equal(silence.measure({ receivedBytes: 40, sentPackets: 90 }, 62_000), 0, 'it reported');
  assert.equal(silence.measure({ receivedBytes: 40, sentPackets: 140 }, 70_000), 8000);
});
