import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DATA_FLOW, encodeData } from '@parley/media-description';
import { startUdpProxy } from '../../../../e2e/udp-proxy.ts';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../../server/testkit/kit/ports.ts';
import type { CommandRefused, ControlClient } from '../../testkit/control-client.ts';
import { joinWithData, openDataRoom } from '../../testkit/data-peer.ts';
import { collectPeers, newPeer, parametersOf, remoteSdp } from '../../testkit/native-peer.ts';
import { eventually, startTestNode } from '../../testkit/node.ts';
import { forgottenOnceClosed } from './native-part.ts';

after(collectPeers);

const dataFor = (control: ControlClient, room: string, participant?: string): number =>
  control.events.filter(
    ({ type, data }) =>
      type === 'data' && data.room === room && (participant === undefined || data.participant === participant),
  ).length;

test('[MED-63] receivers without a data channel get data by signaling on a small budget of sender and receiver', async () => {
  const kit = await startTestNode();
  const control = await kit.connect();
  const others = ['b', 'c', 'd', 'e', 'f', 'g'];
  const message = { participant: 'ps_a', payload: 'x', reliable: false };
  await openDataRoom(control, 'r1', ['a', ...others], { sentPerSecond: 12, receivedPerSecond: 1000 });
  const started = performance.now();
  const flood = (room: string, reliable: boolean) =>
    Promise.allSettled(Array.from({ length: 300 }, () => control.command('data.send', { ...message, room, reliable })));
  const lossy = await flood('r1', false);
  const seconds = () => Math.ceil((performance.now() - started) / 1000) + 1;
  const delivered = lossy.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value.delivered : 0), 0);
  assert.ok(lossy.every(({ status }) => status === 'fulfilled'));
  assert.equal(dataFor(control, 'r1'), delivered);
  assert.ok(delivered >= 12 && delivered <= 18 * seconds(), `${delivered} frames of 1800`);

  // A reliable message that cannot be delivered for want of budget is refused whole.
  const before = dataFor(control, 'r1');
  const reliable = await flood('r1', true);
  const refused = reliable.flatMap((one) => (one.status === 'rejected' ? [one.reason as CommandRefused] : []));
  assert.ok(refused.length > 0 && refused.every(({ code }) => code === 'RATE_LIMITED'));
  assert.equal(dataFor(control, 'r1') - before, (300 - refused.length) * others.length);

  await openDataRoom(control, 'r2', ['a', ...others], { sentPerSecond: 100_000, receivedPerSecond: 3 });
  await flood('r2', true);
  for (const one of others) assert.ok(dataFor(control, 'r2', `ps_${one}`) <= 3 * seconds());
  await kit.stop();
});

test('[MED-64] a receiver that reads too slowly misses data and keeps its transport', async () => {
  const port = await ownPort();
  const proxy = await startUdpProxy(port);
  const ports = { SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) };
  const kit = await startTestNode({ SFU_ANNOUNCED_HOST: '127.0.0.1', ...ports });
  const control = await kit.connect();
  const room = 'r3';
  await openDataRoom(control, room, ['slow']);
  const offer = await eventually(() => control.events.find(({ type }) => type === 'sub.offer'), 'no offer came');
  assert.ok(offer.type === 'sub.offer');
  const { connection, track } = newPeer('slow');
  const channel = forgottenOnceClosed(connection.createDataChannel('reliable', { negotiated: true, id: 0 }));
  let received = 0;
  channel.onMessage(() => {
    received += 1;
  });
  connection.setRemoteDescription(remoteSdp(offer.data.description, true), 'offer');
  connection.setLocalDescription('answer');
  const description = { ...parametersOf(connection), media: [] };
  await control.command('sub.answer', { room, participant: 'ps_slow', revision: 1, description });
  await eventually(() => channel.isOpen(), 'the peer did not connect', mediaMs);
  const say = () => control.command('data.send', { room, payload: 'x'.repeat(8000), reliable: true });
  await eventually(async () => (await say()).delivered === 1 && received > 0, 'no data came', mediaMs);

  proxy.down.loss = 1;
  const sent = await Promise.all(Array.from({ length: 400 }, say));
  proxy.down.loss = 0;
  const queued = sent.filter(({ delivered }) => delivered === 1).length;
  assert.ok(queued > 50 && queued < 400, `${queued} of 400 messages of 8 kB queued in 1 MiB`);
  const seen = received;
  await eventually(() => received >= seen + queued, 'what was queued did not come', 60_000);
  await eventually(async () => (await say()).delivered === 1, 'nothing is sent any more', mediaMs);
  const states = control.events.flatMap(({ type, data }) => (type === 'transport.state' ? [data.state] : []));
  assert.ok(!states.includes('FAILED') && !states.includes('CLOSED'), states.join(' '));
  for (const part of [channel, track, connection]) part.close();
  await kit.stop();
  proxy.close();
});

test('[MED-102] who sends reliable data to a slow receiver is told to wait, and nothing sent before is lost', async () => {
  const port = await ownPort();
  const proxy = await startUdpProxy(port, { host: '127.0.0.1' });
  const ports = { SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) };
  const kit = await startTestNode({ SFU_ANNOUNCED_HOST: '127.0.0.1', ...ports });
  const control = await kit.connect();
  await openDataRoom(control, 'r4', ['fast', 'slow']);
  const fast = await joinWithData(control, 'r4', 'fast', { past: [proxy.port, port] });
  const slow = await joinWithData(control, 'r4', 'slow');
  const message = encodeData({ head: {}, payload: new Uint8Array(20_000) });
  fast.channel.sendMessageBinary(message);
  await eventually(() => slow.data() === 1, 'no data came', mediaMs);

  proxy.down.loss = 1;
  let sent = 1;
  await eventually(() => {
    if (fast.flow().length > 0) return true;
    fast.channel.sendMessageBinary(message);
    sent += 1;
    return false;
  }, 'the sender was not told to wait');
  assert.deepEqual(fast.flow(), [[0, 0, DATA_FLOW.held]]);
  proxy.down.loss = 0;
  await eventually(() => fast.flow().length > 1, 'the sender was not told to go on', 60_000);
  assert.equal(fast.flow()[1]?.slice(0, 2).join(), '0,0');
  await eventually(() => slow.data() === sent, 'what was sent did not come', 60_000);
  fast.close();
  slow.close();
  await kit.stop();
  proxy.close();
});
