import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { allRoutes, type Credential, errors, type RouteRow, splitAt } from '@parley/contract';
import { lightFetch } from '../../testkit/kit/light-fetch.ts';
import { inTurns } from '../../testkit/kit/part.ts';
import type { TestProject } from '../../testkit/kit/people.ts';
import { sampleBody } from '../../testkit/kit/sample-body.ts';
import type { TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';

/**
 * Every row of the route table, asked what no client should ask: the declared answer, the envelope, never a 5xx. What is
 * asked of every route alike is asked whole on PostgreSQL, and in turns here.
 */
const rows = Object.entries(allRoutes) as [string, RouteRow][];

let service: TestService;
let mine: TestProject;
let theirs: TestProject;
/** One valid credential of each kind that exists so far. */
const credentials = new Map<Credential, string>();

before(async () => {
  service = await sharedService();
  // An owner of its own: the sweep makes about as many keys as the budget of one user allows.
  [mine, theirs] = [await service.newProject(await service.newPerson()), await service.newProject()];
  credentials.set('apiKey', mine.apiKey).set('session', mine.owner.accessToken);
  credentials.set('sfuSecret', service.config.sfuSecrets[0] ?? '');
});

const missingUuid = '01a1dd14-de65-7b05-8710-0999672eacce';

/** The path with its parameters filled in; a project id where one belongs, else something that does not exist. */
function pathOf(row: RouteRow, projectId: string, other = missingUuid): string {
  return splitAt(row).path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(name === 'projectId' ? projectId : other),
  );
}

interface Asked {
  status: number;
  code: string | null;
  text: string;
  /** How many requests the route would still take. */
  remaining: string | null;
}

/** Asks and checks what every answer promises. */
async function ask(
  row: RouteRow,
  path: string,
  { bearer, body, headers = {} }: { bearer?: string | undefined; body?: string; headers?: Record<string, string> },
): Promise<Asked> {
  const { method } = splitAt(row);
  const response = await (row.streams === undefined ? lightFetch : fetch)(`${service.url}${path}`, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  const isStream = row.streams !== undefined && response.ok;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const label = `${row.at} → ${response.status} ${text.slice(0, 200)}`;
  assert.ok(response.headers.get('x-request-id'), label);
  assert.ok(response.status < 500, label);
  const remaining = response.headers.get('x-ratelimit-remaining');
  if (response.status < 400) return { status: response.status, code: null, text, remaining };
  const envelope = JSON.parse(text) as Record<string, string>;
  assert.equal(envelope['requestId'], response.headers.get('x-request-id'), label);
  const known = errors[envelope['code'] as keyof typeof errors];
  assert.ok(known, label);
  assert.deepEqual([response.status, envelope['legacyCode']], [known.status, known.legacy], label);
  assert.equal(envelope['path'], path.split('?')[0], label);
  return { status: response.status, code: envelope['code'] ?? '', text, remaining };
}

test('[REQ-5] no credential is 401 on every route that needs one', async () => {
  let asked = 0;
  for (const [, row] of rows) {
    if (row.by.includes('none')) continue;
    const { status, code } = await ask(row, pathOf(row, mine.id), sampleBody(row));
    assert.deepEqual([status, code], [401, 'SVC_UNAUTHENTICATED'], row.at);
    asked++;
  }
  assert.ok(asked >= 15, `only ${asked} routes were asked`);
});

test('[REQ-5] a forged or broken credential is 401, a valid one of the wrong kind 403', async () => {
  const forged = [
    'x',
    `${mine.apiKey.slice(0, -1)}!`,
    `${mine.apiKey.slice(0, -1)}${mine.apiKey.endsWith('0') ? '1' : '0'}`,
    `${mine.owner.accessToken.slice(0, -2)}xx`,
    'svk_dev_.',
    'eyJhbGciOiJub25lIn0.e30.',
  ];
  for (const [index, [, row]] of rows.entries()) {
    if (row.by.includes('none')) continue;
    for (const bearer of inTurns(forged, index, 6)) {
      assert.equal(
        (await ask(row, pathOf(row, mine.id), { bearer, ...sampleBody(row) })).status,
        401,
        `${row.at} with ${bearer}`,
      );
    }
    const wrong = [...credentials].filter(([kind]) => !row.by.includes(kind));
    for (const [kind, bearer] of inTurns(wrong, index, 2)) {
      const { code } = await ask(row, pathOf(row, mine.id), { bearer, ...sampleBody(row) });
      assert.equal(code, 'SVC_WRONG_CREDENTIAL_TYPE', `${row.at} with ${kind}`);
    }
  }
});

test('[REQ-5] a foreign project and a missing one are the same 404 on every project route', async () => {
  const stranger = await service.newPerson();
  let asked = 0;
  for (const [, row] of rows) {
    if (!row.by.includes('session') || !row.at.includes('{projectId}')) continue;
    const answers: string[] = [];
    for (const projectId of [theirs.id, missingUuid, 'not-a-uuid']) {
      const path = pathOf(row, projectId);
      const { code, text } = await ask(row, path, { bearer: stranger.accessToken, ...sampleBody(row) });
      assert.equal(code, 'SVC_PROJECT_NOT_FOUND', row.at);
      const { requestId: _, path: __, ...rest } = JSON.parse(text) as Record<string, unknown>;
      answers.push(JSON.stringify(rest));
    }
    assert.equal(new Set(answers).size, 1, row.at);
    asked++;
  }
  assert.ok(asked >= 10);
});

test('[REQ-5] an id that does not exist is 404 on every route that names one', async () => {
  const unknown = [missingUuid, 'x'.repeat(128), 'conv_nothing', "'; drop table users; --", '__proto__'];
  for (const [index, [, row]] of rows.entries()) {
    const { method, path } = splitAt(row);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).filter((name) => name !== 'projectId');
    const bearer = row.by.map((kind) => credentials.get(kind)).find((credential) => credential !== undefined);
    if (names.length === 0 || bearer === undefined || row.by.includes('none')) continue;
    for (const id of inTurns(unknown, index, 5)) {
      const { status } = await ask(row, pathOf(row, mine.id, id), {
        bearer,
        ...sampleBody(row),
        headers: { 'x-forwarded-for': '10.1.1.1' },
      });
      // A user is in every project as soon as they are named: a job about them is taken.
      assert.ok([404, 400, 429, 200, 202, 204].includes(status), `${method} ${path} with ${id}: ${status}`);
    }
  }
});

