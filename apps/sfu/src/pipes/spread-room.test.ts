import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MediaEventFrame } from '@parley/contract/media-control';
import { mediaMs, processWorkMs } from '../../../server/testkit/kit/eventually.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';
import { RtpCall } from '../../testkit/rtp-call.ts';
import { collectSequences, endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';

const SSRC = 4711;
let kit: TestNode;
let control: ControlClient;
const calls = new Set<RtpCall>();
before(async () => {
  // Every process counts as busy, so those who join take turns.
  kit = await startTestNode({ SFU_PROCESSES: '2', SFU_ROOM_SPREAD_PERCENT: '0' });
  control = await kit.connect({ onEvent: (frame) => calls.forEach((call) => void call.onEvent(frame)) });
});
after(async () => {
  for (const call of calls) call.close();
  endPeers();
  await kit.stop();
});

async function openCall(room: string): Promise<RtpCall> {
  await control.command('room.open', { room });
  const call = new RtpCall(control, room);
  calls.add(call);
  return call;
}

const eventsOf = (type: MediaEventFrame['type'], room: string) =>
  control.events.filter((frame) => frame.type === type && frame.data.room === room);

/** The UDP port by which a participant reaches its process. */
function portOf(room: string, identity: string): string | undefined {
  const offers = eventsOf('sub.offer', room).map(({ data }) => JSON.stringify(data));
  return / (\d+) host/.exec(offers.find((offer) => offer.includes(`"ps_${identity}"`)) ?? '')?.[1];
}

test('[PIPE-10] a room over two processes: each subscriber gets every packet, whichever process it is in', async () => {
  const call = await openCall('over-two');
  await call.add('ada', false);
  const subscribers = [await call.subscribe('bob'), await call.subscribe('cy'), await call.subscribe('dan')];
  const publisher = new RtpPeer('ada');
  await call.publish('ada', publisher, SSRC);
  await eventually(
    () => publisher.isConnected && subscribers.every((peer) => peer.isConnected),
    'no connection',
    mediaMs,
  );
  const ports = new Set(['ada', 'bob', 'cy', 'dan'].map((identity) => portOf('over-two', identity)));
  assert.equal(ports.size, 2, 'both processes have somebody');

  const sequences = subscribers.map(collectSequences);
  const source = new Vp8Source({ ssrc: SSRC, bytes: 300, packetsPerSecond: 100 });
  source.start((packet) => publisher.send(packet));
  await eventually(() => sequences.every(({ count }) => count >= 150), 'the video did not arrive everywhere', mediaMs);
  source.stop();
  await eventually(() => sequences.every(({ missing }) => missing().length === 0), 'packets are missing', mediaMs);

  const { rooms } = await control.command('snapshot', { room: 'over-two' });
  assert.deepEqual(
    rooms.map(({ participants }) => participants.length),
    [4],
  );
  const { participants } = await control.command('stats', { room: 'over-two' });
  assert.equal(participants.length, 4);
  publisher.close();
});

test('[PIPE-27] a node without SFU_PIPE_PORT offers no pipes to other nodes and takes none', async () => {
  assert.deepEqual([kit.config.pipes, control.hello.pipes], [null, undefined]);
  const pipes = { id: 'x', host: '127.0.0.1', ends: [{ port: 9, ticket: 'f'.repeat(32) }] };
  await assert.rejects(control.command('node.meet', { node: 'x', pipes }), /FORBIDDEN/);
});

test('[RUN-33] an answer to who joins leaves out viewers, also those of another process of the room', async () => {
  const room = 'audience';
  await control.command('room.open', { room });
  const permissions = { join: true, subscribe: false, publish: false, publishAudio: false, publishVideo: false };
  const add = (identity: string, viewer?: boolean) =>
    control.command('participant.add', {
      ...{ room, participant: `ps_${identity}`, identity, autoSubscribe: true },
      permissions: { ...permissions, publishData: false },
      ...(viewer && { viewer }),
    });
  const viewers = Array.from({ length: 200 }, (_, n) => `viewer-${n}`);
  await add('host');
  await add('guest');
  await Promise.all(viewers.map((identity) => add(identity, true)));
  for (const [identity, isViewer] of [
    ['late', false],
    ['later', false],
    ['viewer-200', true],
  ] as const) {
    const { participants } = await add(identity, isViewer);
    const members = ['guest', 'host', ...(identity === 'late' ? ['late'] : ['late', 'later'])];
    assert.deepEqual(participants.map((one) => one.identity).sort(), members);
  }
  const held = async (withoutViewers?: true) => {
    const { rooms } = await control.command('snapshot', { room, ...(withoutViewers && { withoutViewers }) });
    return rooms[0]?.participants.length;
  };
  assert.deepEqual([await held(), await held(true)], [205, 4], 'who asks for all gets all');
});

test('[PIPE-11] subscriptions and data cross processes; a session of the same identity replaces the first', async () => {
  const call = await openCall('across');
  const room = 'across';
  await call.add('ada', false);
  const { participants } = await call.add('bob', false);
  assert.deepEqual(participants.map(({ identity }) => identity).sort(), ['ada', 'bob'], 'whichever process has them');
  assert.notEqual(portOf(room, 'ada'), portOf(room, 'bob'));
  const publisher = new RtpPeer('ada');
  const trackId = await call.publish('ada', publisher, SSRC);
  const subscribe = () => control.command('subscribe', { room, participant: 'ps_bob', identities: ['ada'] });
  const accepted = await eventually(
    async () => {
      const result = await subscribe();
      return result.accepted.length > 0 && result.accepted;
    },
    'the track is not known in the other process',
    processWorkMs,
  );
  assert.deepEqual(accepted, [trackId]);
  const snapshot = await control.command('snapshot', { room });
  const bob = snapshot.rooms[0]?.participants.find(({ identity }) => identity === 'bob');
  assert.deepEqual(bob?.subscriptions, [trackId]);

  const message = { room, payload: 'hi', reliable: true };
  assert.deepEqual(await control.command('data.send', { ...message, participant: 'ps_ada' }), { delivered: 1 });
  const data = await eventually(() => eventsOf('data', room)[0], 'the message did not cross', processWorkMs);
  assert.deepEqual([data.data], [{ ...data.data, participant: 'ps_bob', from: 'ada', payload: 'hi' }]);
  assert.deepEqual(await control.command('data.send', message), { delivered: 2 }, 'the server reaches both');
  await eventually(() => eventsOf('data', room).length === 3, 'each once', processWorkMs);

  await control.command('pub.unpublish', { room, participant: 'ps_ada', trackIds: [trackId] });
  await eventually(
    async () => (await subscribe()).accepted.length === 0,
    'the track did not end in the other process',
    processWorkMs,
  );

  await control.command('participant.add', {
    room,
    participant: 'ps_bob2',
    identity: 'bob',
    permissions: everything,
    autoSubscribe: false,
  });
  const closed = await eventually(
    () => eventsOf('participant.closed', room)[0],
    'the first session stayed',
    processWorkMs,
  );
  assert.deepEqual([closed.data], [{ ...closed.data, participant: 'ps_bob', reason: 'DUPLICATE_IDENTITY' }]);
  publisher.close();
  await control.command('room.close', { room, reason: 'ROOM_CLOSED' });
  await eventually(() => eventsOf('room.closed', room).length > 0, 'the room is closed once', processWorkMs);
  assert.equal(eventsOf('room.closed', room).length, 1);
});

test('[PIPE-12] a process that is killed takes only those in it: the room goes on, and they come back', async () => {
  const call = await openCall('half');
  const room = 'half';
  await call.add('ada', false);
  const bob = await call.subscribe('bob');
  const cy = await call.subscribe('cy');
  const publisher = new RtpPeer('ada');
  await call.publish('ada', publisher, SSRC);
  const source = new Vp8Source({ ssrc: SSRC, bytes: 300, packetsPerSecond: 100 });
  source.start((packet) => publisher.send(packet));
  await eventually(() => bob.received > 20 && cy.received > 20, 'no video', mediaMs);
  const far = portOf(room, 'bob') === portOf(room, 'ada') ? 'cy' : 'bob';
  const near = far === 'cy' ? bob : cy;
  const index = Number(portOf(room, far)) - kit.config.udpPort;
  process.kill(kit.node.pids()[index] ?? assert.fail('no such process'), 'SIGKILL');
  const closed = await eventually(() => eventsOf('participant.closed', room)[0], 'nobody was told', processWorkMs);
  assert.deepEqual([closed.data], [{ ...closed.data, participant: `ps_${far}`, reason: 'MEDIA_FAILURE' }]);
  assert.equal(eventsOf('participant.closed', room).length, 1);
  assert.equal(eventsOf('room.closed', room).length, 0);
  const before = near.received;
  const back = await call.subscribe(`${far}-again`);
  await eventually(() => back.received > 20 && near.received > before, 'the video did not come back', mediaMs);
  source.stop();
  publisher.close();
});
