import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import Fastify from 'fastify';
import {
  newWebhookSecret,
  signWebhook,
  verifyWebhook,
  verifyWebhookAsync,
  type WebhookDedupe,
  type WebhookEvent,
  type WebhookHandlerOptions,
  WebhookVerificationError,
  webhookHandler,
} from './index.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAAAAAAAAAA=';
const event = (id = 'evt_1') =>
  JSON.stringify({
    id,
    type: 'live_stream.started',
    projectId: 'p',
    environment: 'DEVELOPMENT',
    createdAt: '2026-01-01T00:00:00.000Z',
    data: { streamId: 'stream_1', startedAt: '2026-01-01T00:00:00.000Z' },
  });

const codeOf = (verify: () => unknown): string => {
  try {
    verify();
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof WebhookVerificationError, String(error));
    return error.code;
  }
};

test('[WH-18] a verification that is awaited accepts and refuses the same', async () => {
  const raw = event();
  const signed = signWebhook(raw, secret);
  assert.deepEqual(await verifyWebhookAsync(raw, signed, ['other', secret]), JSON.parse(raw));
  await assert.rejects(verifyWebhookAsync(`${raw} `, signed, secret), { code: 'signature_mismatch' });
  await assert.rejects(verifyWebhookAsync(raw, signed, secret, { now: () => 0 }), { code: 'timestamp_out_of_range' });
  await assert.rejects(verifyWebhookAsync(raw, {}, secret), { code: 'missing_signature' });
});

test('[WH-18] a secret that is not set signs nothing: a delivery signed with an empty key is refused', async () => {
  const raw = event();
  const time = Math.floor(Date.now() / 1000);
  const forged = createHmac('sha256', '').update(`${time}.${raw}`).digest('hex');
  const headers = { 'svc-signature': `t=${time},v1=${forged}` };
  // What `[process.env.HOOK_SECRET!]` is where the variable is not set.
  const unset = undefined as unknown as string;
  for (const none of [unset, [unset], [null as unknown as string, ''], ['', unset], [], ' ']) {
    assert.equal(
      codeOf(() => verifyWebhook(raw, headers, none)),
      'missing_secret',
    );
    await assert.rejects(verifyWebhookAsync(raw, headers, none), { code: 'missing_secret' });
  }
  assert.equal(
    codeOf(() => verifyWebhook(raw, headers, [unset, secret])),
    'signature_mismatch',
  );
  await assert.rejects(verifyWebhookAsync(raw, headers, [unset, secret]), { code: 'signature_mismatch' });
  assert.deepEqual(verifyWebhook(raw, signWebhook(raw, secret), [unset, secret]), JSON.parse(raw));
});

test('[WH-18] what is signed is accepted as bytes or text, from any kind of headers', () => {
  const raw = event();
  const signed = signWebhook(raw, secret);
  const expected = JSON.parse(raw);
  const bytes = new TextEncoder().encode(raw);
  assert.deepEqual(verifyWebhook(raw, signed, secret), expected);
  assert.deepEqual(verifyWebhook(bytes, new Headers(signed), [secret]), expected);
  assert.deepEqual(
    verifyWebhook(Buffer.from(bytes), { 'Svc-Signature': signed['svc-signature'] }, ['other', secret]),
    expected,
  );
  // The header as the specification gives it, made by other code than ours.
  const time = Math.floor(Date.now() / 1000);
  const hex = createHmac('sha256', secret).update(`${time}.${raw}`).digest('hex');
  assert.deepEqual(verifyWebhook(raw, { 'svc-signature': `t=${time},v1=${hex}` }, secret), expected);
  assert.deepEqual(
    verifyWebhook(raw, { 'svc-signature': `t=${time},v0=x,v1=${'0'.repeat(64)},v1=${hex}` }, secret),
    expected,
  );
});

