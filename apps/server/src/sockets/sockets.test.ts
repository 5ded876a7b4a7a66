import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { clientFrames, fail, type Limits, readLimits } from '@parley/contract';
import { Type } from 'typebox';
import { eventually } from '../../testkit/eventually.ts';
import { createFakeClock, type FakeClock } from '../../testkit/fake-clock.ts';
import { openSocket, refusedUpgrade } from '../../testkit/socket-client.ts';
import { createMemoryCounters } from '../adapters/counters/memory.ts';
import { createBudgets } from '../core/budgets.ts';
import { createIds } from '../core/ids.ts';
import { createLog } from '../core/log.ts';
import { type AnySocket, type Connection, frameText, type SocketSession, socket } from '../core/socket.ts';
import { toErrorAnswer } from '../http/errors.ts';
import { addressKey } from '../http/rate-budget.ts';
import { createIpOf, requestIdOf } from '../http/request-info.ts';
import { createSockets, type Sockets } from './index.ts';
import { queuedBytesMax } from './outbox.ts';

/** A socket of the tests' own: what a domain would define, at its smallest. */
const frames = clientFrames({
  auth: { data: Type.Object({ token: Type.String() }), does: 'Says who this is.' },
  echo: { data: Type.Object({ text: Type.String({ maxLength: 100_000 }) }), does: 'Says it again.' },
  slow: { data: Type.Object({ name: Type.String() }), does: 'Answers when the test lets it.' },
  break: { data: Type.Object({}), does: 'Has a bug.' },
  limited: { data: Type.Object({}), budget: 'CHAT_SEND_RATE_LIMIT', does: 'Costs.' },
});

const opened: Connection<SocketSession>[] = [];
const closed: { id: string; code: number }[] = [];
const started: string[] = [];
let letSlowGo: () => void = () => {};

function testSocket(path: string, subprotocol: string, clock: FakeClock, extra: object = {}): AnySocket {
  return socket<SocketSession, typeof frames>({
    path,
    subprotocol,
    frames,
    authFrame: 'auth',
    replyType: 'ack',
    frameBytesMax: 65_536,
    heartbeatTimeoutMs: 45_000,
    connectBudget: 'CHAT_CONNECT_RATE_LIMIT',
    async authenticate(token) {
      if (token === 'late') fail('SVC_TOKEN_EXPIRED');
      if (!token.startsWith('good')) fail('SVC_INVALID_TOKEN');
      return { projectId: 'project', environment: 'DEVELOPMENT', subject: token, expiresAt: clock.now() + 3_600_000 };
    },
    opened(connection) {
      opened.push(connection);
      connection.send('hello', { connectionId: connection.id });
    },
    expiring: (connection) => connection.send('token.expiring', {}),
    draining: (connection, afterMs) => connection.send('reconnect', { reason: 'DRAINING', afterMs }),
    closed: ({ id }, code) => void closed.push({ id, code }),
    handlers: {
      auth: async () => undefined,
      echo: async (_connection, { text }) => ({ text }),
      async slow(_connection, { name }) {
        started.push(name);
        await new Promise<void>((resolve) => {
          letSlowGo = resolve;
        });
        return { name };
      },
      break: async () => {
        throw new Error('a secret detail');
      },
      limited: async () => ({}),
    },
    ...extra,
  });
}

interface Started {
  url: string;
  clock: FakeClock;
  sockets: Sockets;
  stop(): Promise<void>;
}

