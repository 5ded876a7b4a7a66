import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, test } from 'node:test';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';
import { RtpCall } from '../../testkit/rtp-call.ts';
import { collectSequences, endPeers, RtpPeer, Vp8Source } from '../../testkit/rtp-peer.ts';

const SSRC = 4711;
interface Stage {
  kit: TestNode;
  control: ControlClient;
}
const stages: Stage[] = [];
const calls = new Set<RtpCall>();
before(async () => {
  const kits = await Promise.all(['one', 'two'].map((name) => startTestNode({ SFU_NAME: name, SFU_PIPE_PORT: '0' })));
  for (const kit of kits) {
    const control = await kit.connect({ onEvent: (frame) => calls.forEach((call) => void call.onEvent(frame)) });
    stages.push({ kit, control });
  }
});
after(async () => {
  for (const call of calls) call.close();
  endPeers();
  await Promise.all(stages.map(({ kit }) => kit.stop()));
});

const pipesOf = ({ control }: Stage) => control.hello.pipes ?? assert.fail('it has no pipes');

/** As the control plane does it: the room is on both nodes. */
async function openOnBoth(room: string) {
  const [one, two] = stages;
  assert.ok(one && two);
  for (const [here, there] of [[one, two] as const, [two, one] as const]) {
    const pipes = pipesOf(there);
    await here.control.command('room.open', { room });
    await here.control.command('node.meet', { node: there.kit.config.name, pipes });
    const nodes = [{ node: there.kit.config.name, pipes: pipes.id }];
    const answer = await here.control.command('room.link', { room, own: pipesOf(here).id, nodes });
    assert.deepEqual(answer, { unknown: [] });
  }
  const open = ({ control }: Stage): RtpCall => {
    const call = new RtpCall(control, room);
    calls.add(call);
    return call;
  };
  return { one, two, near: open(one), far: open(two) };
}

test('[PIPE-20] a room over two nodes: each subscriber gets every packet, and data reaches both', async () => {
  const { one, two, near, far } = await openOnBoth('over-nodes');
  await near.add('ada', false);
  const publisher = new RtpPeer('ada');
  const trackId = await near.publish('ada', publisher, SSRC);
  const subscribers = [await near.subscribe('bob'), await far.subscribe('cy'), await far.subscribe('dan')];
  await eventually(
    () => publisher.isConnected && subscribers.every((peer) => peer.isConnected),
    'no connection',
    mediaMs,
  );
  const sequences = subscribers.map(collectSequences);
  const source = new Vp8Source({ ssrc: SSRC, bytes: 300, packetsPerSecond: 100 });
  source.start((packet) => publisher.send(packet));
  await eventually(() => sequences.every(({ count }) => count >= 100), 'the video did not arrive everywhere', mediaMs);
  source.stop();
  await eventually(() => sequences.every(({ missing }) => missing().length === 0), 'packets are missing', mediaMs);
  const { rooms } = await two.control.command('snapshot', { room: 'over-nodes' });
  const cy = rooms[0]?.participants.find(({ identity }) => identity === 'cy');
  assert.deepEqual(cy?.subscriptions, [trackId], 'a node answers for its own');
  const message = { room: 'over-nodes', participant: 'ps_ada', payload: 'hi', reliable: true, to: ['eve'] };
  await far.add('eve', false);
  await eventually(
    async () => (await one.control.command('data.send', message)).delivered === 1,
    'who has no data channel is not known on the other node',
  );
  const data = () => two.control.events.find((frame) => frame.type === 'data');
  assert.deepEqual((await eventually(data, 'the message did not cross')).data, {
    ...data()?.data,
    participant: 'ps_eve',
    from: 'ada',
  });
  publisher.close();
});

test('[PIPE-21] a pipe port takes nothing from strangers and answers nobody; the pipe goes on', async () => {
  const { one, two, near, far } = await openOnBoth('attacked');
  await near.add('ada', false);
  const publisher = new RtpPeer('ada');
  await near.publish('ada', publisher, SSRC);
  const bob = await far.subscribe('bob');
  const [end] = pipesOf(two).ends;
  assert.ok(end);
  const attacker = createSocket('udp4');
  const answers: Buffer[] = [];
  attacker.on('message', (answer) => answers.push(answer));
  const shoot = (datagram: Buffer) =>
    new Promise((resolve) => attacker.send(datagram, end.port, pipesOf(two).host, resolve));
  for (let index = 0; index < 500; index += 1) await shoot(Buffer.alloc(1 + ((index * 7) % 1400), index));
  const source = new Vp8Source({ ssrc: SSRC, bytes: 300, packetsPerSecond: 100 });
  source.start((packet) => publisher.send(packet));
  await eventually(() => bob.received > 30, 'the pipe does not carry', mediaMs);
  source.stop();
  attacker.close();
  publisher.close();
  assert.equal(answers.length, 0);

  const strange = { id: 'x', host: '127.0.0.1', ends: [{ port: end.port, ticket: 'f'.repeat(32) }] };
  await assert.rejects(one.control.command('room.link', { room: 'nowhere', own: 'x', nodes: [] }), /NOT_FOUND/);
  for (const pipes of [
    { ...strange, ends: [{ port: 0, ticket: 'f'.repeat(32) }] },
    { ...strange, ends: [{ port: 9, ticket: 'x' }] },
  ])
    await assert.rejects(one.control.command('node.meet', { node: 'x', pipes }), /BAD_REQUEST/);
});

test('[PIPE-22] when a node ends, the other says so and keeps its own people; a room that is unlinked has nobody of it', async () => {
  const { one, two, near, far } = await openOnBoth('half');
  await near.add('ada', false);
  const bob = await near.subscribe('bob');
  await far.add('cy', false);
  const publisher = new RtpPeer('cy');
  const trackId = await far.publish('cy', publisher, SSRC);
  const source = new Vp8Source({ ssrc: SSRC, bytes: 300, packetsPerSecond: 100 });
  source.start((packet) => publisher.send(packet));
  await eventually(() => bob.received > 20, 'no video over the pipe', mediaMs);
  source.stop();
  publisher.close();
  stages.splice(1);
  await two.kit.stop();
  const silent = await eventually(
    () => one.control.events.find(({ type, data }) => type === 'node.silent' && data.room === 'half'),
    'nobody was told',
    mediaMs,
  );
  assert.deepEqual(silent.data, { room: 'half', node: 'two' });
  const subscribe = () =>
    one.control.command('subscribe', { room: 'half', participant: 'ps_ada', trackIds: [trackId] });
  assert.deepEqual((await subscribe()).accepted, [trackId], 'that alone changes nothing');
  await one.control.command('room.link', { room: 'half', own: pipesOf(one).id, nodes: [] });
  await eventually(async () => (await subscribe()).accepted.length === 0, 'its tracks stayed');
  const { rooms } = await one.control.command('snapshot', { room: 'half' });
  assert.deepEqual(
    rooms[0]?.participants.map(({ identity }) => identity),
    ['ada', 'bob'],
  );
});
