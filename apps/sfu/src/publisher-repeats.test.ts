import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mediaMs } from '../../server/testkit/kit/eventually.ts';
import type { ControlClient } from '../testkit/control-client.ts';
import { eventually, startTestNode, type TestNode } from '../testkit/node.ts';
import { RepeatingSource } from '../testkit/repeating-source.ts';
import { RtpCall } from '../testkit/rtp-call.ts';
import { collectSequences, endPeers, RtpPeer } from '../testkit/rtp-peer.ts';

let node: TestNode;
let control: ControlClient;
const calls: RtpCall[] = [];

before(async () => {
  node = await startTestNode();
  control = await node.connect({
    onEvent: (frame) => {
      for (const call of calls) call.onEvent(frame);
    },
  });
});
after(async () => {
  for (const call of calls) call.close();
  await node.stop();
  endPeers();
});

const rtxPackets = async (): Promise<number> => {
  const text = await (await fetch(`${node.node.internalUrl}/metrics`)).text();
  return Number(/^parley_media_rtx_packets_total\S* (\d+)$/m.exec(text)?.[1]);
};

for (const [name, rtxSsrc] of [
  ['by RTX', 5252],
  ['on the stream itself', undefined],
] as const)
  test(`[MED-119] [MED-121] what is lost of a publisher who repeats ${name} is whole for subscribers; padding costs no key frame`, async () => {
    const room = `room_${rtxSsrc ?? 'plain'}`;
    await control.command('room.open', { room });
    const call = new RtpCall(control, room);
    calls.push(call);
    const alice = new RtpPeer(`alice ${name}`);
    await call.add('alice', false);
    await call.publish('alice', alice, 4242, rtxSsrc);
    const bob = await call.subscribe('bob');
    const got = collectSequences(bob);
    const source = new RepeatingSource(alice, 4242, rtxSsrc);
    source.start();
    await eventually(() => got.count > 50, 'nothing comes', mediaMs);

    const requests = source.keyFrameRequests;
    source.padding = 5;
    const begun = source.frames;
    await eventually(() => source.frames > begun + 100, 'no time passes', mediaMs);
    source.padding = 0;
    assert.equal(source.keyFrameRequests, requests, 'a key frame for padding');

    const before = await rtxPackets();
    source.losesEach = 7;
    await eventually(() => source.repeated > 40, 'nothing was asked for again', mediaMs);
    source.losesEach = 0;
    const count = got.count;
    const isWhole = (): boolean => got.missing().length === source.lostForGood;
    await eventually(() => got.count > count + 50 && isWhole(), 'packets are missing', mediaMs);
    source.stop();
    if (rtxSsrc === undefined) assert.equal(await rtxPackets(), before);
    else await eventually(async () => (await rtxPackets()) > before, 'the repeats came otherwise', mediaMs);
    alice.close();
  });