test("[REQ-5] the other environment's key finds nothing: its answer is that of an id that does not exist", async () => {
  const room = await mine.api.call('createRoom', { body: { name: 'sweep-room' } });
  const conversation = await mine.api.call('createConversation', { body: { name: 'sweep', members: ['ada'] } });
  const message = await mine.api.call('sendMessage', { room: conversation.id, body: { text: 'x', senderId: 'ada' } });
  const stream = await mine.api.call('createLiveStream', { body: { title: 'sweep', hostIdentity: 'ada' } });
  const real: Record<string, string> = {
    id: room.id,
    roomId: room.id,
    room: conversation.id,
    messageId: message.id,
    streamId: stream.id,
  };
  const bearer = await mine.newKey('PRODUCTION');
  let found404 = 0;
  for (const [, row] of rows) {
    const { path } = splitAt(row);
    const [first = ''] = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
    if (!row.by.includes('apiKey') || !Object.hasOwn(real, first)) continue;
    const fill = (value: string): string =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(name === first ? value : 'ada'));
    const answers: string[] = [];
    for (const id of [real[first] ?? '', `${(real[first] ?? '').slice(0, -4)}0000`]) {
      const { status, text } = await ask(row, fill(id), { bearer, ...sampleBody(row) });
      assert.ok(status === 404 || status === 400, `${row.at}: ${status} ${text.slice(0, 120)}`);
      if (status === 404) found404++;
      const { requestId: _, path: __, ...rest } = JSON.parse(text) as Record<string, unknown>;
      answers.push(JSON.stringify(rest));
    }
    assert.equal(new Set(answers).size, 1, `${row.at} tells the two apart`);
  }
  assert.ok(found404 >= 40, `only ${found404} answers were 404`);
});

test('[REQ-4] an unknown field is refused on webhook creation', async () => {
  const row = allRoutes.createWebhook;
  const body = { url: 'https://example.com/hook', environment: 'DEVELOPMENT' };
  const send = (extra: object) =>
    ask(row, pathOf(row, mine.id), { bearer: mine.owner.accessToken, body: JSON.stringify({ ...body, ...extra }) });
  assert.equal((await send({ surprise: 1 })).code, 'SVC_UNKNOWN_FIELD');
  assert.equal((await send({})).status, 201);
});

/** What is no JSON that we read, and what is JSON but no object. */
const poison: Record<'SVC_INVALID_JSON' | 'SVC_VALIDATION_FAILED', readonly string[]> = {
  SVC_INVALID_JSON: [
    '{',
    '['.repeat(100_000),
    '{"a":'.repeat(40_000),
    '{"name":"\\u0000"}',
    '{"name":"\\ud800"}',
    '{"__proto__":{}}',
    '\u0000',
  ],
  SVC_VALIDATION_FAILED: ['[]', 'null', '"text"'],
};

