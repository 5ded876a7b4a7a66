import assert from 'node:assert/strict';
import type { MintRtcToken, Room, RtcToken } from '@parley/contract';
import type { Api } from '@parley/server';
import { systemClock } from '../../src/core/clock.ts';
import { eventually } from '../kit/eventually.ts';
import { createFakeClock, type FakeClock } from '../kit/fake-clock.ts';
import type { TestProject } from '../kit/people.ts';
import { startService, type TestService, type TestServiceOptions } from '../kit/service.ts';
import { sharedService } from '../kit/shared-service.ts';
import { oncePerWorker } from '../kit/worker-life.ts';
import { type ProtocolNode, startProtocolNode } from '../peers/protocol-node.ts';
import { mediaOffer } from './media-offer.ts';
import { everyPermission, joinRoom, type SignalClient, type SignalOptions } from './signal-client.ts';

interface NewNode {
  region?: string;
  capacity?: number;
  provesWith?: string;
  protocol?: number | null;
}

/** The service with one media node that speaks the control protocol. */
export interface RoomsService extends TestService {
  node: ProtocolNode;
  newNode(name: string, options?: NewNode): Promise<ProtocolNode>;
}

export async function startRooms(options: TestServiceOptions = {}): Promise<RoomsService> {
  const service = await startService(options);
  const rooms = await withNode(service);
  return {
    ...rooms,
    async stop() {
      await service.stop().finally(rooms.stop);
    },
  };
}

/** The shared service with one media node that stays; a test that adds or stops nodes has a service of its own. */
export const sharedRooms: () => Promise<RoomsService> = oncePerWorker(async () => withNode(await sharedService()));

/** Stopping it stops its nodes only. */
async function withNode(service: TestService): Promise<RoomsService> {
  const nodes: ProtocolNode[] = [];
  const newNode: RoomsService['newNode'] = async (name, more = {}) => {
    const [secret = ''] = service.config.sfuSecrets;
    const node = await startProtocolNode({ name, url: service.url, secret, now: service.clock.now, ...more });
    nodes.push(node);
    const answer = await node.register();
    assert.ok(answer.ok, await answer.clone().text());
    await node.heartbeat();
    return node;
  };
  const node = await newNode('node-1');
  // In a time of its own the test itself says when a node is alive.
  const beating =
    service.clock === systemClock
      ? setInterval(() => nodes.forEach((one) => void one.heartbeat().catch(() => {})), 5_000)
      : undefined;
  return {
    ...service,
    node,
    newNode,
    async stop() {
      clearInterval(beating);
      await Promise.all(nodes.map((one) => one.stop()));
    },
  };
}

let roomNumber = 0;

export const newRoom = (api: Api, body: Partial<Room> = {}): Promise<Room> =>
  api.call('createRoom', { body: { name: `room-${++roomNumber}`, ...body } as { name: string } });

/** Mints with every permission by default. */
export const mint = (api: Api, room: Room, identity: string, body: Partial<MintRtcToken> = {}): Promise<RtcToken> =>
  api.call('mintRtcToken', {
    roomId: room.id,
    body: { participantIdentity: identity, permissions: everyPermission, ...body },
  });

/** Many tokens: minting is budgeted by key, so several keys of the project take turns. */
export async function mintMany(
  service: TestService,
  project: TestProject,
  room: Room,
  count: number,
  body: Partial<MintRtcToken> = {},
): Promise<string[]> {
  const perKey = 50;
  const tokens: string[] = [];
  for (let first = 0; first < count; first += perKey) {
    const api = service.as(await project.newKey('DEVELOPMENT'));
    const numbers = Array.from({ length: Math.min(perKey, count - first) }, (_, n) => first + n);
    const minted = await Promise.all(numbers.map((n) => mint(api, room, `participant-${n}`, body)));
    tokens.push(...minted.map(({ token }) => token));
  }
  return tokens;
}

/** Mints and joins. */
export async function joinAs(
  service: TestService,
  api: Api,
  room: Room,
  identity: string,
  { token: body = {}, ...options }: SignalOptions & { token?: Partial<MintRtcToken> } = {},
): Promise<SignalClient & { tokenId: string; token: string }> {
  const { token, tokenId } = await mint(api, room, identity, body);
  const client = await joinRoom(service.url, token, options);
  return Object.assign(client, { tokenId, token });
}

export type PlainWay = 'whip' | 'whep';

/** One SDP offer over HTTP, as a client without our SDK sends it. */
export const offerPlainly = (service: TestService, roomId: string, way: PlainWay, token: string): Promise<Response> =>
  service.fetch(`/v1/rooms/${roomId}/${way}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
    body: mediaOffer(way === 'whip' ? 'sendonly' : 'recvonly'),
  });

/** Joins by such an offer; gives the session's id. */
export async function joinPlainly(service: TestService, roomId: string, way: PlainWay, token: string): Promise<string> {
  const response = await offerPlainly(service, roomId, way, token);
  assert.equal(response.status, 201, await response.text());
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

/** Lets time pass second by second, so that every chore runs as often as it would. */
export async function passTime(
  { clock, choreCount, service }: Pick<TestService, 'service'> & { clock: FakeClock; choreCount: number },
  seconds: number,
  eachSecond: () => unknown = () => {},
): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1_000);
    await eachSecond();
    // A chore may sleep, too.
    await eventually(() => clock.sleeping().length >= choreCount + service.choresInFlight(), { everyMs: 2 });
  }
}

/** The service in a time of its own. */
export async function startTimedRooms(
  options: Omit<TestServiceOptions, 'clock'> = {},
): Promise<RoomsService & { clock: FakeClock; choreCount: number }> {
  const clock = createFakeClock();
  const service = await startRooms({ ...options, clock });
  return { ...service, clock, choreCount: clock.sleeping().length };
}
