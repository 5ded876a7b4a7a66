import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { closeOpened, give, HOST, LARGE, newCamera, opened, openLegs, showing, subscribe } from '../../testkit/legs.ts';
import { eventually } from '../../testkit/node.ts';
import { rtpPacket } from '../../testkit/packets.ts';
import { counters } from '../media/counters.ts';
import { newRtpView, readRtp } from '../media/rtp.ts';
import { Pipe } from './pipe.ts';
import { PipeSocket } from './pipe-socket.ts';
import { Tap } from './tap.ts';

const view = newRtpView();
afterEach(closeOpened);

test('[PIPE-4] a pipe carries a layer once, and only while somebody there wants it; keyframe requests are joined', async () => {
  const { clock, camera, requests, remote, legs } = await openLegs();
  assert.deepEqual([remote.id, remote.layers.length, remote.describe(0).simulcast], ['trk_camera', 3, true]);
  give(camera, 1, 1, true, clock.now());
  const subscribers = [subscribe(remote, 1), subscribe(remote, 1), subscribe(remote, 1)];
  await eventually(() => requests.length > 0, 'no keyframe was asked for');
  assert.deepEqual(requests, [101], 'once for all, and of that layer');
  for (let sequence = 2; sequence < 12; sequence += 1)
    for (const layer of [0, 1, 2]) give(camera, layer, sequence, sequence === 2, clock.now());
  await eventually(() => subscribers.every(({ got }) => got.length === 10), 'not every packet came');
  assert.deepEqual(
    remote.layers.map(({ upstream }) => upstream !== undefined),
    [false, true, false],
  );
  assert.equal(legs[0]?.load().pipedTracks, 1);
  for (const { subscription } of subscribers) remote.unsubscribe(subscription);
  await eventually(() => legs[0]?.load().pipedTracks === 0, 'the track is sent on though nobody wants it');
  camera.takeDemand(clock.now());
  const demand = camera.takeDemand(clock.now() + 60_000);
  assert.deepEqual(
    demand?.map(({ enabled }) => enabled),
    [false, false, false],
    'its publisher hears of it',
  );
});

test('[PIPE-5] what a pipe loses is repeated from the history of the process that publishes', async () => {
  const { clock, camera, requests, remote, proxies } = await openLegs();
  give(camera, 0, 1, true, clock.now());
  const { got } = subscribe(remote, 0);
  await eventually(() => requests.length > 0, 'no keyframe was asked for');
  give(camera, 0, 2, true, clock.now());
  await eventually(() => got.length > 0, 'nothing comes');
  proxies[1].up.loss = 0.3;
  for (let sequence = 3; sequence < 103; sequence += 1) {
    give(camera, 0, sequence, false, clock.now());
    // A datagram each, so that single ones can be lost.
    await new Promise((resolve) => setImmediate(resolve));
  }
  proxies[1].up.loss = 0;
  give(camera, 0, 103, false, clock.now());
  await eventually(() => new Set(got).size === 102, 'packets are missing');
});

test('[PIPE-44] on a path between nodes that loses, the layer below goes over the pipe, and the one above again later', async () => {
  const { clock, camera, remote, proxies, legs } = await openLegs(newCamera, { betweenNodes: { otherSecrets: [] } });
  const { got, subscription } = subscribe(remote, 2);
  let sequence = 0;
  const show = (): void => {
    for (let packet = 0; packet < 20; packet += 1) {
      sequence += 1;
      for (const layer of [0, 1, 2]) give(camera, layer, sequence, true, clock.now(), LARGE);
    }
  };
  const canServe = () => [0, 1, 2].map((layer) => remote.canServe(layer, clock.now()));
  const shows = showing(show);
  await shows(() => got.length > 200, 'the top layer does not come');
  assert.deepEqual(canServe(), [true, true, true]);

  proxies[1].up.loss = 0.3;
  await shows(() => canServe()[2] === false, 'the pipe goes on losing');
  proxies[1].up.loss = 0;
  assert.deepEqual(canServe(), [true, true, false], 'one layer at a time');
  assert.equal(legs[1]?.load().pipeLayersCut, 1);
  subscription.setTarget(1);
  await shows(() => subscription.current === 1, 'the layer below does not come');
  await shows(() => canServe()[2] === true, 'the top layer stays away');
  subscription.setTarget(2);
  await shows(() => subscription.current === 2, 'the top layer does not come again');
});

test('[PIPE-6] mute, another transport and the end of a track are known in the other process', async () => {
  const { camera, remote, offered, room, legs } = await openLegs();
  camera.isMuted = true;
  camera.rebind('7', { codec: { name: 'VP8', pt: 120 }, red: undefined }, { audioLevel: 3 });
  room.changed(camera);
  await eventually(() => remote.isMuted && remote.mid === '7' && remote.encoding.codec.pt === 120, 'it is unknown');
  room.unpublished(camera);
  await eventually(() => offered.length === 0, 'the track did not end');
  legs[0]?.execute({ order: 'close', peer: '1' });
  assert.equal(legs[0]?.load().pipes, 0);
});