test('[REQ-3] [REQ-4] malformed, deep and dangerous bodies are refused by their own code on every route that takes one', async () => {
  let asked = 0;
  for (const [index, [, row]] of rows.entries()) {
    const bearer = row.by.map((kind) => credentials.get(kind)).find((credential) => credential !== undefined);
    if (!row.body || (bearer === undefined && !row.by.includes('none'))) continue;
    for (const [expected, bodies] of Object.entries(poison)) {
      for (const body of inTurns(bodies, index, 3)) {
        const at = bodies.indexOf(body);
        const headers = { 'x-forwarded-for': `10.${expected.length}.${at}.${index}` };
        const { code } = await ask(row, pathOf(row, mine.id), { bearer, body, headers });
        assert.equal(code, expected, `${row.at}: ${body.slice(0, 20)}`);
        asked++;
      }
    }
    await ask(row, pathOf(row, mine.id), { bearer, body: '{}', headers: { 'x-forwarded-for': `10.2.0.${index}` } });
  }
  assert.ok(asked > rows.length, `only ${asked} were asked`);
});

test('[REQ-4] query strings of any kind are never a fault of ours', async () => {
  const queries = [
    'limit=0',
    'limit=abc',
    'limit=1e9',
    'limit=1&limit=2',
    'cursor=%00',
    'cursor=x',
    'environment=STAGING',
    'environment=PRODUCTION&environment=PRODUCTION',
    '__proto__=1',
    'a[]=1',
    'before=%FF',
    `cursor=${'a'.repeat(300)}`,
    'action=%00',
    'days=-1',
  ];
  for (const [index, [, row]] of rows.entries()) {
    const bearer = row.by.map((kind) => credentials.get(kind)).find((credential) => credential !== undefined);
    if (splitAt(row).method !== 'GET' || bearer === undefined) continue;
    for (const query of inTurns(queries, index, 7)) await ask(row, `${pathOf(row, mine.id)}?${query}`, { bearer });
  }
  const bad = rows.filter(([, row]) => row.at.includes('{projectId}') && splitAt(row).method === 'GET');
  for (const [, row] of bad) {
    const { code } = await ask(row, `${pathOf(row, mine.id)}?environment=STAGING`, { bearer: mine.owner.accessToken });
    assert.equal(code, 'SVC_INVALID_ENVIRONMENT', row.at);
  }
});

test('[REQ-6] the request after the budget is 429 on every limited route', async () => {
  // One of each for all of them: budgets are by route, and making keys has one too.
  const [freshKey, admin, person] = [
    await mine.newKey('DEVELOPMENT'),
    await mine.member('ADMIN'),
    await service.newPerson(),
  ];
  for (const [index, [name, row]] of rows.entries()) {
    const other = row.by.map((kind) => credentials.get(kind)).find((credential) => credential !== undefined);
    if (row.budget === undefined || (other === undefined && !row.by.includes('none'))) continue;
    const address = `10.3.${index}.1`;
    const who = row.at.includes('{projectId}') ? admin : person;
    const [identity, bearer] = row.by.includes('apiKey')
      ? [`key:${freshKey.split(/_|\./)[2]}`, freshKey]
      : row.by.includes('session')
        ? [`user:${who.userId}`, who.accessToken]
        : [`ip:${address}`, other];
    // All but two are spent as the pipeline spends them; what is left after the next shows that it counts there.
    const windowMs = service.config.limits.RATE_LIMIT_WINDOW_SECONDS * 1_000;
    await service.adapters.counters.take(`budget:${name}:${identity}`, windowMs, row.budget, row.budget - 2);
    const asking = { bearer, body: '{', headers: { 'x-forwarded-for': address } };
    for (const left of ['1', '0']) {
      const { status, remaining } = await ask(row, pathOf(row, mine.id), asking);
      assert.notEqual(status, 429, name);
      assert.equal(remaining, left, `${name} counts for another than ${identity}`);
    }
    const { code, text } = await ask(row, pathOf(row, mine.id), asking);
    assert.equal(code, 'SVC_RATE_LIMITED', name);
    assert.ok((JSON.parse(text) as { retryAfterSeconds: number }).retryAfterSeconds >= 1);
  }
});

test('[REQ-2] every other method of a known path is 405 with Allow', async () => {
  const known = rows.map(([, row]) => splitAt(row));
  for (const path of new Set(known.map((one) => one.path.replaceAll(/\{\w+\}/g, 'x')))) {
    // One path may fit several rows: /v1/rtc/servers/register is also a server's name.
    const fitting = known.filter((one) => new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
    const methods: string[] = fitting.map(({ method }) => method);
    const unused = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].find((method) => !methods.includes(method)) ?? 'PUT';
    const response = await lightFetch(`${service.url}${path}`, { method: unused });
    assert.equal(response.status, 405, `${unused} ${path}`);
    assert.ok(
      methods.some((method) => response.headers.get('allow')?.includes(method)),
      `${path} allows ${methods}`,
    );
  }
});
