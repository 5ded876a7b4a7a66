import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';
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
  await eventually(() => peer.isConnected, 'not connected', mediaMs);
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
  await eventually(() => control.events.some(({ type }) => type === 'track.started'), 'no media came', mediaMs);
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

test('[MED-107] a receiver that goes on reporting while nothing is sent to it is missed; one that does not is not', () => {
  const report = (everyMs: number, times: number, sentPackets = 0) => {
    const silence = new Silence(10);
    let now = 1000;
    for (let receivedBytes = 8; receivedBytes <= times * 8; receivedBytes += 8) {
      now += everyMs;
      assert.equal(silence.measure({ receivedBytes, sentPackets: (sentPackets * receivedBytes) / 8 }, now), 0);
    }
    const figures = { receivedBytes: times * 8, sentPackets: sentPackets * times };
    return silence.measure(figures, now + 12_500);
  };
  // An empty report about every second is what Chromium sends.
  assert.equal(report(1000, 30), 12_500);
  assert.equal(report(1500, 22), 12_500);
  assert.equal(report(1000, 15), 0, 'too few to be a habit');
  assert.equal(report(5000, 100), 0, 'too rarely: the next one may be on its way');
  assert.equal(report(1000, 100, 1), 0, 'each an answer to a packet');
});

/** Two transports as the node's clock sees them, and who has them. */
function participantWith(isPlain: boolean) {
  const transport = () => ({ state: 'CONNECTED', receivedBytes: 0, sentPackets: 0 });
  const [pub, sub] = [transport(), transport()];
  const about = { id: 'p', identity: 'p', order: 0, isAutoSubscribed: false, isPlain, joinedAt: 0 };
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
  const sent = participantWith(true);
  sent.pub.receivedBytes = 1000;
  assert.equal(sent.goneAt(), 12_500);

  const quiet = participantWith(true);
  assert.equal(quiet.goneAt(), undefined);
  quiet.pub.receivedBytes = 1;
  assert.equal(quiet.participant.goneReason(120_000), undefined, 'its silence begins with what it sent');
  assert.equal(quiet.participant.goneReason(132_500), 'CONNECTION_TIMEOUT');

  const receiver = participantWith(true);
  receiver.participant.goneReason(0);
  receiver.sub.sentPackets = 50;
  assert.equal(receiver.participant.goneReason(12_000), undefined);
  assert.equal(receiver.participant.goneReason(12_500), 'CONNECTION_TIMEOUT');
});

test('[MED-76] [RTC-93] a plain client that closes its transport is gone at once; one with a socket may make another', () => {
  for (const pc of ['pub', 'sub'] as const) {
    const { participant } = participantWith(true);
    assert.equal(participant.goneReason(1000), undefined);
    participant.onTransport(pc, 'CLOSED', 1000);
    assert.equal(participant.goneReason(1000), 'CLIENT_INITIATED');
  }
  const { participant } = participantWith(false);
  participant.onTransport('pub', 'CLOSED', 1000);
  assert.equal(participant.goneReason(120_000), undefined);
});

test('[MED-105] a plain client that never connects is gone within 15 s of its answer; one that does so late stays', () => {
  for (const state of ['NEW', 'CONNECTING']) {
    const { pub, goneAt } = participantWith(true);
    pub.state = state;
    assert.equal(goneAt(), 14_000);
  }
  const late = participantWith(true);
  late.pub.state = 'CONNECTING';
  assert.equal(late.participant.goneReason(0), undefined);
  assert.equal(late.participant.goneReason(13_500), undefined);
  late.pub.state = 'CONNECTED';
  assert.equal(late.goneAt(), undefined);
  const { pub, goneAt } = participantWith(false);
  pub.state = 'CONNECTING';
  assert.equal(goneAt(), undefined, 'one with a socket makes another transport');
});
