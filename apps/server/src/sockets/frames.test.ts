import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { openSocket } from '../../testkit/clients/socket-client.ts';
import { startSockets, type TestSockets } from '../../testkit/clients/sockets.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { frameText } from '../core/socket.ts';
import { queuedBytesMax } from './outbox.ts';

let at: TestSockets;
before(async () => {
  at = await startSockets();
});
after(() => at.stop());

test('[SOCK-5] a frame with an id gets exactly one answer with its ref; without one only errors come back', async () => {
  const client = await at.chat();
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
  const client = await at.chat();
  const error = await client.ask({ type: 'break' });
  assert.equal(error['code'], 'INTERNAL');
  assert.ok(!JSON.stringify(error).includes('secret'));
  assert.equal((await client.ask({ type: 'echo', text: 'still here' })).type, 'ack');
  await client.close();
});

test('[SOCK-6] hostile frames get the declared error and change nothing', async () => {
  const client = await at.chat();
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
  const binary = await at.chat();
  await binary.take('hello');
  binary.ws.send(Buffer.from([1, 2, 3]));
  assert.equal((await binary.whenClosed()).code, 4400);
});

test('[SOCK-7] a frame over the size limit ends the connection with 1009', async () => {
  const client = await at.chat();
  await client.take('hello');
  client.send({ type: 'echo', text: 'x'.repeat(70_000) });
  assert.equal((await client.whenClosed()).code, 1009);
  const fragmented = await at.chat();
  await fragmented.take('hello');
  for (let at = 0; at < 40; at++) fragmented.ws.send('x', { fin: false });
  assert.notEqual((await fragmented.whenClosed()).code, 1000);
});

test('[SIG-27] the frame that an address carries has the size limit of all others', async () => {
  const first = (size: number): string => JSON.stringify({ type: 'echo', text: 'x'.repeat(size) });
  const open = (size: number) =>
    openSocket(`${at.url}/v1/rtc/signal?token=${at.newToken()}&first=${encodeURIComponent(first(size))}`);
  assert.equal((await (await open(8_192)).whenClosed()).code, 1009);
  const fits = await open(8_000);
  await fits.take('hello');
  await fits.close();
});

test('[SOCK-8] frames of one connection are handled one after the other, pings at once', async () => {
  const client = await at.chat();
  const first = client.ask({ type: 'slow', name: 'first' });
  const second = client.ask({ type: 'echo', text: 'second' });
  await eventually(() => at.started.includes('first'));
  client.send({ type: 'ping', t: 1 });
  await client.take('pong');
  assert.ok(!client.frames.some((frame) => frame.type === 'ack'), 'the second frame waits for the first');
  at.letSlowGo();
  await Promise.all([first, second]);
  assert.deepEqual(
    client.frames.filter((frame) => frame.type === 'ack').map((frame) => frame['data']),
    [{ name: 'first' }, { text: 'second' }],
  );
  await client.close();
});

test('[SOCK-8] a ping is answered the same however it is written, and what is no JSON is refused', async () => {
  const client = await at.chat();
  await client.take('hello');
  const now = at.clock.now();
  const answers: [text: string, t: unknown][] = [
    ['{"type":"ping"}', undefined],
    [' {"type":"ping"}', undefined],
    ['{"type":"ping","t":42}', 42],
    ['{"type":"ping", "t":42}', 42],
    ['{"type":"ping","t":0}', 0],
    ['{"type":"ping","t":-7.5}', -7.5],
    ['{"type":"ping","t":123456789012345678}', 123456789012345680],
    ['{"type":"ping","t":"é"}', 'é'],
  ];
  for (const [text, t] of answers) {
    client.send(text);
    const said = t === undefined ? {} : { t };
    assert.deepEqual(await client.take('pong'), { type: 'pong', ...said, serverTime: now, ts: now }, text);
  }
  for (const text of [
    '{"type":"ping","t":007}',
    '{"type":"ping","t":}',
    '{"type":"ping","t":4x}',
    '{"type":"ping"}}',
  ]) {
    client.send(text);
    assert.equal((await client.take('error'))['code'], 'INVALID_JSON', text);
  }
  await client.close();
});

test('[SOCK-8] frames and pings that come while the token is checked are answered after it', async () => {
  const client = await at.chat('good-slow');
  await eventually(() => at.started.includes('good-slow'));
  const [pong, echo] = [client.ask({ type: 'ping', t: 7 }), client.ask({ type: 'echo', text: 'early' })];
  // Its answer proves that the frames before it have arrived.
  client.ws.ping();
  await once(client.ws, 'pong');
  at.letSlowGo();
  assert.deepEqual([(await pong).type, (await echo).type], ['ack', 'ack']);
  assert.equal((await client.take('pong'))['t'], 7);
  await client.close();
});

test('[SOCK-9] a budget is counted per subject over all its connections and answers RATE_LIMITED', async () => {
  const token = at.newToken();
  const [one, two] = [await at.chat(token), await at.chat(token)];
  for (let spent = 0; spent < 30; spent++) {
    assert.equal((await (spent % 2 ? one : two).ask({ type: 'limited' })).type, 'ack');
  }
  const refused = await one.ask({ type: 'limited' });
  assert.deepEqual([refused['code'], refused['retryable']], ['RATE_LIMITED', true]);
  assert.ok(Number(refused['retryAfterSeconds']) >= 1 && Number(refused['retryAfterSeconds']) <= 60);
  const other = await at.chat();
  assert.equal((await other.ask({ type: 'limited' })).type, 'ack');
  for (const client of [one, two, other]) await client.close();
});