test('[WH-18] signing gives the Standard Webhooks headers too', () => {
  const example = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const raw = '{"id":"msg_p5jXN8AQM9LWM0D4loKWxJek","test": 2432232314}';
  const headers = signWebhook(raw, example, { now: () => 1_614_265_330_000 });
  const key = Buffer.from(example.slice(6), 'base64');
  const content = `msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.${raw}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  assert.equal(headers['webhook-id'], 'msg_p5jXN8AQM9LWM0D4loKWxJek');
  assert.match(newWebhookSecret(), /^whsec_[A-Za-z0-9+/]{43}=$/);
});

test('[WH-18] a changed byte, time, secret or signature is refused', () => {
  const raw = new TextEncoder().encode(event());
  const { 'svc-signature': header } = signWebhook(raw, secret);
  fc.assert(
    fc.property(fc.nat(raw.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Uint8Array.from(raw);
      changed[at] = (changed[at] ?? 0) ^ change;
      assert.equal(
        codeOf(() => verifyWebhook(changed, { 'svc-signature': header }, secret)),
        'signature_mismatch',
      );
    }),
  );
  const later = header.replace(/t=(\d+)/, (_, time) => `t=${Number(time) + 1}`);
  assert.equal(
    codeOf(() => verifyWebhook(raw, { 'svc-signature': later }, secret)),
    'signature_mismatch',
  );
  assert.equal(
    codeOf(() => verifyWebhook(raw, { 'svc-signature': header }, `${secret}x`)),
    'signature_mismatch',
  );
  assert.equal(
    codeOf(() => verifyWebhook(`${event()} `, { 'svc-signature': header }, secret)),
    'signature_mismatch',
  );
});

test('[WH-18] the time may be 300 seconds off, either way, and no more', () => {
  const raw = event();
  const atMs = Date.parse('2026-01-01T00:00:00Z');
  const signed = signWebhook(raw, secret, { now: () => atMs });
  const at = (offset: number) => codeOf(() => verifyWebhook(raw, signed, secret, { now: () => atMs + offset * 1000 }));
  assert.deepEqual([-300, 0, 300].map(at), ['accepted', 'accepted', 'accepted']);
  assert.deepEqual([-301, 301, 1e9].map(at), Array(3).fill('timestamp_out_of_range'));
});

test('[WH-18] every refusal has its code', () => {
  const raw = event();
  const { 'svc-signature': good } = signWebhook(raw, secret);
  const [time = '', signature = ''] = good.split(',');
  const malformed = [
    '',
    'x',
    time,
    signature,
    `t=,${signature}`,
    `t=-1,${signature}`,
    `t=1e9,${signature}`,
    `${time},${time},${signature}`,
    `${time},v1=`,
    `${time},v1=zz`,
    `${time},${signature}00`,
    `${time}${',v1='.repeat(3)}`,
    `${time}${`,${signature}`.repeat(11)}`,
  ];
  for (const header of malformed)
    assert.equal(
      codeOf(() => verifyWebhook(raw, { 'svc-signature': header }, secret)),
      'malformed_signature',
      header,
    );
  assert.equal(
    codeOf(() => verifyWebhook(raw, { 'svc-signature': [good, good] }, secret)),
    'malformed_signature',
  );
  assert.equal(
    codeOf(() => verifyWebhook(raw, {}, secret)),
    'missing_signature',
  );
  assert.equal(
    codeOf(() => verifyWebhook(raw, new Headers(), secret)),
    'missing_signature',
  );
  for (const none of ['', [], ['']])
    assert.equal(
      codeOf(() => verifyWebhook(raw, { 'svc-signature': good }, none)),
      'missing_secret',
    );
  for (const body of ['', '{', 'null', '[]', '{"id":"evt_1"}', '"text"'])
    assert.equal(
      codeOf(() => verifyWebhook(body, signWebhook(body, secret), secret)),
      'malformed_body',
      body,
    );
});

/** The same handler behind each door; `post` gives status and text. */
const doors: Record<
  string,
  (options: WebhookHandlerOptions) => Promise<{ post: Post; close: () => Promise<unknown> }>
> = {
  async fetch(options) {
    const handler = webhookHandler(options);
    return {
      post: async (body, headers) => {
        const answer = await handler.fetch(new Request('http://receiver.test/', { method: 'POST', body, headers }));
        return { status: answer.status, text: await answer.text() };
      },
      close: async () => {},
    };
  },
  async node(options) {
    const handler = webhookHandler(options);
    const server = createServer((request, response) => void handler.node(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { post: postTo(`http://127.0.0.1:${port}/`), close: async () => server.close() };
  },
  async fastify(options) {
    const app = Fastify();
    app.register(webhookHandler(options).fastify, { prefix: '/hooks' });
    app.post('/json', async (request) => ({ got: (request.body as { a: number }).a }));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const other = await fetch(`${url}/json`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual(await other.json(), { got: 1 }, 'the rest of the application parses JSON as before');
    return { post: postTo(`${url}/hooks`), close: () => app.close() };
  },
};

type Post = (body: string, headers: Record<string, string>) => Promise<{ status: number; text: string }>;

const postTo =
  (url: string): Post =>
  async (body, headers) => {
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    return { status: answer.status, text: await answer.text() };
  };

for (const [name, open] of Object.entries(doors)) {
  test(`[WH-18] the ${name} handler answers at once if told to, runs listeners once per event and refuses what is not signed`, async () => {
    const seen: string[] = [];
    const finished = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { post, close } = await open({
      secret,
      acknowledge: 'at-once',
      on: {
        'live_stream.started': async ({ id, data }) => {
          await release.promise;
          seen.push(`${id} ${data.streamId}`);
          finished.resolve();
        },
      },
    });
    try {
      // The listener cannot have finished: it waits for this test.
      assert.deepEqual(await post(event('evt_1'), signWebhook(event('evt_1'), secret)), { status: 204, text: '' });
      assert.deepEqual(await post(event('evt_1'), signWebhook(event('evt_1'), secret)), { status: 204, text: '' });
      assert.deepEqual(seen, []);
      release.resolve();
      await finished.promise;
      assert.deepEqual(seen, ['evt_1 stream_1']);
      assert.deepEqual(await post(event('evt_2'), signWebhook(event('evt_1'), secret)), {
        status: 400,
        text: 'signature_mismatch',
      });
      assert.deepEqual(await post(event('evt_2'), {}), { status: 400, text: 'missing_signature' });
      assert.equal((await post('x'.repeat(1_100_000), {})).status, 413);
    } finally {
      await close();
    }
  });
}

test('[WH-18] a listener that fails is reported, and is called again when the answer waits for it', async () => {
  const errors: unknown[] = [];
  let attempts = 0;
  const on = {
    '*': (_event: WebhookEvent) => {
      if (++attempts < 3) throw new Error('not yet');
    },
  };
  const { post } = await (doors['fetch'] as NonNullable<(typeof doors)[string]>)({
    secret,
    on,
    onError: (error) => errors.push(error),
  });
  const signed = () => post(event(), signWebhook(event(), secret));
  assert.deepEqual([(await signed()).status, (await signed()).status, (await signed()).status], [500, 500, 204]);
  assert.equal((await signed()).status, 204);
  assert.equal(attempts, 3);
  assert.equal(errors.length, 2);
});

test('[WH-18] a repeat while the listener runs has its outcome: no event counts as delivered that fails late', async () => {
  const release = Promise.withResolvers<void>();
  let attempts = 0;
  const { post } = await (doors['fetch'] as NonNullable<(typeof doors)[string]>)({
    secret,
    on: {
      '*': async () => {
        attempts += 1;
        await release.promise;
        throw new Error('too late');
      },
    },
    onError() {},
  });
  const both = [post(event(), signWebhook(event(), secret)), post(event(), signWebhook(event(), secret))];
  release.resolve();
  assert.deepEqual(
    (await Promise.all(both)).map(({ status }) => status),
    [500, 500],
  );
  assert.equal(attempts, 1);
});

test('[WH-18] a sender that breaks off ends nothing but its own request', async () => {
  const handler = webhookHandler({ secret, on: {} });
  const answered = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    handler.node(request, response).then(answered.resolve, answered.reject);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy());
  await answered.promise;
  server.close();
});

