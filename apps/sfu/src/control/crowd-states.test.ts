import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import { eventually, startTestNode } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';
import { RtpCall } from '../../testkit/rtp-call.ts';
import { endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';

const quiet = { ...everything, subscribe: false, publish: false, publishData: false };

test('[MED-123] states come together to who said that they understand it, at the join or when they took over', async (context) => {
  const room = 'room_crowd';
  const node = await startTestNode();
  const control = await node.connect({ onEvent: (frame) => call.onEvent(frame) });
  const call = new RtpCall(control, room);
  const alice = new RtpPeer('alice');
  context.after(async () => {
    call.close();
    alice.close();
    await node.stop();
    endPeers();
  });
  await control.command('room.open', { room });
  await call.add('alice', false);
  const trackId = await call.publish('alice', alice, 4242);
  for (let index = 0; index < 50; index += 1) await call.add(`quiet-${index}`, false, { permissions: quiet });
  await call.subscribe('bob', { streamStates: true });
  const source = new Vp8Source({ ssrc: 4242, bytes: 200, packetsPerSecond: 100 });
  context.after(() => source.stop());
  source.start((packet) => void alice.send(packet));

  const bob = { room, participant: 'ps_bob' };
  const told = () =>
    control.events.flatMap(({ type, data }) => {
      if (type === 'stream.state') return [['alone', data.participant, data.reason ?? data.state]];
      if (type !== 'stream.states') return [];
      return [['together', data.participant, ...data.states.map(({ reason, state }) => reason ?? state)]];
    });
  const muted = (isMuted: boolean) =>
    control.command('track.mute', { room, participant: 'ps_alice', trackId, muted: isMuted, by: 'SERVER' });

  await eventually(() => told().length > 0, 'no picture came', mediaMs);
  assert.deepEqual(told(), [['together', 'ps_bob', 'ACTIVE']]);
  await control.command('participant.attach', bob);
  await muted(true);
  await eventually(() => told().length > 1, 'bob was not told');
  assert.deepEqual(told().slice(1), [['alone', 'ps_bob', 'MUTED']], 'the one who took over did not say so');
  await control.command('participant.attach', { ...bob, streamStates: true });
  await muted(false);
  await eventually(() => told().length > 2, 'bob was not told');
  assert.deepEqual(told().slice(2), [['together', 'ps_bob', 'ACTIVE']]);
});
