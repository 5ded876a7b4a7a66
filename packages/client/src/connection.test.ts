import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeWorld, type FakeWorld, settle } from '../testkit/fake-world.ts';
import { type Connection, createConnection } from './connection.ts';
import { type Credential, type CredentialSource, createCredential } from './credential.ts';
import { ConnectionError } from './errors.ts';
import type { ChatProtocol } from './frames.ts';
import { type Link, RefusedLink } from './link.ts';
import type { ConnectionState, ReconnectOptions } from './reconnect.ts';

/** Which state may follow which. Every `reconnecting` ends in `connected` or `disconnected`. */
const TRANSITIONS: Record<ConnectionState, readonly ConnectionState[]> = {
  idle: ['connecting'],
  connecting: ['connected', 'disconnected'],
  connected: ['reconnecting', 'disconnected'],
  reconnecting: ['connected', 'disconnected'],
  disconnected: ['connecting'],
};

const isTransition = (from: ConnectionState, to: ConnectionState): boolean => TRANSITIONS[from].includes(to);

interface Rig {
  world: FakeWorld;
  connection: Connection<ChatProtocol>;
  states: ConnectionState[];
  errors: (ConnectionError | undefined)[];
}

function rig({
  token = 'token',
  reconnect = { giveUpAfterMs: 120_000 },
  random = () => 0.5,
  credential = createCredential(token),
  first,
  welcome = async () => {},
}: {
  token?: Credential;
  credential?: CredentialSource;
  reconnect?: Required<ReconnectOptions> | false;
  random?: () => number;
  first?: () => { type: string } | undefined;
  welcome?: (link: Link<ChatProtocol>) => Promise<void>;
} = {}): Rig {
  const world = createFakeWorld(random);
  const states: ConnectionState[] = [];
  const errors: (ConnectionError | undefined)[] = [];
  const connection = createConnection<ChatProtocol>({
    baseUrl: 'https://rtc.example.com',
    path: '/v1/chat/ws',
    subprotocol: 'svc.chat.v1',
    credential,
    reconnect,
    runtime: world,
    ...(first && { first }),
    welcome,
    onFrame: () => {},
    onState(state, previous, error) {
      assert.ok(isTransition(previous, state), `${previous} → ${state}`);
      assert.equal(previous, states.at(-1) ?? 'idle', 'each state is emitted with the one before it');
      states.push(state);
      errors.push(error);
    },
  });
  return { world, connection, states, errors };
}

const lastSocket = ({ world }: Rig) => world.sockets.at(-1) ?? assert.fail('no socket was opened');

async function connected(parts: Rig): Promise<Rig> {
  const done = parts.connection.connect();
  await settle();
  lastSocket(parts).hello();
  await done;
  return parts;
}

test('[SDK-1] the token travels as a subprotocol, never in the address', async () => {
  const parts = await connected(rig());
  assert.equal(lastSocket(parts).url, 'wss://rtc.example.com/v1/chat/ws');
  assert.deepEqual(lastSocket(parts).protocols, ['svc.chat.v1', 'bearer.token']);
});

test('[SDK-131] a first frame goes with the upgrade request, and its answer may come with the hello', async () => {
  const answers: unknown[] = [];
  const first = () => ({ type: 'join' });
  const parts = rig({ first, welcome: async (link) => void answers.push(await link.first) });
  const done = parts.connection.connect();
  await settle();
  const socket = lastSocket(parts);
  const carried = new URL(socket.url).searchParams.get('first') ?? '';
  const { type, id } = JSON.parse(carried) as { type: string; id: string };
  assert.equal(type, 'join');
  socket.hello({ first: true });
  socket.receive({ type: 'ack', ref: id, data: 'in one read with the hello' });
  await done;
  assert.deepEqual([answers, socket.sent], [['in one read with the hello'], []]);
});

test('[SDK-131] a server that does not know first frames gets it as one of its own, and no timer is left', async () => {
  const parts = rig({
    first: () => ({ type: 'join' }),
    welcome: async (link) => void (await (link.first ?? link.request({ type: 'unsubscribe', conversations: ['c'] }))),
  });
  const done = parts.connection.connect();
  await settle();
  const socket = lastSocket(parts);
  socket.hello();
  await settle();
  const [sent] = socket.sent;
  assert.equal(sent?.type, 'unsubscribe');
  socket.receive({ type: 'ack', ref: sent?.id, data: {} });
  await done;
  parts.connection.disconnect();
  await settle();
  assert.equal(parts.world.timers, 0);
});

test('[SDK-135] the time for an answer to the first frame begins with the hello, however long connecting took', async () => {
  const parts = rig({ first: () => ({ type: 'join' }), welcome: async (link) => void (await link.first) });
  const done = parts.connection.connect();
  await parts.world.advance(12_000);
  const socket = lastSocket(parts);
  const { id } = JSON.parse(new URL(socket.url).searchParams.get('first') ?? '') as { id: string };
  socket.hello({ first: true });
  await settle();
  socket.receive({ type: 'ack', ref: id, data: {} });
  await settle();
  assert.deepEqual([parts.world.sockets.length, parts.states.at(-1)], [1, 'connected']);
  await done;
});

