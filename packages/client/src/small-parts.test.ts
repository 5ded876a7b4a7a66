import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCredential } from './credential.ts';
import {
  ApiError,
  ConnectionError,
  errorFrom,
  MediaError,
  PermissionError,
  RateLimitError,
  SvcError,
} from './errors.ts';
import { createEmitter } from './events.ts';
import { createHttp } from './http.ts';
import { createDerivedStore, createStore } from './store.ts';

test('[SDK-5] errors are distinguished by class, code and kind, and across copies of the package', () => {
  const cases = [
    [{ svcCode: 'SVC_RATE_LIMITED', retryAfterSeconds: 9 }, RateLimitError, 'rate_limit'],
    [{ code: 'SVC_PUBLISH_NOT_ALLOWED', message: 'No.' }, PermissionError, 'permission'],
    [{ code: 'SVC_ROOM_NOT_FOUND', requestId: 'req_1' }, ApiError, 'api'],
  ] as const;
  for (const [wire, type, kind] of cases) {
    const error = errorFrom(wire, 'https://rtc.example.com');
    assert.ok(error instanceof type && error instanceof SvcError && error instanceof Error);
    assert.equal(error.kind, kind);
    assert.ok(SvcError.is(error));
    assert.match(error.docsUrl, /^https:\/\/rtc\.example\.com\/docs\/guides\/errors\/SVC_/);
  }
  const foreign = Object.assign(new Error('x'), { [Symbol.for('parley.SvcError')]: true });
  assert.ok(SvcError.is(foreign) && !SvcError.is(new Error('x')) && !SvcError.is(null));
  assert.equal(new MediaError({ code: 'insecure_context', message: 'x' }).kind, 'media');
});

test('[SDK-5] a refusal names the next step', () => {
  assert.match(errorFrom({ code: 'SVC_NOT_A_MEMBER', message: 'No.' }).message, /^No\. Add the user/);
  assert.match(new ConnectionError('token_expired').message, /function that fetches a new one/);
});

test("[SDK-53] a proxy's page, with whatever status, and an answer that breaks off are errors of ours", async () => {
  const headers = { 'x-request-id': 'req_9' };
  const broken = new ReadableStream({ start: (stream) => stream.error(new Error('reset')) });
  const answers = [
    [new Response('<html>', { status: 502, headers }), true],
    [new Response('<html>', { headers }), true],
    [new Response('<html>', { status: 404, headers }), false],
    [new Response(broken, { headers }), true],
  ] as const;
  for (const [answer, retryable] of answers) {
    const http = createHttp({
      baseUrl: 'https://rtc.example.com',
      credential: createCredential('t'),
      runtime: { fetch: async () => answer, newId: () => 'mine' },
    });
    const expected = { code: 'SVC_UNREADABLE_ANSWER', retryable, requestId: 'req_9' };
    await assert.rejects(http.call('GET', '/v1/rooms'), expected);
  }
});

test('[SDK-132] a call sends a request id, which the error names when no answer does', async () => {
  const sent: (string | null)[] = [];
  const [first, second, third] = [0, 1, 2].map((attempt) => `req_${attempt}a1b2c3d4e5f60718293a4b5`);
  const http = createHttp({
    baseUrl: 'https://rtc.example.com',
    credential: createCredential(async () => 't'),
    runtime: {
      newId: () => `${sent.length}a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9`,
      async fetch(_url, init) {
        if (sent.push(new Headers(init?.headers).get('x-request-id')) === 1) throw new TypeError('reset');
        return new Response('<html>', { status: sent.length === 2 ? 401 : 502 });
      },
    },
  });
  await assert.rejects(http.call('GET', '/v1/rooms'), { code: 'network', retryable: true, requestId: first });
  await assert.rejects(http.call('GET', '/v1/rooms'), { code: 'SVC_UNREADABLE_ANSWER', requestId: third });
  assert.deepEqual(sent, [first, second, third]);
});

test('[SDK-6] listeners come and go: by the returned function, by a signal, once', () => {
  const events = createEmitter<{ ping: [count: number] }>();
  const received: string[] = [];
  const stop = events.on('ping', (count) => received.push(`a${count}`));
  const leaving = new AbortController();
  events.on('ping', (count) => received.push(`b${count}`), { signal: leaving.signal });
  events.on('ping', (count) => received.push(`c${count}`), { once: true });
  events.emit('ping', 1);
  stop();
  events.emit('ping', 2);
  leaving.abort();
  events.emit('ping', 3);
  assert.deepEqual(received, ['a1', 'b1', 'c1', 'b2']);
});

test('[SDK-6] once() resolves with the arguments, or rejects in time', async () => {
  const events = createEmitter<{ ping: [count: number] }>();
  const next = events.once('ping');
  events.emit('ping', 7);
  assert.deepEqual(await next, [7]);
  await assert.rejects(events.once('ping', { timeoutMs: 1 }), { code: 'timeout' });
  await assert.rejects(events.once('ping', { signal: AbortSignal.abort() }), { code: 'timeout' });
});

test('[SDK-6] one listener that throws is reported, and does not keep the others from hearing', () => {
  const events = createEmitter<{ ping: [] }>();
  const bug = new Error('a bug of the application');
  const reported: unknown[] = [];
  const received: string[] = [];
  events.on('ping', () => {
    throw bug;
  });
  events.on('ping', () => received.push('ping'));
  // As browsers have it; Node has none.
  Object.assign(globalThis, { reportError: (error: unknown) => reported.push(error) });
  events.emit('ping');
  Object.assign(globalThis, { reportError: undefined });
  assert.deepEqual([received, reported], [['ping'], [bug]]);
});

test('[SDK-6] a store gives the same snapshot until it changes, and notifies when it does', () => {
  const store = createStore({ count: 0 });
  let emitted = 0;
  const stop = store.subscribe(() => emitted++);
  const first = store.getSnapshot();
  store.set(first);
  assert.equal(emitted, 0);
  store.set({ count: 1 });
  stop();
  store.set({ count: 2 });
  assert.equal(emitted, 1);
  let computed = 0;
  const derived = createDerivedStore(() => [++computed]);
  assert.equal(derived.getSnapshot(), derived.getSnapshot());
  derived.invalidate();
  assert.deepEqual(derived.getSnapshot(), [2]);
});
