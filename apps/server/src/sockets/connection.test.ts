import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import { openSocket, refusedUpgrade } from '../../testkit/clients/socket-client.ts';
import { startSockets, type TestSockets } from '../../testkit/clients/sockets.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { clockLeewaySeconds } from '../core/tokens.ts';

let at: TestSockets;
before(async () => {
  at = await startSockets();
});
after(() => at.stop());

test('[SOCK-1] a token among the subprotocols, in the query or in the first frame opens the connection', async () => {
  const byProtocol = await at.chat();
  assert.equal(byProtocol.ws.protocol, 'svc.chat.v1');
  await byProtocol.take('hello');

  const byQuery = await openSocket(`${at.url}/v1/chat/ws?token=${at.newToken()}`);
  await byQuery.take('hello');

  const byFrame = await openSocket(`${at.url}/v1/chat/ws`);
  const ack = await byFrame.ask({ type: 'auth', token: at.newToken() });
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
  const own = await startSockets();
  const silent = await openSocket(`${own.url}/v1/chat/ws`);
  await eventually(() => own.sockets.count === 1);
  await own.clock.advance(4_000);
  assert.equal(silent.closed, null);
  await own.clock.advance(2_000);
  assert.deepEqual(await silent.whenClosed(), { code: 4408, reason: 'AUTH_TIMEOUT' });
  await own.stop();
});

test('[SOCK-2] a bad token ends with 4401 after the upgrade, an expired one says so, another frame first too', async () => {
  const bad = await at.chat('bad');
  assert.deepEqual(await bad.whenClosed(), { code: 4401, reason: 'INVALID_TOKEN' });
  assert.deepEqual(
    bad.frames.map(({ type, svcCode, fatal }) => ({ type, svcCode, fatal })),
    [{ type: 'error', svcCode: 'SVC_INVALID_TOKEN', fatal: true }],
  );
  assert.deepEqual(await (await at.chat('late')).whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });

  const early = await openSocket(`${at.url}/v1/chat/ws`);
  early.send({ type: 'echo', text: 'before auth' });
  assert.deepEqual(await early.whenClosed(), { code: 4401, reason: 'UNAUTHENTICATED' });
  assert.ok(early.frames.every((frame) => frame.type === 'error'));
});

test('[SOCK-3] an origin the project does not list ends with 4403', async () => {
  const evil = await openSocket(`${at.url}/v1/chat/ws?token=${at.newToken()}`, { origin: 'https://evil.example' });
  assert.deepEqual(await evil.whenClosed(), { code: 4403, reason: 'ORIGIN_NOT_ALLOWED' });
  const fine = await openSocket(`${at.url}/v1/chat/ws?token=${at.newToken()}`, { origin: 'https://app.example' });
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

test('[SOCK-9] the 21st connection of a subject in a window is completed and closed with 4429', async () => {
  const token = at.newToken();
  for (let made = 0; made < 20; made++) await (await at.chat(token)).take('hello');
  const { code, reason } = await (await at.chat(token)).whenClosed();
  assert.equal(code, 4429);
  assert.match(reason, /^RATE_LIMITED; retryAfter=\d+$/);
});

test('[SOCK-10] signaling counts connection attempts by address, whatever the token', async () => {
  const from = (ip: string) => openSocket(`${at.url}/v1/rtc/signal?token=bad`, { headers: { 'x-forwarded-for': ip } });
  for (let tried = 0; tried < 20; tried++) assert.equal((await (await from('2001:db8::1')).whenClosed()).code, 4401);
  assert.equal((await (await from('2001:db8::2')).whenClosed()).code, 4429, 'one /64 is one address');
  assert.equal((await (await from('192.0.2.7')).whenClosed()).code, 4401);
});

test('[SIG-28] a client that is gone before its attempt was counted is not admitted: nothing would end it', async () => {
  const own = await startSockets();
  const network = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const socket = { remoteAddress: '192.0.2.9' };
  const url = `/v1/rtc/signal?token=${own.newToken()}`;
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      own.sockets.upgrade(
        { method: 'GET', url, headers, socket } as unknown as IncomingMessage,
        network,
        Buffer.alloc(0),
      );
      network.destroy();
      setImmediate(resolve);
    });
  });
  assert.equal(own.sockets.count, 0);
  await own.stop();
});

test('[SOCK-11] 45 s of silence end with 4408; any frame is a heartbeat', async () => {
  const own = await startSockets();
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
    own.closed.some(({ code }) => code === 4408),
    'the domain hears of it',
  );
  await own.stop();
});