test('[SDK-135] after an attempt that got no hello the next carries no first frame: something between may refuse it', async () => {
  const parts = rig({ first: () => ({ type: 'join' }) });
  const done = parts.connection.connect();
  await settle();
  lastSocket(parts).drop(1006);
  await parts.world.advance(3_000);
  lastSocket(parts).hello();
  await done;
  lastSocket(parts).drop(1006);
  await parts.world.advance(3_000);
  const carried = parts.world.sockets.map(({ url }) => url.includes('?first='));
  assert.deepEqual(carried, [true, false, true], 'one that got through is followed by one that carries it');
  parts.connection.disconnect();
});

test('[SDK-2] a lost connection comes back: reconnecting, then connected', async () => {
  const parts = await connected(rig());
  lastSocket(parts).drop(1006);
  await settle();
  assert.equal(parts.connection.state, 'reconnecting');
  await parts.world.advance(300);
  lastSocket(parts).hello();
  await settle();
  assert.deepEqual(parts.states, ['connecting', 'connected', 'reconnecting', 'connected']);
});

test('[SDK-2] without a network reconnecting ends in disconnected, with a reason', async () => {
  const parts = await connected(rig());
  lastSocket(parts).drop(1006);
  for (let step = 0; step < 40; step++) {
    await parts.world.advance(5_000);
    lastSocket(parts).drop(1006);
    await settle();
  }
  assert.deepEqual(parts.states, ['connecting', 'connected', 'reconnecting', 'disconnected']);
  assert.equal(parts.errors.at(-1)?.reason, 'network');
});

test('[SDK-2] a silent connection is closed within one and a quarter heartbeats and a half', async () => {
  const parts = await connected(rig());
  await parts.world.advance(30_000);
  assert.equal(parts.states.at(2), 'reconnecting');
});

test('[SDK-49] a socket that cannot be constructed is tried again', async () => {
  const parts = await connected(rig());
  const { world, states } = parts;
  const open = world.openWebSocket;
  let thrown = 0;
  world.openWebSocket = () => {
    thrown += 1;
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  lastSocket(parts).drop(1006);
  await world.advance(3_000);
  assert.ok(thrown > 1, `${thrown} attempts`);
  assert.deepEqual(states.slice(-1), ['reconnecting']);
  world.openWebSocket = open;
  await world.advance(10_000);
  lastSocket(parts).hello();
  await settle();
  assert.deepEqual(states.slice(-1), ['connected']);
});

test('[SDK-2] frames and pongs keep a connection', async () => {
  const parts = await connected(rig());
  const socket = lastSocket(parts);
  for (let step = 0; step < 20; step++) {
    await parts.world.advance(7_500);
    socket.receive({ type: 'pong' });
  }
  assert.equal(parts.connection.state, 'connected');
  assert.ok(socket.sent.filter(({ type }) => type === 'ping').length >= 15);
});

test('[SDK-4] connect() rejects at once when the server says stop, and gives a reason to act on', async () => {
  const parts = rig();
  const done = parts.connection.connect();
  await settle();
  lastSocket(parts).receive({
    type: 'error',
    svcCode: 'SVC_ORIGIN_NOT_ALLOWED',
    message: 'This origin is not allowed.',
    fatal: true,
  });
  lastSocket(parts).drop(4403, 'ORIGIN_NOT_ALLOWED');
  await assert.rejects(done, (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, 'SVC_ORIGIN_NOT_ALLOWED');
    assert.match(error.message, /allowed origins/);
    return true;
  });
  assert.deepEqual(parts.states, ['connecting', 'disconnected']);
});

test('[SDK-4] connect() rejects in time when nobody answers', async () => {
  const parts = rig();
  const done = assert.rejects(parts.connection.connect({ timeoutMs: 5_000 }), { reason: 'network' });
  await parts.world.advance(5_000);
  await done;
  assert.equal(parts.connection.state, 'disconnected');
});

test('[SDK-4] an aborted connect() rejects and leaves nothing behind', async () => {
  const parts = rig();
  const stop = new AbortController();
  const done = assert.rejects(parts.connection.connect({ signal: stop.signal }), { reason: 'client' });
  await settle();
  stop.abort();
  await done;
  assert.deepEqual(parts.states, ['connecting', 'disconnected']);
  await parts.world.advance(60_000);
  assert.equal(parts.world.sockets.length, 1);
});

test('[SDK-4] connect, disconnect, connect without a pause ends connected, with one live socket', async () => {
  const parts = rig();
  const first = assert.rejects(parts.connection.connect(), { reason: 'client' });
  parts.connection.disconnect();
  const second = parts.connection.connect();
  const third = parts.connection.connect();
  await settle();
  for (const socket of parts.world.sockets) if (socket.readyState === 0) socket.hello();
  await Promise.all([first, second, third]);
  assert.equal(parts.world.sockets.filter(({ readyState }) => readyState === 1).length, 1);
  assert.equal(parts.connection.state, 'connected');
});