async function start(limits: Limits = readLimits({}).limits): Promise<Started> {
  const clock = createFakeClock();
  const sockets = createSockets({
    clock,
    log: createLog('silent'),
    limits,
    budgets: createBudgets({ counters: createMemoryCounters(clock), limits }),
    ids: createIds(clock),
    random: () => 0.5,
    sockets: [
      testSocket('/v1/chat/ws', 'svc.chat.v1', clock),
      testSocket('/v1/rtc/signal', 'svc.rtc.v1', clock, {
        attemptBudget: 'SIGNALING_MAX_CONNECTIONS_PER_WINDOW',
        frameBudget: 'SIGNALING_MAX_MESSAGES_PER_WINDOW',
        replyType: 'response',
      }),
    ],
    isOriginAllowed: async (_projectId, origin) => origin !== 'https://evil.example',
    requestIdOf,
    ipOf: createIpOf(['127.0.0.1']),
    addressKey,
    refuse: toErrorAnswer,
  });
  const server = createServer();
  server.on('upgrade', sockets.upgrade);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  sockets.start();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    sockets,
    async stop() {
      await sockets.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}

let at: Started;
before(async () => {
  at = await start();
});
after(() => at.stop());

let people = 0;
const goodToken = (): string => `good-${++people}`;
const chat = (token = goodToken()) =>
  openSocket(`${at.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] });

test('[SOCK-1] a token among the subprotocols, in the query or in the first frame opens the connection', async () => {
  const byProtocol = await chat();
  assert.equal(byProtocol.ws.protocol, 'svc.chat.v1');
  await byProtocol.take('hello');

  const byQuery = await openSocket(`${at.url}/v1/chat/ws?token=${goodToken()}`);
  await byQuery.take('hello');

  const byFrame = await openSocket(`${at.url}/v1/chat/ws`);
  const ack = await byFrame.ask({ type: 'auth', token: goodToken() });
  assert.equal(ack.type, 'ack');
  assert.deepEqual(
    byFrame.frames.map((frame) => frame.type),
    ['hello', 'ack'],
  );
  for (const client of [byProtocol, byQuery, byFrame]) await client.close();
});

test('[SOCK-1] an auth frame that is refused is answered by its id', async () => {
  const client = await openSocket(`${at.url}/v1/chat/ws`);
  const answer = await client.ask({ type: 'auth', token: 'no token' });
  assert.deepEqual([answer.type, answer['code'], answer['fatal']], ['error', 'INVALID_TOKEN', true]);
  assert.equal((await client.whenClosed()).code, 4401);
});

test('[SOCK-1] without a token within 5 s the connection ends with 4408', async () => {
  const own = await start();
  const silent = await openSocket(`${own.url}/v1/chat/ws`);
  await eventually(() => own.sockets.count === 1);
  await own.clock.advance(4_000);
  assert.equal(silent.closed, null);
  await own.clock.advance(2_000);
  assert.deepEqual(await silent.whenClosed(), { code: 4408, reason: 'AUTH_TIMEOUT' });
  await own.stop();
});

test('[SOCK-2] a bad token ends with 4401 after the upgrade, an expired one says so, another frame first too', async () => {
  const bad = await chat('bad');
  assert.deepEqual(await bad.whenClosed(), { code: 4401, reason: 'INVALID_TOKEN' });
  assert.deepEqual(
    bad.frames.map(({ type, svcCode, fatal }) => ({ type, svcCode, fatal })),
    [{ type: 'error', svcCode: 'SVC_INVALID_TOKEN', fatal: true }],
  );
  assert.deepEqual(await (await chat('late')).whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });

  const early = await openSocket(`${at.url}/v1/chat/ws`);
  early.send({ type: 'echo', text: 'before auth' });
  assert.deepEqual(await early.whenClosed(), { code: 4401, reason: 'UNAUTHENTICATED' });
  assert.ok(early.frames.every((frame) => frame.type === 'error'));
});

test('[SOCK-3] an origin the project does not list ends with 4403', async () => {
  const evil = await openSocket(`${at.url}/v1/chat/ws?token=${goodToken()}`, { origin: 'https://evil.example' });
  assert.deepEqual(await evil.whenClosed(), { code: 4403, reason: 'ORIGIN_NOT_ALLOWED' });
  const fine = await openSocket(`${at.url}/v1/chat/ws?token=${goodToken()}`, { origin: 'https://app.example' });
  await fine.take('hello');
  await fine.close();
});

test('[SOCK-4] a refused upgrade answers with the envelope and a request id', async () => {
  const missing = await refusedUpgrade(`${at.url}/v1/nothing`, { headers: { 'x-request-id': 'mine-1' } });
  assert.equal(missing.status, 404);
  assert.equal(missing.headers['x-request-id'], 'mine-1');
  assert.deepEqual(
    [missing.body['code'], missing.body['requestId'], missing.body['path']],
    ['SVC_NOT_FOUND', 'mine-1', '/v1/nothing'],
  );
  const foreign = await refusedUpgrade(`${at.url}/v1/chat/ws`, { protocols: ['graphql-ws'] });
  assert.equal(foreign.status, 400);
  assert.match(String(foreign.headers['x-request-id']), /^req_[0-9a-f]{24}$/);

  const malformed = await rawUpgrade('sec-websocket-version: 7\r\nsec-websocket-key: short\r\n');
  assert.match(malformed, /^HTTP\/1\.1 400 /);
  assert.match(malformed, /x-request-id: req_[0-9a-f]{24}/);
  assert.match(malformed, /"code":"SVC_BAD_REQUEST"/);
});

/** Everything the server says to a hand-written upgrade request. */
async function rawUpgrade(headers: string): Promise<string> {
  const client = connect(Number(new URL(at.url).port), '127.0.0.1');
  client.write(`GET /v1/chat/ws HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${headers}\r\n`);
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  await once(client, 'close');
  return text;
}

test('[SOCK-5] a frame with an id gets exactly one answer with its ref; without one only errors come back', async () => {
  const client = await chat();
  const ack = await client.ask({ type: 'echo', text: 'hi' });
  assert.deepEqual([ack.type, ack['data']], ['ack', { text: 'hi' }]);
  assert.equal(typeof ack['ts'], 'number');

  client.send({ type: 'echo', text: 'no answer wanted' });
  client.send({ type: 'echo', text: 7 });
  const error = await client.take('error');
  assert.deepEqual(
    [error['code'], error['svcCode'], error.ref],
    ['VALIDATION_FAILED', 'SVC_VALIDATION_FAILED', undefined],
  );
  const unknown = await client.ask({ type: 'constructor' });
  assert.deepEqual([unknown.type, unknown['code'], unknown['retryable']], ['error', 'UNKNOWN_FRAME', false]);
  const pong = await client.ask({ type: 'ping', t: 42 });
  assert.equal(pong.type, 'ack');
  assert.equal((await client.take('pong'))['t'], 42);
  assert.equal(client.frames.filter((frame) => frame.type === 'ack').length, 2);
  await client.close();
});

test('[SOCK-5] a bug in a handler is INTERNAL and shows nothing of itself; the connection lives on', async () => {
  const client = await chat();
  const error = await client.ask({ type: 'break' });
  assert.equal(error['code'], 'INTERNAL');
  assert.ok(!JSON.stringify(error).includes('secret'));
  assert.equal((await client.ask({ type: 'echo', text: 'still here' })).type, 'ack');
  await client.close();
});

test('[SOCK-6] hostile frames get the declared error and change nothing', async () => {
  const client = await chat();
  const hostile = [
    '{',
    '[]',
    'null',
    '"text"',
    '{}',
    '{"type":5}',
    '{"type":"echo","text":"x","id":""}',
    `{"type":"echo","text":"x","id":"${'i'.repeat(65)}"}`,
    '{"type":"echo","text":"\\u0000"}',
    '{"type":"echo","text":"\\ud800"}',
    '{"type":"echo","__proto__":{"text":"x"}}',
    `{"type":"echo","text":${'['.repeat(100)}${']'.repeat(100)}}`,
  ];
  for (const text of hostile) client.send(text);
  await eventually(() => client.frames.filter((frame) => frame.type === 'error').length === hostile.length);
  for (const frame of client.frames.slice(1)) {
    assert.match(String(frame['svcCode']), /^SVC_(INVALID_JSON|VALIDATION_FAILED)$/);
  }
  await client.close();
  const binary = await chat();
  await binary.take('hello');
  binary.ws.send(Buffer.from([1, 2, 3]));
  assert.equal((await binary.whenClosed()).code, 4400);
});

test('[SOCK-7] a frame over the size limit ends the connection with 1009', async () => {
  const client = await chat();
  await client.take('hello');
  client.send({ type: 'echo', text: 'x'.repeat(70_000) });
  assert.equal((await client.whenClosed()).code, 1009);
  const fragmented = await chat();
  await fragmented.take('hello');
  for (let at = 0; at < 40; at++) fragmented.ws.send('x', { fin: false });
  assert.notEqual((await fragmented.whenClosed()).code, 1000);
});

test('[SOCK-8] frames of one connection are handled one after the other, pings at once', async () => {
  const client = await chat();
  const first = client.ask({ type: 'slow', name: 'first' });
  const second = client.ask({ type: 'echo', text: 'second' });
  await eventually(() => started.includes('first'));
  client.send({ type: 'ping', t: 1 });
  await client.take('pong');
  assert.ok(!client.frames.some((frame) => frame.type === 'ack'), 'the second frame waits for the first');
  letSlowGo();
  await Promise.all([first, second]);
  assert.deepEqual(
    client.frames.filter((frame) => frame.type === 'ack').map((frame) => frame['data']),
    [{ name: 'first' }, { text: 'second' }],
  );
  await client.close();
});

test('[SOCK-9] a budget is counted per subject over all its connections and answers RATE_LIMITED', async () => {
  const token = goodToken();
  const [one, two] = [await chat(token), await chat(token)];
  for (let spent = 0; spent < 30; spent++) {
    assert.equal((await (spent % 2 ? one : two).ask({ type: 'limited' })).type, 'ack');
  }
  const refused = await one.ask({ type: 'limited' });
  assert.deepEqual([refused['code'], refused['retryable']], ['RATE_LIMITED', true]);
  assert.ok(Number(refused['retryAfterSeconds']) >= 1 && Number(refused['retryAfterSeconds']) <= 60);
  const other = await chat();
  assert.equal((await other.ask({ type: 'limited' })).type, 'ack');
  for (const client of [one, two, other]) await client.close();
});

test('[SOCK-9] the 21st connection of a subject in a window is completed and closed with 4429', async () => {
  const token = goodToken();
  for (let made = 0; made < 20; made++) await (await chat(token)).take('hello');
  const { code, reason } = await (await chat(token)).whenClosed();
  assert.equal(code, 4429);
  assert.match(reason, /^RATE_LIMITED; retryAfter=\d+$/);
});

test('[SOCK-10] signaling counts connection attempts by address, whatever the token', async () => {
  const from = (ip: string) => openSocket(`${at.url}/v1/rtc/signal?token=bad`, { headers: { 'x-forwarded-for': ip } });
  for (let tried = 0; tried < 20; tried++) assert.equal((await (await from('2001:db8::1')).whenClosed()).code, 4401);
  assert.equal((await (await from('2001:db8::2')).whenClosed()).code, 4429, 'one /64 is one address');
  assert.equal((await (await from('192.0.2.7')).whenClosed()).code, 4401);
});

test('[SOCK-10] signaling warns once over 100 frames a window, and closes with 4429 after 20 more', async () => {
  const client = await openSocket(`${at.url}/v1/rtc/signal`, { protocols: ['svc.rtc.v1', `bearer.${goodToken()}`] });
  for (let sent = 0; sent < 120; sent++) client.send({ type: 'echo', text: '', id: String(sent) });
  await client.take('error');
  assert.equal((await client.ask({ type: 'ping', t: 0 })).type, 'response', 'pings are free');
  assert.equal(client.frames.filter((frame) => frame.type === 'response').length, 101);
  assert.equal(client.frames.filter((frame) => frame.type === 'error').length, 1);
  client.send({ type: 'echo', text: '' });
  assert.equal((await client.whenClosed()).code, 4429);
});

test('[SOCK-11] 45 s of silence end with 4408; any frame is a heartbeat', async () => {
  const own = await start();
  const [talks, silent] = [
    await openSocket(`${own.url}/v1/chat/ws?token=good-talks`),
    await openSocket(`${own.url}/v1/chat/ws?token=good-silent`),
  ];
  await Promise.all([talks.take('hello'), silent.take('hello')]);
  await own.clock.advance(40_000);
  await talks.ask({ type: 'echo', text: '' });
  await own.clock.advance(10_000);
  assert.deepEqual(await silent.whenClosed(), { code: 4408, reason: 'HEARTBEAT_LOST' });
  assert.equal(talks.closed, null);
  assert.ok(
    closed.some(({ code }) => code === 4408),
    'the domain hears of it',
  );
  await own.stop();
});

test('[RUN-8] a clock that is set ahead or back closes no socket, and silence ends with 4408 as before', async () => {
  const own = await start();
  const client = await openSocket(`${own.url}/v1/chat/ws?token=good-stays`);
  await client.take('hello');
  for (const offMs of [600_000, -1_200_000]) {
    own.clock.step(offMs);
    await own.clock.advance(30_000);
    await client.ask({ type: 'echo', text: '' });
  }
  await own.clock.advance(50_000);
  assert.deepEqual(await client.whenClosed(), { code: 4408, reason: 'HEARTBEAT_LOST' });
  await own.stop();
});

test('[SOCK-12] a token that ends is announced a minute before, and the connection ends with it', async () => {
  const own = await start();
  const client = await openSocket(`${own.url}/v1/chat/ws?token=good-ends`);
  await client.take('hello');
  const beat = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 30) {
      await own.clock.advance(30_000);
      if (!client.closed) await client.ask({ type: 'ping' });
    }
  };
  await beat(3_500);
  assert.ok(!client.frames.some((frame) => frame.type === 'token.expiring'));
  await beat(60);
  await client.take('token.expiring');
  await own.clock.advance(60_000);
  assert.deepEqual(await client.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });
  await own.stop();
});

test('[SOCK-13] a reader that stops reading is cut with 4408 at 1 MiB; others get everything', async () => {
  const [fast, slow] = [await chat(), await chat()];
  const [fastHello, slowHello] = [await fast.take('hello'), await slow.take('hello')];
  const connectionOf = (hello: object) =>
    opened.find(({ id }) => id === (hello as { connectionId: string }).connectionId) ?? assert.fail('not opened');
  const [toFast, toSlow] = [connectionOf(fastHello), connectionOf(slowHello)];
  slow.ws.pause();
  const frame = frameText(JSON.stringify({ type: 'event', text: 'x'.repeat(60_000) }));
  let sent = 0;
  await eventually(
    () => {
      toSlow.write(frame);
      toFast.write(frame);
      sent++;
      return !toSlow.isOpen;
    },
    { everyMs: 0 },
  );
  assert.ok(sent * frame.length > queuedBytesMax);
  slow.ws.resume();
  assert.deepEqual(await slow.whenClosed(), { code: 4408, reason: 'SLOW_CONSUMER' });
  await eventually(() => fast.frames.filter((one) => one.type === 'event').length === sent);
  assert.equal(fast.closed, null);
  await fast.close();
});

test('[SOCK-13] whoever asks for much and reads slowly gets all of it, at their own pace', async () => {
  const client = await chat();
  await client.take('hello');
  client.ws.pause();
  // More than the network between us takes.
  const asked = 300;
  for (let at = 0; at < asked; at++) client.send({ type: 'echo', id: `${at}`, text: 'x'.repeat(60_000) });
  const { connectionId } = client.frames[0] as unknown as { connectionId: string };
  const connection = opened.find(({ id }) => id === connectionId) ?? assert.fail('not opened');
  await eventually(() => connection.queuedBytes > queuedBytesMax / 2);
  client.ws.resume();
  await eventually(() => client.frames.length === asked + 1);
  assert.equal(client.closed, null);
  assert.deepEqual(
    client.frames.slice(1).map(({ ref }) => Number(ref)),
    Array.from({ length: asked }, (_, at) => at),
  );
  await client.close();
});

test('[SOCK-14] a draining process refuses newcomers, tells clients when to come back and closes with 4503', async () => {
  const own = await start();
  const client = await openSocket(`${own.url}/v1/chat/ws?token=good-drained`);
  await client.take('hello');
  const drained = own.sockets.drain(5_000);
  const { afterMs } = await client.take('reconnect');
  assert.equal(afterMs, 2_500);
  const refused = await refusedUpgrade(`${own.url}/v1/chat/ws?token=good-new`);
  assert.deepEqual([refused.status, refused.body['code'], refused.headers['retry-after']], [503, 'SVC_DRAINING', '1']);
  assert.equal(client.closed, null);
  await own.clock.advance(2_500);
  await drained;
  assert.deepEqual(await client.whenClosed(), { code: 4503, reason: 'DRAINING' });
  await own.stop();
});

test('[SOCK-15] several frames queued in one turn arrive whole and in order', async () => {
  const client = await chat();
  const hello = await client.take('hello');
  const connection = opened.find(({ id }) => id === hello['connectionId']) ?? assert.fail('not opened');
  const sizes = [0, 125, 126, 65_535, 65_536, 70_000, 3];
  for (const size of sizes) connection.write(frameText(JSON.stringify({ type: 'event', text: 'é'.repeat(size) })));
  await eventually(() => client.frames.length === sizes.length + 1);
  assert.deepEqual(
    client.frames.slice(1).map((frame) => String(frame['text']).length),
    sizes,
  );
  await client.close();
});