test('[RUN-8] a clock that is set ahead or back closes no socket, and silence ends with 4408 as before', async () => {
  const own = await startSockets();
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
  const own = await startSockets();
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

test('[SOCK-11] silence is counted from the last frame, to the second', async () => {
  const own = await startSockets();
  const client = await openSocket(`${own.url}/v1/chat/ws?token=good-late`);
  await client.take('hello');
  await own.clock.advance(20_000);
  client.send('{"type":"ping"}');
  await client.take('pong');
  await own.clock.advance(45_000);
  await client.ask({ type: 'echo', text: 'in time' });
  await own.clock.advance(45_000);
  assert.deepEqual([client.closed, own.closed], [null, []]);
  await own.clock.advance(2_000);
  assert.deepEqual(await client.whenClosed(), { code: 4408, reason: 'HEARTBEAT_LOST' });
  await own.stop();
});

test('[SOCK-12] a shorter token, or a clock that is set ahead, is noticed within seconds', async () => {
  const own = await startSockets();
  const open = async () => {
    const client = await own.chat();
    return { client, connection: await own.connectionOf(client) };
  };
  const [renewed, other] = [await open(), await open()];
  await own.clock.advance(3_000);
  const { session } = renewed.connection;
  renewed.connection.renew({ ...session, expiresAt: own.clock.now() + 30_000 });
  await own.clock.advance(2_000);
  await renewed.client.take('token.expiring');
  await own.clock.advance(clockLeewaySeconds * 1_000 + 25_000);
  assert.equal(renewed.client.closed, null);
  await own.clock.advance(5_000);
  assert.deepEqual(await renewed.client.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });

  await other.client.ask({ type: 'ping' });
  own.clock.step(3_500_000);
  await own.clock.advance(2_000);
  await other.client.take('token.expiring');
  own.clock.step(120_000);
  await own.clock.advance(2_000);
  assert.deepEqual(await other.client.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });
  await own.stop();
});

test('[SOCK-14] a draining process refuses newcomers, says when to reconnect and closes with 4503', async () => {
  const own = await startSockets();
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

test('[SOCK-16] one subject has so many sockets and a process so many in all; one that leaves makes room', async () => {
  const own = await startSockets({ SOCKETS_MAX_PER_SUBJECT: '2', SOCKETS_MAX_PER_PROCESS: '3' });
  const [first, second] = [await own.chat('good-many'), await own.chat('good-many')];
  await Promise.all([first.take('hello'), second.take('hello')]);
  const third = await own.chat('good-many');
  assert.deepEqual(await third.whenClosed(), { code: 4429, reason: 'RATE_LIMITED; retryAfter=5' });
  await first.close();
  await eventually(() => own.sockets.count === 1);
  const again = await own.chat('good-many');
  await again.take('hello');

  const other = await openSocket(`${own.url}/v1/rtc/signal?token=good-other`);
  await other.take('hello');
  assert.deepEqual(await (await own.chat()).whenClosed(), {
    code: 4503,
    reason: 'SERVICE_UNAVAILABLE; retryAfter=5',
  });
  await other.close();
  await eventually(() => own.sockets.count === 2);
  await (await own.chat()).take('hello');
  await own.stop();
});

test('[SOCK-16] one that is gone while its token is checked takes no place', async () => {
  const own = await startSockets({ SOCKETS_MAX_PER_SUBJECT: '1' });
  const open = async () => {
    const checks = own.started.length;
    const client = await openSocket(`${own.url}/v1/chat/ws?token=good-slow`);
    await eventually(() => own.started.length === checks + 1);
    return client;
  };
  const gone = await open();
  await gone.close();
  await eventually(() => own.sockets.count === 0);
  own.letSlowGo();
  const stays = await open();
  own.letSlowGo();
  await stays.take('hello');
  await own.stop();
});

test('[SOCK-16] one address has 50 connections that are not authenticated; one that ends before makes room', async () => {
  const own = await startSockets();
  const open = () => openSocket(`${own.url}/v1/chat/ws`);
  const unknown = await Promise.all(Array.from({ length: 50 }, open));
  assert.deepEqual(await (await open()).whenClosed(), { code: 4429, reason: 'RATE_LIMITED; retryAfter=5' });
  await Promise.all(unknown.map((client) => client.close()));
  await eventually(() => own.sockets.count === 0);
  const next = await open();
  assert.equal((await next.ask({ type: 'auth', token: own.newToken() })).type, 'ack');
  await own.stop();
});

test('[SOCK-12] the end of a token is announced again for the one that renewed it', async () => {
  const own = await startSockets();
  const client = await own.chat();
  const connection = await own.connectionOf(client);
  for (let renewed = 0; renewed < 2; renewed++) {
    connection.renew({ ...connection.session, expiresAt: own.clock.now() + 30_000 });
    await own.clock.advance(2_000);
    await client.take('token.expiring');
  }
  assert.equal(client.closed, null);
  await own.stop();
});
