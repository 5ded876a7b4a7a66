import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { createContext, Script } from 'node:vm';
import { allRoutes, type RouteRow } from '@parley/contract';
import { rolldown } from 'rolldown';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../../../apps/server/testkit/kit/people.ts';
import type { TestService } from '../../../apps/server/testkit/kit/service.ts';
import { sharedService } from '../../../apps/server/testkit/kit/shared-service.ts';
import {
  ApiError,
  audioOnly,
  ConnectionError,
  createApi,
  isSvcError,
  methodRows,
  newWebhookSecret,
  ParleyError,
  PermissionError,
  RateLimitError,
  Svc,
  signWebhook,
  speaker,
  viewer,
  withData,
} from './index.ts';

let service: TestService;
let project: TestProject;
let svc: Svc;

before(async () => {
  service = await sharedService();
  project = await service.newProject();
  svc = new Svc({ apiKey: project.apiKey, baseUrl: service.url });
});

type Answer =
  | { status: number; body?: object; page?: string; headers?: Record<string, string> }
  | 'hang up'
  | 'break off';

/** A service of which only the answers matter: what an SDK does when things go wrong. */
async function scripted(answers: readonly Answer[]): Promise<{
  svc: Svc;
  requests: IncomingMessage[];
  waits: number[];
  close(): void;
}> {
  const [requests, waits]: [IncomingMessage[], number[]] = [[], []];
  const server = createServer((request, response) => {
    const answer = answers[requests.push(request) - 1] ?? { status: 200, body: {} };
    if (answer === 'hang up') return void request.socket.destroy();
    if (answer === 'break off') {
      response.writeHead(200, { 'content-length': '100' }).write('{"id":');
      setImmediate(() => request.socket.destroy());
      return;
    }
    response.writeHead(answer.status, answer.headers).end(answer.page ?? JSON.stringify(answer.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sleep = async (ms: number) => void waits.push(ms);
  return {
    svc: new Svc({ apiKey: 'svk_dev_abc.secretsecret', baseUrl: `http://127.0.0.1:${port}`, sleep }),
    requests,
    waits,
    close: () => server.close(),
  };
}

const refusal = (code: string, more: object = {}) => ({
  code,
  legacyCode: 'X',
  message: 'No.',
  requestId: 'req_1',
  path: '/',
  ...more,
});

describe('[SDK-41] methods', () => {
  test('every route that takes an API key is a method, and no other is', () => {
    const rows = Object.entries(allRoutes as Record<string, RouteRow>);
    const expected = rows.filter(([, row]) => row.by.includes('apiKey')).map(([name]) => name);
    const routes = Object.values(methodRows).map(({ route }) => route);
    assert.deepEqual([...routes].sort(), expected.sort());
    for (const name of Object.keys(methodRows)) {
      const method = name.split('.').reduce<unknown>((scope, part) => (scope as Record<string, unknown>)[part], svc);
      assert.equal(typeof method, 'function', name);
    }
  });

  test('a room, a token, a conversation, messages and a reaction, as the row says', async () => {
    const room = await svc.rooms.create({ name: 'sdk-methods' });
    assert.equal((await svc.rooms.get('sdk-methods')).id, room.id);
    const token = await svc.rooms.tokens.create(room.id, { participantIdentity: 'ada', permissions: speaker() });
    assert.equal(token.permissions.publish, true);
    assert.equal((await svc.rooms.tokens.revoke(room.id, token.tokenId)).tokenId, token.tokenId);
    await svc.chat.conversations.create({ name: 'sdk-methods', roomId: room.id, members: ['ada'] });
    const message = await svc.chat.messages.send('sdk-methods', { text: 'Hello', senderId: 'ada' });
    const reactions = await svc.chat.reactions.add(message.id, { emoji: '👍', userId: 'ada' });
    assert.deepEqual(reactions[0]?.userIds, ['ada']);
    assert.equal((await svc.chat.messages.markRead(message.id, { userId: 'ada' })).unreadCount, 0);
    assert.equal(await svc.chat.reactions.remove(message.id, '👍', { userId: 'ada' }), undefined);
    assert.equal((await svc.rooms.close(room.id)).status, 'CLOSED');
    assert.equal(svc.environment, 'development');
  });

  test('an attachment goes up in one call', async () => {
    await svc.chat.conversations.create({ name: 'files', members: ['ada'] });
    const content = new TextEncoder().encode('some bytes');
    const attachment = await svc.chat.attachments.upload('files', {
      filename: 'a.txt',
      mimeType: 'text/plain',
      content,
    });
    assert.equal(attachment.status, 'UPLOADED');
    const { url } = await svc.chat.attachments.downloadUrl(attachment.id);
    assert.equal(await (await fetch(url.replace(/^http:\/\/localhost:\d+/, service.url))).text(), 'some bytes');
  });

  test('presets are what the service takes for them', async () => {
    const room = await svc.rooms.create({ name: 'presets' });
    const granted = async (permissions: ReturnType<typeof viewer>) =>
      (await svc.rooms.tokens.create(room.id, { participantIdentity: 'ada', permissions })).permissions;
    assert.partialDeepStrictEqual(await granted(viewer()), { subscribe: true, publish: false, publishData: false });
    assert.partialDeepStrictEqual(await granted(withData(speaker())), { publish: true, publishData: true });
    const sound = await granted(audioOnly());
    assert.partialDeepStrictEqual(sound, { publish: true, publishAudio: true, publishVideo: false });
  });

  test('events come as they happen', async () => {
    const stop = new AbortController();
    const stream = svc.events.stream({ types: 'live_stream.created,live_stream.started' }, { signal: stop.signal });
    const events = stream[Symbol.asyncIterator]();
    const first = events.next();
    let isOpen = false;
    first.then(() => {
      isOpen = true;
    });
    // The first that is emitted after the stream has opened comes through.
    await eventually(async () => {
      if (isOpen) return true;
      const { id } = await svc.liveStreams.create({ title: 'Launch', hostIdentity: 'ada' });
      await svc.liveStreams.start(id);
      return isOpen;
    });
    assert.match((await first).value.type, /^live_stream\./);
    stop.abort();
    await assert.rejects(async () => {
      for (;;) await events.next();
    });
  });

  test('what is misspelt does not compile', () => {
    // @ts-expect-error there is no such field
    const misspelt = () => svc.rooms.create({ nmae: 'x' });
    // @ts-expect-error there is no such method
    const missing = () => svc.rooms.lits();
    assert.equal([misspelt, missing].length, 2);
  });
});

describe('[SDK-42] lists are a promise and an async iterable', () => {
  test('of a paged list, one page or every item', async () => {
    const own = new Svc({ apiKey: (await service.newProject()).apiKey, baseUrl: service.url });
    for (let index = 0; index < 5; index++) await own.rooms.create({ name: `room-${index}` });
    const page = await own.rooms.list({ limit: 2 });
    assert.deepEqual([page.length, typeof page.nextCursor], [2, 'string']);
    const names: string[] = [];
    for await (const { name } of own.rooms.list({ limit: 2 })) names.push(name);
    assert.deepEqual(names, ['room-4', 'room-3', 'room-2', 'room-1', 'room-0']);
    assert.equal((await own.rooms.list({ limit: 5 })).nextCursor, null);
  });

  test('of history, backward and forward, and of changes', async () => {
    await svc.chat.conversations.create({ name: 'walked', members: ['ada'] });
    for (let index = 0; index < 7; index++)
      await svc.chat.messages.send('walked', { text: `${index}`, senderId: 'ada' });
    const read = async (list: AsyncIterable<{ text: string | null }>) => {
      const texts: string[] = [];
      for await (const { text } of list) texts.push(text ?? '');
      return texts.join('');
    };
    assert.equal(await read(svc.chat.messages.list('walked', { limit: 3 })), '6543210');
    const newest = await svc.chat.messages.list('walked', { limit: 3 });
    assert.deepEqual([newest.messages.length, typeof newest.nextCursor], [3, 'string']);
    const after = (await svc.chat.messages.list('walked', { limit: 6 })).nextCursor ?? '';
    assert.equal((await read(svc.chat.messages.list('walked', { limit: 2, after }))).length, 5);
    const changes: number[] = [];
    for await (const { change } of svc.chat.messages.changes('walked', { limit: 2 })) changes.push(change);
    assert.ok(
      changes.length >= 7 && changes.every((change, index) => index === 0 || change > (changes[index - 1] ?? 0)),
    );
  });

  test('that nobody awaits asks for nothing, and one that fails can be caught', async () => {
    const { svc: other, requests, close } = await scripted([{ status: 403, body: refusal('SVC_FORBIDDEN') }]);
    const list = other.rooms.list();
    assert.equal(requests.length, 0);
    await assert.rejects(list, PermissionError);
    await assert.rejects(list.finally(), { code: 'SVC_FORBIDDEN' });
    assert.equal(requests.length, 1);
    close();
  });
});

describe('[SDK-53] what is not the service', () => {
  const page = '<html>Sign in to the network</html>';
  const headers = { 'x-request-id': 'req_9' };

  test('a page with 200 is an error that may pass, with its request id', async (context) => {
    const { svc, close } = await scripted([1, 2, 3].map(() => ({ status: 200, page, headers })));
    context.after(close);
    const error = await svc.rooms.get('x').catch((error) => error);
    assert.ok(error instanceof ConnectionError && error.retryable);
    assert.deepEqual([error.code, error.requestId], ['SVC_UNREADABLE_ANSWER', 'req_9']);
  });

  test('so is a page with 502, and both are tried again where that is safe', async (context) => {
    const { svc, requests, close } = await scripted([
      { status: 502, page },
      { status: 200, page },
    ]);
    context.after(close);
    await svc.rooms.get('x');
    assert.equal(requests.length, 3);
  });

  test('an answer that breaks off is a connection error', async (context) => {
    const { svc, close } = await scripted([1, 2, 3, 4].map(() => 'break off' as const));
    context.after(close);
    await assert.rejects(svc.rooms.get('x'), ConnectionError);
  });

  test('[SDK-132] every attempt has an id of its own, which the error names when no answer does', async (context) => {
    const { svc, requests, close } = await scripted(['hang up', 'break off', { status: 502, page }]);
    context.after(close);
    const error = await svc.rooms.get('x').catch((error) => error);
    const sent = requests.map((request) => request.headers['x-request-id']);
    assert.deepEqual([new Set(sent).size, error.requestId], [3, sent.at(-1)]);
    await svc.rooms.get('x', { requestId: 'mine' });
    assert.equal(requests.at(-1)?.headers['x-request-id'], 'mine');
  });

  test('[SDK-132] a stream and a call by route name fail with errors of ours too', async (context) => {
    const { svc, requests, close } = await scripted([
      'break off',
      { status: 200, body: {} },
      ...(['hang up', { status: 200, page }, 'break off'] as const),
    ]);
    context.after(close);
    const ours = (error: unknown): boolean => ParleyError.is(error) && error.retryable && error.requestId !== '';
    const firstEvent = async (): Promise<void> => {
      for await (const _ of svc.events.stream()) return;
    };
    await assert.rejects(firstEvent(), ours);
    await assert.rejects(firstEvent(), { code: 'SVC_UNREADABLE_ANSWER', retryable: true }, 'JSON is no stream');
    const { call } = createApi({ baseUrl: svc.baseUrl, credential: 'x' });
    for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(call('getRoom', { id: 'x' }), ours);
    await call('getRoom', { id: 'x' }, { headers: { 'X-Request-Id': 'mine' } });
    assert.equal(requests.at(-1)?.headers['x-request-id'], 'mine');
    await assert.rejects(call('getRoom', { id: 'x' }, { signal: AbortSignal.abort('why') }), /^why$/);
  });
});

describe('[SDK-43] retries', () => {
  test('a lost answer to a creation is asked for again with the same key, and creates once', async () => {
    let isFirst = true;
    const keys: string[] = [];
    const flaky = new Svc({
      apiKey: project.apiKey,
      baseUrl: service.url,
      sleep: async () => {},
      async fetch(input, init) {
        keys.push(new Headers(init?.headers).get('idempotency-key') ?? '');
        const response = await fetch(input, init);
        if (!isFirst) return response;
        isFirst = false;
        await response.text();
        throw new TypeError('the answer was lost');
      },
    });
    const room = await flaky.rooms.create({ name: 'once-only' });
    assert.equal(keys.length, 2);
    assert.ok(keys[0] !== '' && keys[0] === keys[1], 'both attempts carry one key');
    assert.equal((await svc.rooms.get('once-only')).id, room.id);
  });

  test('what may not be done twice is not sent twice, unless the service did nothing', async () => {
    const lost = await scripted(['hang up']);
    await assert.rejects(lost.svc.liveStreams.start('ls_1'), (error) => error instanceof ConnectionError);
    assert.equal(lost.requests.length, 1);
    lost.close();
    const draining = await scripted([{ status: 503, body: refusal('SVC_DRAINING', { retryAfterSeconds: 1 }) }]);
    await draining.svc.liveStreams.start('ls_1');
    assert.deepEqual([draining.requests.length, draining.waits], [2, [1000]]);
    draining.close();
  });

  test('a read is tried three times with backoff, then the last error is thrown', async () => {
    const { svc: other, requests, waits, close } = await scripted(['hang up', { status: 500 }, 'hang up']);
    await assert.rejects(other.rooms.get('x'), { code: 'network', retryable: true });
    assert.equal(requests.length, 3);
    assert.ok(waits.length === 2 && (waits[0] ?? 0) <= 250 && (waits[1] ?? 0) <= 500 && (waits[1] ?? 0) >= 250);
    close();
  });

  test("a short wait of a rate limit is waited, a long one is the caller's to decide", async () => {
    const limited = (retryAfterSeconds: number) => ({
      status: 429,
      body: refusal('SVC_RATE_LIMITED', { retryAfterSeconds }),
    });
    const short = await scripted([limited(2)]);
    await short.svc.rooms.get('x');
    assert.deepEqual(short.waits, [2000]);
    short.close();
    const long = await scripted([limited(60)]);
    await assert.rejects(
      long.svc.rooms.get('x'),
      (error) => error instanceof RateLimitError && error.retryAfterSeconds === 60,
    );
    assert.deepEqual(long.waits, []);
    long.close();
  });

  test('a refusal is not repeated; an aborted call ends with the reason', async () => {
    const refused = await scripted([{ status: 409, body: refusal('SVC_ROOM_NAME_TAKEN') }]);
    await assert.rejects(refused.svc.rooms.create({ name: 'x' }), { code: 'SVC_ROOM_NAME_TAKEN', status: 409 });
    assert.equal(refused.requests.length, 1);
    refused.close();
    await assert.rejects(svc.rooms.get('x', { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
    await assert.rejects(
      new Svc({ apiKey: project.apiKey, baseUrl: 'http://127.0.0.1:9' }).project.get(),
      ConnectionError,
    );
  });
});

describe('[SDK-44] secrets stay inside', () => {
  const secret = (): string => project.apiKey.split('.')[1] ?? '?';

  test("the client shows its key's public part only", async () => {
    const shown = [inspect(svc, { depth: 9, showHidden: true }), JSON.stringify(svc), String(svc), inspect({ svc })];
    for (const text of shown) assert.ok(!text.includes(secret()), text);
    assert.ok(JSON.stringify(svc).includes(project.apiKey.split('.')[0] ?? '?'));
  });

  test('errors show no secret either, and say what to do', async () => {
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    await svc.rooms.get('missing').catch(note);
    await new Svc({ apiKey: project.apiKey, baseUrl: 'http://127.0.0.1:9', maxRetries: 0 }).project.get().catch(note);
    await new Svc({ apiKey: `svk_dev_wrong.${secret()}`, baseUrl: service.url }).project.get().catch(note);
    try {
      new Svc({ apiKey: `Bearer ${project.apiKey}` });
    } catch (error) {
      note(error);
    }
    assert.equal(errors.length, 4);
    for (const error of errors) {
      assert.ok(isSvcError(error));
      const text = `${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)} ${error.stack}`;
      assert.ok(!text.includes(secret()), text);
    }
    const [missing] = errors;
    assert.ok(missing instanceof ApiError && missing.requestId !== '');
    assert.match(missing.docsUrl, /\/docs\/guides\/errors\/SVC_ROOM_NOT_FOUND$/);
  });
});

test('[SDK-45] [SDK-88] it runs where there is only the web platform: no Node, no process, no Buffer, Web Crypto for signatures', async () => {
  const bundle = await rolldown({ input: new URL('./index.ts', import.meta.url).pathname, platform: 'neutral' });
  const { output } = await bundle.generate({ format: 'iife', name: 'parley' });
  await bundle.close();
  const [{ code }] = output;
  assert.ok(!/from\s*["']node:|require\(["']node:/.test(code) && !code.includes('typebox'));
  // What an edge runtime has, and nothing else.
  const web = { fetch, URL, URLSearchParams, Headers, Request, Response, AbortSignal, AbortController, TextEncoder };
  const realm = createContext({ ...web, TextDecoder, crypto, setTimeout, clearTimeout, atob, btoa, Blob });
  const wanted = { apiKey: project.apiKey, baseUrl: service.url };
  const secret = newWebhookSecret();
  const about = { projectId: 'p', environment: 'DEVELOPMENT', createdAt: '', data: {} };
  const body = JSON.stringify({ id: 'e', type: 'message.created', ...about });
  const [keyId, key] = [`sgk_${'a'.repeat(24)}`, 'B'.repeat(43)];
  const signingKey = `${keyId}.${key}`;
  const work = `(async () => {
    ${code}
    const svc = new parley.Svc(${JSON.stringify(wanted)});
    const room = await svc.rooms.create({ name: 'from-the-edge' });
    const found = [];
    for await (const { name } of svc.rooms.list({ limit: 1 })) found.push(name);
    const [body, headers] = ${JSON.stringify([body, signWebhook(body, secret)])};
    const handler = parley.webhookHandler({ secret: ${JSON.stringify(secret)}, on: {} });
    const received = await handler.fetch(new Request('http://x', { method: 'POST', body, headers }));
    const refused = await handler.fetch(new Request('http://x', { method: 'POST', body: body + ' ', headers }));
    const { token } = await parley.mintChatTokenAsync({ signingKey: ${JSON.stringify(signingKey)}, userId: 'ada' });
    let atOnce = '';
    try { parley.verifyWebhook(body, headers, ${JSON.stringify(secret)}); } catch (error) { atOnce = error.code; }
    return [room.name, found.includes('from-the-edge'), received.status, refused.status, atOnce, token, typeof process, typeof Buffer];
  })()`;
  const result = await (new Script(work).runInContext(realm) as Promise<unknown[]>);
  const [token, ...others] = [...result.splice(5, 1), ...result];
  assert.deepEqual(others, ['from-the-edge', true, 204, 400, 'no_node_crypto', 'undefined', 'undefined']);
  // Web Crypto signs as Node does.
  const [head, claims, signature] = String(token).split('.');
  assert.equal(createHmac('sha256', key).update(`${head}.${claims}`).digest('base64url'), signature);
});