test('[WH-18] a store of one`s own decides what was seen', async () => {
  const claims: string[] = [];
  const dedupe: WebhookDedupe = {
    claim: async (id) => {
      claims.push(id);
      return false;
    },
  };
  const { fetch } = webhookHandler({ secret, on: { '*': () => assert.fail('was seen already') }, dedupe });
  const request = () =>
    new Request('http://receiver.test/', { method: 'POST', body: event(), headers: signWebhook(event(), secret) });
  assert.equal((await fetch(request())).status, 204);
  assert.deepEqual(claims, ['evt_1']);
  assert.equal((await fetch(new Request('http://receiver.test/'))).status, 405);
});

test('[SDK-136] what a listener threw is told, also when its claim cannot be released', async () => {
  const errors: string[] = [];
  const { fetch } = webhookHandler({
    secret,
    dedupe: { claim: () => true, release: () => Promise.reject(new Error('away')) },
    on: { '*': () => Promise.reject(new Error('no such order')) },
    onError: (error) => void errors.push((error as Error).message),
  });
  const init = { method: 'POST', body: event(), headers: signWebhook(event(), secret) };
  assert.equal((await fetch(new Request('http://receiver.test/', init))).status, 500);
  assert.deepEqual(errors, ['away', 'no such order']);
});

test('[SDK-133] an event is handled once its listener succeeded: a claim whose process died is free again, one at work comes later', async () => {
  const rows = new Map<string, 'claimed' | 'handled'>();
  let isDying = true;
  const dedupe: WebhookDedupe = {
    async claim(id) {
      if (rows.get(id) === 'handled') return false;
      if (rows.has(id)) return 'busy';
      rows.set(id, 'claimed');
      return true;
    },
    async complete(id) {
      if (isDying) throw new Error('the database is away');
      rows.set(id, 'handled');
    },
    release: (id) => void rows.delete(id),
  };
  const errors: unknown[] = [];
  let handled = 0;
  const { fetch } = webhookHandler({
    secret,
    dedupe,
    on: { '*': () => void handled++ },
    onError: (error) => errors.push(error),
  });
  const deliver = async (): Promise<[number, string]> => {
    const init = { method: 'POST', body: event(), headers: signWebhook(event(), secret) };
    const answer = await fetch(new Request('http://receiver.test/', init));
    return [answer.status, await answer.text()];
  };
  rows.set('evt_1', 'claimed');
  assert.deepEqual(await deliver(), [503, 'in_progress'], 'by another process, which may still fail');
  rows.clear();
  assert.deepEqual(await deliver(), [500, 'handler_failed'], 'not known as handled: it comes again');
  isDying = false;
  assert.deepEqual([...(await deliver()), ...(await deliver())], [204, '', 204, '']);
  assert.deepEqual([handled, errors.length, rows.get('evt_1')], [2, 1, 'handled']);
});
