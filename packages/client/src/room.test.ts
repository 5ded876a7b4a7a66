import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeWorld, settle } from '../testkit/fake-world.ts';
import { joined } from '../testkit/joined-room.ts';
import { createAdaptiveStream } from './media/adaptive-stream.ts';
import { createReporter } from './media/reporter.ts';
import { Room } from './room.ts';
import { noTelemetry } from './signal/telemetry.ts';

test('[SDK-29] leave() rejects what waits, reports the last step, and leaves no timer behind', async () => {
  const world = createFakeWorld();
  const emitted: string[] = [];
  world.fetch = async (_url, init) => {
    emitted.push((JSON.parse(String(init?.body)) as { type: string }).type);
    return new Response();
  };
  const room = await joined(world);
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  const asking = assert.rejects(room.self.rpc('bob', 'greet'), { reason: 'client' });
  await settle();
  const { id } = socket.sent.find(({ type }) => type === 'rpc.request') ?? assert.fail('nothing was asked');
  socket.receive({ type: 'response', ref: id, data: { requestId: 'r1' } });
  await settle();
  await room.leave();
  await asking;
  await settle();
  assert.equal(world.timers, 0);
  assert.ok(emitted.includes('signaling.disconnected'), emitted.join());
});

test('[SDK-89] after an end by the service nothing is reported: its token opens nothing any more', async () => {
  for (const [reason, isReported] of [
    ['TOKEN_REVOKED', false],
    ['ROOM_CLOSED', false],
    ['DUPLICATE_IDENTITY', true],
  ] as const) {
    const world = createFakeWorld();
    const reported: unknown[] = [];
    world.fetch = async (_url, init) => {
      reported.push(init?.body);
      return new Response();
    };
    const room = await joined(world);
    reported.length = 0;
    world.sockets.at(-1)?.drop(4410, reason);
    await settle();
    await world.advance(10_000);
    assert.equal(room.state.getSnapshot().connection, 'disconnected');
    assert.equal(reported.length > 0, isReported, reason);
  }
});

test('[SDK-50] a page that is closed leaves its call, and once', async () => {
  const world = createFakeWorld();
  const room = await joined(world);
  const socket = world.sockets.at(-1) ?? assert.fail('no socket');
  world.hidePage();
  world.hidePage();
  assert.deepEqual(
    socket.sent.filter(({ type }) => type === 'leave').map(({ reason }) => reason),
    ['CLIENT_INITIATED'],
  );
  assert.equal(room.state.getSnapshot().connection, 'disconnected');
});

test('[SDK-50] with leaveWithPage: false the application leaves by itself', async () => {
  const world = createFakeWorld();
  const room = await joined(world, { leaveWithPage: false });
  world.hidePage();
  assert.equal(room.state.getSnapshot().connection, 'connected');
  await room.leave();
});

test('[SDK-29] a room that was never joined reports nothing and requests no token', async () => {
  const world = createFakeWorld();
  let asked = 0;
  const room = new Room({ url: 'http://parley.test', token: async () => `t${++asked}` }, world);
  await room.leave();
  await world.advance(10_000);
  assert.equal(asked, 0);
});

test('[SDK-29] figures that are on their way when the call ends are the last', async () => {
  const world = createFakeWorld();
  const stats = Promise.withResolvers<RTCStatsReport>();
  // What the reporter asks of a transport.
  const side = { peer: { getStats: () => stats.promise } as RTCPeerConnection, trackAt: () => null };
  const sides = { pub: side, sub: side };
  const reporter = createReporter({ runtime: world, telemetry: noTelemetry, sides });
  reporter.start();
  await world.advance(3_000);
  reporter.stop();
  stats.resolve(new Map() as unknown as RTCStatsReport);
  await settle();
  assert.equal(world.timers, 0);
});

test('[SDK-29] a call that ended watches the page no more; the next one does again', async (context) => {
  const world = createFakeWorld();
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible', pictureInPictureElement: null });
  let listeners = 0;
  context.mock.method(page, 'addEventListener', () => listeners++);
  context.mock.method(page, 'removeEventListener', () => listeners--);
  class Video {
    clientWidth = 320;
    clientHeight = 180;
  }
  class Observer {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  const names = { document: page, HTMLVideoElement: Video, IntersectionObserver: Observer, ResizeObserver: Observer };
  for (const [name, value] of Object.entries(names)) Object.assign(globalThis, { [name]: value });
  context.after(() => {
    for (const name of Object.keys(names)) Reflect.deleteProperty(globalThis, name);
  });
  const sent: object[] = [];
  const adaptive = createAdaptiveStream({ runtime: world, isOn: true, send: (updates) => sent.push(...updates) });
  const video = new Video() as unknown as HTMLVideoElement;
  for (const stay of [1, 2]) {
    adaptive.show('trk_1', video);
    adaptive.reset();
    await world.advance(1_000);
    assert.deepEqual([sent.length, listeners], [stay, 1]);
    adaptive.hide('trk_1', video);
    adaptive.close();
    assert.deepEqual([world.timers, listeners], [0, 0]);
  }
});