test('[SOCK-10] signaling warns once over 100 frames a window, and closes with 4429 after 20 more', async () => {
  const client = await openSocket(`${at.url}/v1/rtc/signal`, { protocols: ['svc.rtc.v1', `bearer.${at.newToken()}`] });
  for (let sent = 0; sent < 120; sent++) client.send({ type: 'echo', text: '', id: String(sent) });
  await client.take('error');
  assert.equal((await client.ask({ type: 'ping', t: 0 })).type, 'response', 'pings are free');
  assert.equal(client.frames.filter((frame) => frame.type === 'response').length, 101);
  assert.equal(client.frames.filter((frame) => frame.type === 'error').length, 1);
  client.send({ type: 'echo', text: '' });
  assert.equal((await client.whenClosed()).code, 4429);
});

test('[SOCK-13] a reader that stops reading is cut with 4408 at 1 MiB; others get everything', async () => {
  const [fast, slow] = [await at.chat(), await at.chat()];
  const [toFast, toSlow] = [await at.connectionOf(fast), await at.connectionOf(slow)];
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

test('[SOCK-13] a client that asks for much and reads slowly gets all of it, at its own pace', async () => {
  const client = await at.chat();
  const connection = await at.connectionOf(client);
  client.ws.pause();
  // More than the network between us takes.
  const asked = 300;
  for (let at = 0; at < asked; at++) client.send({ type: 'echo', id: `${at}`, text: 'x'.repeat(60_000) });
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

test('[SOCK-15] several frames queued in one turn arrive whole and in order', async () => {
  const client = await at.chat();
  const connection = await at.connectionOf(client);
  const sizes = [0, 125, 126, 65_535, 65_536, 70_000, 3];
  for (const size of sizes) connection.write(frameText(JSON.stringify({ type: 'event', text: 'é'.repeat(size) })));
  await eventually(() => client.frames.length === sizes.length + 1);
  assert.deepEqual(
    client.frames.slice(1).map((frame) => String(frame['text']).length),
    sizes,
  );
  await client.close();
});

test('[SOCK-17] one frame that cannot be read ends a connection that is not authenticated', async () => {
  const unknown = await openSocket(`${at.url}/v1/chat/ws`);
  unknown.send('{');
  assert.deepEqual(await unknown.whenClosed(), { code: 4400, reason: 'INVALID_JSON' });
  assert.deepEqual(
    unknown.frames.map(({ type, code, fatal }) => ({ type, code, fatal })),
    [{ type: 'error', code: 'INVALID_JSON', fatal: true }],
  );
  const checked = await at.chat('good-slow');
  checked.send('{}');
  assert.equal((await checked.whenClosed()).code, 4400, 'also while its token is checked');
});

for (const [path, subprotocol] of [
  ['/v1/chat/ws', 'svc.chat.v1'],
  ['/v1/rtc/signal', 'svc.rtc.v1'],
] as const) {
  const open = async (from: TestSockets) => {
    const client = await openSocket(`${from.url}${path}`, { protocols: [subprotocol, `bearer.${from.newToken()}`] });
    await client.take('hello');
    return client;
  };
  const few = { SOCKETS_MAX_MALFORMED_FRAMES: '3', SOCKETS_MAX_INVALID_FRAMES: '4', SOCKETS_MAX_PINGS: '5' };

  test(`[SOCK-17] ${path}: frames that cannot be read are counted, and one too many in a window ends with 4400`, async () => {
    const own = await startSockets(few);
    const client = await open(own);
    for (let sent = 0; sent < 3; sent++) client.send('{');
    assert.equal((await client.ask({ type: 'echo', text: 'still here' })).type === 'error', false);
    await own.clock.advance(30_000);
    await client.ask({ type: 'ping' });
    await own.clock.advance(31_000);
    for (let sent = 0; sent < 3; sent++) client.send('{');
    await client.ask({ type: 'ping' });
    assert.equal(client.closed, null, 'a new window starts anew');
    for (let sent = 0; sent < 5; sent++) client.send('{');
    assert.deepEqual(await client.whenClosed(), { code: 4400, reason: 'INVALID_JSON' });
    assert.equal(client.frames.filter(({ type }) => type === 'error').length, 7);
    await own.stop();
  });

  test(`[SOCK-17] ${path}: frames of unknown type or with invalid fields are counted too`, async () => {
    const own = await startSockets(few);
    const client = await open(own);
    for (const frame of [{ type: 'nothing' }, { type: 'echo' }, { type: 'nothing' }, { type: 'echo', text: 7 }])
      assert.equal((await client.ask(frame))['fatal'], undefined);
    assert.equal((await client.ask({ type: 'echo' }))['fatal'], true);
    assert.equal((await client.whenClosed()).code, 4400);
    await own.stop();
  });

  test(`[SOCK-17] ${path}: pings are free up to their own limit, then 4429`, async () => {
    const own = await startSockets(few);
    const client = await open(own);
    for (let sent = 0; sent < 5; sent++) await client.ask({ type: 'ping' });
    client.send({ type: 'ping' });
    assert.match((await client.whenClosed()).reason, /^RATE_LIMITED; retryAfter=\d+$/);
    assert.equal(client.closed?.code, 4429);
    await own.stop();
  });
}
