import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { startUdpProxy } from '../../../../e2e/udp-proxy.ts';
import { eventually } from '../../testkit/node.ts';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { SvcSource } from '../../testkit/svc.ts';
import { counters } from '../media/counters.ts';
import type { TrackOwner } from '../media/other-legs.ts';
import { Publication } from '../media/publication.ts';
import { newRtpView, readRtp } from '../media/rtp.ts';
import { Subscription } from '../media/subscription.ts';
import { Legs } from './legs.ts';
import { Pipe, type PipeSettings } from './pipe.ts';
import { PipeSocket } from './pipe-socket.ts';
import type { LeggedRoom, RoomLegs } from './room-legs.ts';
import { Tap } from './tap.ts';

const HOST = '127.0.0.1';
const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: false,
  publishVideo: false,
  publishData: true,
};
const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** Camera of three layers; `requests` counts the keyframes that its publisher was asked for. */
function newCamera(requests: number[]): Publication {
  const publication = new Publication({
    id: 'trk_camera',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA' },
    encoding: { codec: { name: 'VP8', pt: 96 }, red: undefined },
    mid: '0',
    rids: ['q', 'h', 'f'],
    extensionIds: {},
    publishedAt: 0,
    events: { keyFrameNeeded: (ssrc) => requests.push(ssrc), started() {}, audioLevel() {}, queued() {} },
  });
  for (const [index, rid] of ['q', 'h', 'f'].entries()) publication.bind(100 + index, rid);
  return publication;
}

/** Camera whose one stream has all layers. */
function newSvcCamera(requests: number[]): Publication {
  const publication = new Publication({
    id: 'trk_svc',
    request: { cid: 'c', kind: 'VIDEO', source: 'CAMERA', layers: ['0', '1', '2'].map((rid) => ({ rid })) },
    encoding: { codec: { name: 'VP9', pt: 98 }, red: undefined },
    mid: '0',
    rids: [],
    extensionIds: { dependencyDescriptor: 12 },
    publishedAt: 0,
    events: { keyFrameNeeded: (ssrc) => requests.push(ssrc), started() {}, audioLevel() {}, queued() {} },
  });
  publication.bind(1, undefined);
  return publication;
}

/** Two processes' worth of legs in this one, with one room, and a network between them that can be made bad. */
async function openLegs(newTrack = newCamera, path: Pick<PipeSettings, 'betweenNodes'> = {}) {
  const clock = { time: 1000, now: () => clock.time, wall: () => clock.time };
  const fail = (error: unknown): never => {
    throw error;
  };
  const sockets = [await PipeSocket.open(HOST, fail), await PipeSocket.open(HOST, fail)] as const;
  const proxies = [await startUdpProxy(sockets[0].port), await startUdpProxy(sockets[1].port)] as const;
  const requests: number[] = [];
  const camera = newTrack(requests);
  const offered: Publication[] = [];
  const newRoom = (publications: Publication[]): LeggedRoom => {
    const member: TrackOwner & { isPlain: boolean; permissions: typeof permissions } = {
      id: 'ps_ada',
      identity: 'ada',
      isPlain: false,
      permissions,
      publications: new Map(publications.map((one) => [one.id, one])),
    };
    return {
      id: 'room',
      participants: new Map(publications.length > 0 ? [[member.id, member]] : []),
      fallbackPerSecond: 10,
      offerTrack: (_, publication) => void offered.push(publication),
      withdrawTrack: (publication) => void offered.splice(offered.indexOf(publication), 1),
      changeEncoding() {},
      deliver() {},
      onDataFlow() {},
    };
  };
  const open = async (socket: PipeSocket): Promise<Legs> =>
    path.betweenNodes ? new Legs(await PipeSocket.open(HOST, fail), clock, socket) : new Legs(socket, clock);
  const legs = [await open(sockets[0]), await open(sockets[1])];
  const rooms = legs.map((one, index) => one.forRoom(newRoom(index === 0 ? [camera] : [])));
  legs.forEach((one, index) => {
    const other = 1 - index;
    const settings: PipeSettings = {
      id: 1 + index,
      peerId: 1 + other,
      host: HOST,
      port: (index === 0 ? proxies[1] : proxies[0]).port,
      secret: '00'.repeat(32),
      end: index === 0 ? 'a' : 'b',
      datagramBytes: 1400,
      ...path,
    };
    one.execute({ order: 'open', peer: String(other), settings });
    one.execute({ order: 'link', peer: String(other), room: 'room' });
  });
  const tick = (ms = 20): void => {
    clock.time += ms;
    for (const one of legs) one.tick(clock.time);
    for (const room of rooms) room.tick(clock.time);
  };
  // As the timers of a media process do.
  const timer = setInterval(tick, 5);
  opened.push(() => {
    clearInterval(timer);
    for (const one of legs) one.close();
    for (const proxy of proxies) proxy.close();
  });
  const remote = await eventually(() => offered[0], 'the track is not known in the other process');
  return { clock, camera, requests, remote, offered, proxies, legs, room: rooms[0] as RoomLegs };
}

