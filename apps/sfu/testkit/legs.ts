/** Two media processes' worth of legs in one, with a room, and a network between them that can be made bad. */

import type { MediaPermissions } from '@parley/contract/media-control';
import { startUdpProxy } from '../../../e2e/udp-proxy.ts';
import type { TrackOwner } from '../src/media/other-legs.ts';
import { Publication } from '../src/media/publication.ts';
import { newRtpView, readRtp } from '../src/media/rtp.ts';
import { Subscription } from '../src/media/subscription.ts';
import { Legs } from '../src/pipes/legs.ts';
import type { PipeSettings } from '../src/pipes/pipe.ts';
import { PipeSocket } from '../src/pipes/pipe-socket.ts';
import type { LeggedRoom, RoomLegs } from '../src/pipes/room-legs.ts';
import { eventually } from './node.ts';
import { rtpPacket, vp8Payload } from './packets.ts';
import { everything } from './permissions.ts';

export const HOST = '127.0.0.1';
/** What a test opened, to be closed after it. */
export const opened: (() => void)[] = [];

export function closeOpened(): void {
  for (const close of opened.splice(0)) close();
}

/** Camera of three layers; `requests` counts the keyframes that its publisher was asked for. */
export function newCamera(requests: number[]): Publication {
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
export function newSvcCamera(requests: number[]): Publication {
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
export async function openLegs(newTrack = newCamera, path: Pick<PipeSettings, 'betweenNodes'> = {}) {
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
    const member: TrackOwner & { isPlain: boolean; permissions: MediaPermissions } = {
      id: 'ps_ada',
      identity: 'ada',
      isPlain: false,
      permissions: everything,
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

export function subscribe(publication: Publication, layer: number) {
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
export const LARGE = Array.from({ length: 1200 }, () => 1);

export function give(
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

/** Shows picture after picture until something is so. */
export const showing = (show: () => void) => (until: () => boolean, what: string) =>
  eventually(
    () => {
      show();
      return until();
    },
    what,
    30_000,
  );
