import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { MediaEventFrame } from '@parley/contract/media-control';
import { DATA_FLOW, encodeData } from '@parley/media-description';
import { startUdpProxy, type UdpProxy } from '../../../../e2e/udp-proxy.ts';
import { mediaMs } from '../../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../../server/testkit/kit/ports.ts';
import type { ControlClient } from '../../testkit/control-client.ts';
import { joinWithData, openDataRoom } from '../../testkit/data-peer.ts';
import { collectPeers } from '../../testkit/native-peer.ts';
import { eventually, startTestNode, type TestNode } from '../../testkit/node.ts';

let kit: TestNode;
let control: ControlClient;
let proxy: UdpProxy;
let past: readonly [number, number];
before(async () => {
  const port = await ownPort();
  proxy = await startUdpProxy(port, { host: '127.0.0.1' });
  past = [proxy.port, port];
  const ports = { SFU_UDP_PORT: String(port), SFU_ANNOUNCED_UDP_PORT: String(proxy.port) };
  kit = await startTestNode({ SFU_ANNOUNCED_HOST: '127.0.0.1', ...ports });
  control = await kit.connect();
});
after(async () => {
  await kit.stop();
  proxy.close();
  await collectPeers();
});

const cut = (isCut: boolean): void => {
  for (const path of [proxy.up, proxy.down]) path.loss = Number(isCut);
};
afterEach(() => cut(false));

const missed = [0, 0, DATA_FLOW.missed];

/** Ada sends; Bob is behind the proxy, and Cy is not, by whom one sees what the node has sent. */
async function openCall(room: string) {
  await openDataRoom(control, room, ['ada', 'bob', 'cy']);
  const [ada, bob, cy] = await Promise.all([
    joinWithData(control, room, 'ada', { past }),
    joinWithData(control, room, 'bob'),
    joinWithData(control, room, 'cy', { past }),
  ]);
  const say = async (...texts: string[]) => {
    const all = cy.data() + texts.length;
    for (const text of texts)
      ada.channel.sendMessageBinary(encodeData({ head: { text: true }, payload: Buffer.from(text) }));
    await eventually(() => cy.data() === all, 'the node has not sent it', mediaMs);
  };
  const bobs = { room, participant: 'ps_bob' };
  const close = () => [ada, bob, cy].forEach((one) => void one.close());
  await say('before');
  await eventually(() => bob.data() === 1, 'no data came', mediaMs);
  return { ada, bob, cy, bobs, say, close };
}

test('[MED-109] what is sent while the path of a receiver is cut arrives when it has another transport', async () => {
  const { ada, bob, bobs, say, close } = await openCall('back');
  cut(true);
  await say('one', 'two', 'x'.repeat(20_000));
  assert.deepEqual(bob.texts(), ['before']);
  await control.command('ice.restart', { ...bobs, pc: 'sub', received: bob.data() });
  await say('three');
  const back = await joinWithData(control, 'back', 'bob', { past, after: bob.revision });
  await say('four');
  await eventually(() => back.data() >= 5, 'what was sent did not come', mediaMs);
  assert.deepEqual(back.texts(), ['one', 'two', 'x'.repeat(20_000), 'three', 'four']);
  assert.deepEqual(ada.flow(), []);
  back.close();
  close();
});

test('[MED-109] what is sent after the channel of a receiver has closed arrives when it has another transport', async () => {
  const { ada, bob, bobs, say, close } = await openCall('closed');
  bob.close();
  const isClosed = ({ type, data }: MediaEventFrame) =>
    type === 'transport.state' &&
    data.participant === bobs.participant &&
    data.room === bobs.room &&
    data.state === 'CLOSED';
  await eventually(() => control.events.some(isClosed), 'the transport did not close', mediaMs);
  await say('one');
  await control.command('ice.restart', { ...bobs, pc: 'sub', received: 1 });
  const back = await joinWithData(control, 'closed', 'bob', { past, after: bob.revision });
  await eventually(() => back.data() > 0, 'what was sent did not come', mediaMs);
  assert.deepEqual([back.texts(), ada.flow()], [['one'], []]);
  back.close();
  close();
});

test('[MED-110] a client that does not say what it has received: the sender hears that data may be missed', async () => {
  const { ada, bob, bobs, say, close } = await openCall('silent');
  cut(true);
  await say('one');
  await control.command('ice.restart', { ...bobs, pc: 'sub' });
  await eventually(() => ada.flow().length > 0, 'the sender was not told', mediaMs);
  assert.deepEqual(ada.flow(), [missed]);
  const back = await joinWithData(control, 'silent', 'bob', { past, after: bob.revision });
  await say('two');
  await eventually(() => back.data() > 0, 'no data came', mediaMs);
  assert.deepEqual(back.texts(), ['two']);
  back.close();
  close();
});

test('[MED-110] who is gone without having been heard has missed data, and who has left has not', async () => {
  const { ada, cy, bobs, say, close } = await openCall('gone');
  await openDataRoom(control, 'gone', ['dan']);
  const dan = await joinWithData(control, 'gone', 'dan', { past });
  await say('one');
  await control.command('participant.remove', { ...bobs, participant: 'ps_dan', reason: 'CLIENT_INITIATED' });
  cy.channel.sendMessageBinary(encodeData({ head: {}, payload: Buffer.from('hi') }));
  await eventually(() => ada.data() === 1, 'what follows that did not come', mediaMs);
  assert.deepEqual(ada.flow(), []);
  cut(true);
  await say('two');
  await control.command('participant.remove', { ...bobs, reason: 'CONNECTION_TIMEOUT' });
  await eventually(() => ada.flow().length > 0, 'the sender was not told', mediaMs);
  assert.deepEqual(ada.flow(), [missed]);
  dan.close();
  close();
});

test('[MED-110] reliable data that no channel takes and that is too large for signaling: its sender is told', async () => {
  const room = 'too-large';
  await openDataRoom(control, room, ['ada', 'bob']);
  const ada = await joinWithData(control, room, 'ada', { past });
  const send = (bytes: number) => ada.channel.sendMessageBinary(encodeData({ head: {}, payload: Buffer.alloc(bytes) }));
  const byFrame = () => control.events.filter(({ type, data }) => type === 'data' && data.room === room).length;
  send(8000);
  await eventually(() => byFrame() === 1, 'no data came by signaling', mediaMs);
  assert.deepEqual(ada.flow(), []);
  send(9000);
  await eventually(() => ada.flow().length > 0, 'the sender was not told', mediaMs);
  assert.deepEqual([ada.flow(), byFrame()], [[missed], 1]);
  ada.close();
});
