import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everything } from '../../testkit/call.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';
import { endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';
import { Participant } from './participant.ts';
import { Silence } from './silence.ts';

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
  await eventually(() => reasonOf('ps_cable'), 'the ghost stays', 30_000);
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

/** Two transports as the node's clock sees them, and who has them. */
function plainParticipant() {
  const transport = () => ({ state: 'CONNECTED', receivedBytes: 0, sentPackets: 0 });
  const [pub, sub] = [transport(), transport()];
  const about = { id: 'p', identity: 'p', order: 0, isAutoSubscribed: false, isPlain: true, joinedAt: 0 };
  const init = { ...about, permissions: everything, fallback: { sentPerSecond: 1, receivedPerSecond: 1 } };
  const participant = new Participant(
    init,
    () => ({ publisher: { transport: pub }, subscriber: { transport: sub } }) as never,
  );
  /** When it is gone, looked at twice a second; undefined when it is not within two minutes. */
  const goneAt = (): number | undefined => {
    for (let now = 0; now < 120_000; now += 500) if (participant.goneReason(now)) return now;
    return undefined;
  };
  return { pub, sub, participant, goneAt };
}

test('[MED-76] [RTC-93] a publisher that sent and stops is gone within 15 s; one that has sent nothing yet may take its time', () => {
  const sent = plainParticipant();
  sent.pub.receivedBytes = 1000;
  assert.equal(sent.goneAt(), 12_500);

  const quiet = plainParticipant();
  assert.equal(quiet.goneAt(), undefined);
  quiet.pub.receivedBytes = 1;
  assert.equal(quiet.participant.goneReason(120_000), undefined, 'its silence begins with what it sent');
  assert.equal(quiet.participant.goneReason(132_500), 'CONNECTION_TIMEOUT');

  const receiver = plainParticipant();
  receiver.participant.goneReason(0);
  receiver.sub.sentPackets = 50;
  assert.equal(receiver.participant.goneReason(12_000), undefined);
  assert.equal(receiver.participant.goneReason(12_500), 'CONNECTION_TIMEOUT');
});
