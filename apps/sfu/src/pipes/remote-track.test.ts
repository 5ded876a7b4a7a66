import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { startUdpProxy } from '../../../../e2e/udp-proxy.ts';
import { eventually } from '../../testkit/node.ts';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { SvcSource } from '../../testkit/svc.ts';
import type { TrackOwner } from '../media/other-legs.ts';
import { Publication } from '../media/publication.ts';
import { newRtpView, readRtp } from '../media/rtp.ts';
import { Subscription } from '../media/subscription.ts';
import { Legs } from './legs.ts';
import type { PipeSettings } from './pipe.ts';
import { PipeSocket } from './pipe-socket.ts';
import type { LeggedRoom, RoomLegs } from './room-legs.ts';

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
async function openLegs(newTrack = newCamera) {
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
    };
  };
  const legs = sockets.map((socket) => new Legs(socket, clock));
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

function give(camera: Publication, layer: number, sequence: number, isKey: boolean, now: number): void {
  const payload = vp8Payload(sequence, sequence, isKey);
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