/** A subscriber of the remote camera; `shows` sends it a layer until it comes. */
async function watch() {
  const legs = await openLegs();
  const { clock, camera, remote } = legs;
  for (const layer of [0, 1]) give(camera, layer, 1, true, clock.now());
  const { got, subscription } = subscribe(remote, 0);
  const sent = { sequence: 10 };
  const shows = async (layer: number): Promise<void> => {
    subscription.setTarget(layer);
    const before = got.length;
    await eventually(() => {
      // Again and again: the demand for the layer may not be there yet.
      sent.sequence += 1;
      give(camera, layer, sent.sequence, true, clock.now());
      return got.length > before;
    }, `layer ${layer} stays black`);
    // So that the other layer is not wanted any more.
    clock.time += 4000;
    await eventually(() => remote.layers[1 - layer]?.isEnabled === false, 'both layers are wanted');
  };
  for (const layer of [0, 1, 0, 1, 0]) await shows(layer);
  return { ...legs, subscription, sent, shows };
}

test('[PIPE-41] a track that nobody wanted for a while comes again, and what was sent meanwhile is no loss', async () => {
  const { remote, legs, subscription, sent, shows } = await watch();
  remote.unsubscribe(subscription);
  await eventually(() => legs[0]?.load().pipedTracks === 0, 'the track is sent on though nobody wants it');
  remote.subscribe(subscription);
  sent.sequence += 40;
  await shows(0);
  assert.equal(remote.layers[0]?.upstream?.hasMissing, false);
});

test('[PIPE-41] a track whose demand was not heard for longer than it holds comes again', async () => {
  const { remote, legs, proxies, sent, shows } = await watch();
  proxies[0].up.loss = 1;
  await eventually(() => legs[0]?.load().pipedTracks === 0, 'the track is sent on though nobody asks for it');
  proxies[0].up.loss = 0;
  sent.sequence += 40;
  await shows(0);
  assert.equal(remote.layers[0]?.upstream?.hasMissing, false);
});

test('[MED-104] pipes are those to processes that share a room, and what one lost counts after its end', async () => {
  const { clock, camera, requests, remote, proxies, legs } = await openLegs();
  const nacksBefore = counters.pipeNacksOut;
  give(camera, 0, 1, true, clock.now());
  const { got } = subscribe(remote, 0);
  await eventually(() => requests.length > 0, 'no keyframe was asked for');
  give(camera, 0, 2, true, clock.now());
  await eventually(() => got.length > 0, 'nothing comes');
  let sequence = 2;
  const giveMore = async (count: number): Promise<void> => {
    for (const until = sequence + count; sequence < until; ) {
      sequence += 1;
      give(camera, 0, sequence, false, clock.now(), LARGE);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  proxies[1].up.loss = 0.5;
  await giveMore(40);
  proxies[1].up.loss = 0;
  const lost = () => legs[1]?.load().pipeDatagramsLost ?? 0;
  await eventually(async () => {
    // Until those that were lost are far behind.
    await giveMore(50);
    return lost() > 0;
  }, 'nothing counts as lost');
  assert.ok(counters.pipeNacksOut > nacksBefore);
  assert.deepEqual([legs[0]?.load().pipes, legs[1]?.load().pipes], [1, 1]);
  const before = lost();
  legs[1]?.execute({ order: 'unlink', peer: '0', room: 'room' });
  assert.equal(legs[1]?.load().pipes, 0, 'the pipe is there, and no room over it');
  legs[1]?.execute({ order: 'close', peer: '0' });
  assert.ok(lost() >= before);
});

test('[PIPE-43] repeats on a pipe are bounded by what the track sends there', async () => {
  const socket = await PipeSocket.open(HOST, () => {});
  opened.push(() => socket.close());
  const settings = { id: 1, peerId: 2, host: HOST, port: socket.port, secret: '11'.repeat(32), end: 'a' as const };
  const ignore = () => {};
  const listener = {
    rtp: ignore,
    senderReport: ignore,
    demand: ignore,
    keyFrame: ignore,
    nack: ignore,
    message: ignore,
  };
  const clock = { now: () => 1000, wall: () => 1000 };
  const pipe = new Pipe({ ...settings, datagramBytes: 1400 }, socket, clock, listener);
  opened.push(() => pipe.close());
  const camera = newCamera([]);
  const tap = new Tap(camera, 1, pipe, []);
  tap.demand(1, 1000);
  for (let sequence = 1; sequence <= 300; sequence += 1) {
    const payload = new Uint8Array(1000);
    readRtp(rtpPacket({ sequence, timestamp: sequence * 3000, ssrc: 100, payload }), view);
    camera.receive(view, 0, 1000);
  }
  const all = Array.from({ length: 300 }, (_, index) => index + 1);
  const repeated = (now: number): number => {
    const before = counters.pipeResent;
    tap.resend({ track: 1, layer: 0, run: 1 }, all, now);
    return counters.pipeResent - before;
  };
  // A quarter of 200 kb/s at least, of which a second is saved up.
  assert.deepEqual([repeated(1000), repeated(1001), repeated(3000)], [6, 0, 6]);
});