function subscribe(publication: Publication, layer: number) {
  const got: number[] = [];
  const ids = { ssrc: 10, rtxSsrc: 11, payloadType: 96, redPayloadType: undefined, rtxPayloadType: undefined };
  const outlet = { rtp: (packet: Buffer) => void got.push(packet.readUInt16BE(2)), rtcp: () => {} };
  const subscription = new Subscription(publication, ids, outlet, () => 0);
  publication.subscribe(subscription);
  subscription.setTarget(layer);
  return { got, subscription };
}

const view = newRtpView();
/** Fills a datagram: no two packets share one. */
const LARGE = Array.from({ length: 1200 }, () => 1);

function give(
  camera: Publication,
  layer: number,
  sequence: number,
  isKey: boolean,
  now: number,
  body: number[] = [1, 2, 3],
): void {
  const payload = vp8Payload(sequence & 0x7fff, sequence, isKey, body);
  readRtp(rtpPacket({ sequence, timestamp: sequence * 3000, ssrc: 100 + layer, payload }), view);
  camera.receive(view, layer, now);
}

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
  const shows = (until: () => boolean, what: string) =>
    eventually(
      () => {
        show();
        return until();
      },
      what,
      30_000,
    );
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

test('[PIPE-8] spatial layers of one stream are one stream on a pipe, and each subscriber gets its own of them', async () => {
  const { clock, camera, requests, remote } = await openLegs(newSvcCamera);
  const source = new SvcSource({ mode: 'full', spatial: 3, temporal: 1, hasSizes: true });
  const show = (isKey: boolean): void => {
    for (const packet of source.picture({ isKey }).flatMap(({ packets }) => packets)) {
      assert.ok(readRtp(packet, view));
      camera.receive(view, 0, clock.now());
    }
  };
  assert.deepEqual([remote.layers.length, remote.isSimulcast, remote.describe(0).simulcast], [3, false, false]);
  show(true);
  const [middle, top] = [subscribe(remote, 1), subscribe(remote, 2)];
  await eventually(() => requests.length > 0, 'no keyframe was asked for');
  show(true);
  for (let picture = 1; picture < 5; picture += 1) show(false);
  await eventually(() => top.got.length === 5 * 6, 'not every packet of all layers came');
  assert.equal(middle.got.length, 5 * 4, 'without the layer above its own');
  assert.deepEqual(
    remote.layers.map(({ upstream }) => upstream === remote.layers[0]?.upstream),
    [true, true, true],
  );

  remote.unsubscribe(top.subscription);
  const wanted = () => {
    camera.takeDemand(clock.now());
    return camera.layers.map(({ isEnabled }) => isEnabled);
  };
  await eventually(() => wanted()[2] === false, 'the publisher sends on what nobody wants');
  assert.deepEqual(wanted(), [true, true, false]);
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