test('[SDK-3] an expired token is renewed once', async () => {
  let minted = 0;
  const parts = await connected(rig({ token: () => `token-${++minted}` }));
  lastSocket(parts).drop(4401, 'TOKEN_EXPIRED');
  await parts.world.advance(1_500);
  assert.deepEqual(lastSocket(parts).protocols[1], 'bearer.token-2');
  lastSocket(parts).drop(4401, 'TOKEN_EXPIRED');
  await settle();
  assert.equal(parts.connection.state, 'disconnected');
  assert.equal(parts.errors.at(-1)?.reason, 'token_expired');
});

test('[SDK-2] a server that asks to reconnect during the welcome gets a new connection after it', async () => {
  const parts = rig({
    // As signaling does: a link that closes during the welcome is a refusal.
    async welcome(link) {
      if (parts.world.sockets.length > 1) return;
      parts.connection.cycle(0);
      const joined = new Promise<null>((resolve) => parts.world.setTimer(() => resolve(null), 10));
      const close = await Promise.race([link.closed, joined]);
      if (close) throw new RefusedLink(close, undefined);
    },
  });
  const done = parts.connection.connect();
  await settle();
  lastSocket(parts).hello();
  await parts.world.advance(10);
  await done;
  lastSocket(parts).hello();
  await settle();
  assert.deepEqual(parts.states, ['connecting', 'connected', 'reconnecting', 'connected']);
  assert.equal(parts.world.sockets.length, 2);
});

test('[SDK-4] a disconnect() at any moment of the welcome stays disconnected', async () => {
  for (let turns = 0; turns < 8; turns++) {
    const parts = rig({
      async welcome() {
        void afterTurns(turns).then(() => parts.connection.disconnect());
      },
    });
    const done = parts.connection.connect().catch(() => {});
    await settle();
    lastSocket(parts).hello();
    await done;
    await settle();
    assert.equal(parts.connection.state, 'disconnected', `after ${turns} turns`);
  }
});

async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await null;
}

test('[SDK-2] a network that is back is used at once', async () => {
  const parts = await connected(rig());
  for (let attempt = 0; attempt < 5; attempt++) {
    lastSocket(parts).drop(1006);
    await parts.world.advance([300, 1_000, 3_000, 7_000][attempt] ?? 0);
  }
  const before = parts.world.sockets.length;
  parts.world.wake();
  await settle();
  assert.equal(parts.world.sockets.length, before + 1);
});

test('[SDK-54] from another network a socket that does not answer within half a second is replaced', async () => {
  const parts = await connected(rig());
  for (const isAnswered of [true, false]) {
    parts.world.wake('online');
    await parts.world.advance(250);
    if (isAnswered) lastSocket(parts).receive({ type: 'pong', t: 0 });
    await parts.world.advance(250);
    assert.equal(parts.connection.state, isAnswered ? 'connected' : 'reconnecting');
  }
});

test('[SDK-2] any sequence of losses: legal states, a settled promise, at most seven attempts a minute', async () => {
  const close = fc.constantFrom(1000, 1001, 1006, 1009, 4401, 4403, 4408, 4409, 4410, 4422, 4429, 4500, 4503);
  const step = fc.oneof(
    fc.record({ is: fc.constant('hello' as const) }),
    fc.record({ is: fc.constant('drop' as const), code: close }),
    fc.record({ is: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer(), async (steps, seed) => {
      let dice = seed >>> 0;
      const random = (): number => {
        dice = (Math.imul(dice, 1_664_525) + 1_013_904_223) >>> 0;
        return dice / 2 ** 32;
      };
      const parts = rig({ token: () => 'token', random });
      let outcome = 'pending';
      parts.connection.connect().then(
        () => (outcome = 'connected'),
        () => (outcome = 'rejected'),
      );
      await settle();
      for (const one of steps) {
        const socket = lastSocket(parts);
        if (one.is === 'wait') await parts.world.advance(one.ms);
        else if (one.is === 'drop') socket.drop(one.code);
        else if (socket.readyState === 0) socket.hello();
        await settle();
      }
      // No answers from here on: it must end by itself.
      for (let turn = 0; turn < 60; turn++) {
        await parts.world.advance(10_000);
        lastSocket(parts).drop(1006);
      }
      assert.notEqual(outcome, 'pending');
      assert.equal(parts.connection.state, 'disconnected');
      const times = parts.world.sockets.map(({ openedAt }) => openedAt);
      for (const from of times) assert.ok(times.filter((time) => time >= from && time < from + 60_000).length <= 7);
    }),
    { numRuns: 200 },
  );
});

test('[SDK-4] a token that comes too late for the connection it was fetched for does not disturb the next one', async () => {
  const late = Promise.withResolvers<string>();
  const tokens = [late.promise, Promise.resolve('second')];
  const credential = createCredential(() => tokens.shift() ?? 'more');
  const parts = rig({ credential });
  const first = assert.rejects(parts.connection.connect(), { reason: 'client' });
  await settle();
  parts.connection.disconnect();
  await first;
  // As a call over HTTP does that was refused.
  await credential.renew();
  await connected(parts);
  assert.ok(parts.connection.link);
  late.resolve('first');
  await settle();
  assert.ok(parts.connection.link, 'the open link is kept');
});
