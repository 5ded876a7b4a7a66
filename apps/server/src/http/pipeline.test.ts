import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { before, test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import type { TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

interface Envelope {
  code: string;
  legacyCode: string;
  message: string;
  requestId: string;
  path: string;
  details?: { field: string; rule: string }[];
}

/** The envelope of an error answer, with everything checked that every error promises. */
async function errorOf(response: Response): Promise<Envelope> {
  const body = (await response.json()) as Envelope;
  assert.ok(response.status >= 400, `expected an error, got ${response.status}`);
  assert.equal(response.headers.get('x-request-id'), body.requestId);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  for (const field of ['code', 'legacyCode', 'message', 'requestId', 'path'] as const)
    assert.equal(typeof body[field], 'string', field);
  return body;
}

const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  service.fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** Bytes on the wire, for what no HTTP client would send. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.config.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.setTimeout(5_000, () => socket.destroy());
  });
}

test('[REQ-1] a well-formed request id is adopted, any other is replaced', async () => {
  const own = await service.fetch('/healthz', { headers: { 'x-request-id': 'my-id_42' } });
  assert.equal(own.headers.get('x-request-id'), 'my-id_42');
  for (const bad of ['with space', 'a'.repeat(65), 'semi;colon', 'a,b', 'ü'.normalize('NFD').replace(/[^a-z]/g, '.')]) {
    const response = await service.fetch('/v1/nowhere', { headers: { 'x-request-id': bad } });
    assert.match((await errorOf(response)).requestId, /^req_[0-9a-f]{24}$/, bad);
  }
  const twice = await raw(
    'GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: a\r\nx-request-id: b\r\nconnection: close\r\n\r\n',
  );
  assert.match(twice, /x-request-id: req_[0-9a-f]{24}\r\n/);
});

test('[REQ-12] a connection on which nothing was ever sent ends without an answer, one with half a request with one', async () => {
  const { server } = service.service.app;
  // A client that says less than a whole head within ten seconds is told so, and Node looks every half minute.
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const answerTo = async (sent: string): Promise<string> => {
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const answer = raw(sent);
    const socket = await accepted;
    await eventually(() => assert.equal(socket.bytesRead, sent.length));
    server.emit('clientError', late, socket);
    return await answer;
  };
  assert.equal(await answerTo(''), '');
  assert.match(await answerTo('GET /healthz HTTP/1.1\r\nhost'), /^HTTP\/1\.1 400 .*SVC_BAD_REQUEST/s);
});

test('[REQ-1] [REQ-2] the envelope comes with 404, 405, 413, 414, 415, 431 and malformed requests', async () => {
  const cases: [Promise<Response>, number, string][] = [
    [service.fetch('/nowhere'), 404, 'SVC_NOT_FOUND'],
    [service.fetch('/v2/rooms'), 404, 'SVC_NOT_FOUND'],
    [service.fetch('/v1/auth/login', { method: 'DELETE' }), 405, 'SVC_METHOD_NOT_ALLOWED'],
    [service.fetch(`/v1/rooms/${'a'.repeat(600)}`), 404, 'SVC_NOT_FOUND'],
    [post(`/v1/rooms/${'a'.repeat(600)}/rtc-tokens`, '{}'), 404, 'SVC_NOT_FOUND'],
    [service.fetch('/v1/projects/%zz'), 400, 'SVC_BAD_REQUEST'],
    [service.fetch('/v1/%E0%A4%A'), 400, 'SVC_BAD_REQUEST'],
    [service.fetch(`/v1/${'a'.repeat(9_000)}`), 414, 'SVC_URI_TOO_LONG'],
    [post('/v1/auth/login', 'x'.repeat(300_000)), 413, 'SVC_PAYLOAD_TOO_LARGE'],
    [post('/v1/auth/login', '{}', { 'content-type': 'text/plain' }), 415, 'SVC_UNSUPPORTED_MEDIA_TYPE'],
    [post('/v1/auth/login', '{}', { 'content-type': 'application/json\t; x' }), 415, 'SVC_UNSUPPORTED_MEDIA_TYPE'],
    [post('/v1/auth/login', '{}', { 'content-type': 'application/jsonish' }), 415, 'SVC_UNSUPPORTED_MEDIA_TYPE'],
    [post('/v1/auth/login', '{"a":'), 400, 'SVC_INVALID_JSON'],
  ];
  for (const [answer, status, code] of cases) {
    const response = await answer;
    const body = await errorOf(response);
    assert.deepEqual([response.status, body.code], [status, code]);
  }
  const wire: [string, RegExp][] = [
    ['GET / HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['\u0000\u0001garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'a'.repeat(40_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n', /^HTTP\/1\.1 400 /],
  ];
  for (const [text, status] of wire) {
    const answer = await raw(text);
    assert.match(answer, status, text.slice(0, 40));
    assert.match(answer, /x-request-id: (req_[0-9a-f]{24})[\s\S]*"requestId":"\1"/);
  }
});

test('[REQ-2] a body whose declared length is too long gets the limit and that length', async () => {
  const limit = service.config.limits.HTTP_MAX_BODY_BYTES;
  const refused = await errorOf(await post('/v1/auth/login', 'x'.repeat(limit + 1)));
  const { code, limit: told, actual } = refused as Envelope & { limit: number; actual: number };
  assert.deepEqual([code, told, actual], ['SVC_PAYLOAD_TOO_LARGE', limit, limit + 1]);
});

test('[REQ-1] a body that is announced and never comes does not hang the service', async () => {
  const chunked =
    'POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';
  const answer = await raw(`${chunked}zz\r\n`);
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.equal((await service.fetch('/healthz')).status, 200);
});

test('[REQ-3] dangerous JSON is refused with 400 on a real route', async () => {
  const bodies = [
    '['.repeat(100_000),
    '{"email":"\\u0000","password":"x"}',
    '{"email":"\\ud800","password":"x"}',
    '{"__proto__":{"x":1}}',
  ];
  for (const body of bodies)
    assert.equal(
      (await errorOf(await post('/v1/auth/password-reset', body, { 'x-forwarded-for': '10.9.9.9' }))).code,
      'SVC_INVALID_JSON',
    );
});

test('[REQ-4] validation names each field; no body, an array and null are not objects', async () => {
  const { details } = await errorOf(await post('/v1/auth/register', '{"email":"nope","password":"short"}'));
  assert.deepEqual(
    details?.map(({ field, rule }) => [field, rule]),
    [
      ['email', 'pattern'],
      ['password', 'minLength'],
    ],
  );
  for (const body of ['[]', 'null', '3', '"x"', '']) {
    assert.equal((await errorOf(await post('/v1/auth/verify-email', body))).code, 'SVC_VALIDATION_FAILED', body);
  }
});

test('[REQ-5] no credential, a broken one and one of the wrong kind', async () => {
  const project = await service.newProject();
  const status = async (path: string, bearer?: string) => {
    const response = await service.fetch(
      path,
      bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } },
    );
    return [response.status, (await errorOf(response)).code];
  };
  assert.deepEqual(await status('/v1/project'), [401, 'SVC_UNAUTHENTICATED']);
  assert.deepEqual(await status('/v1/project', 'garbage'), [401, 'SVC_INVALID_TOKEN']);
  assert.deepEqual(await status('/v1/project', `${project.apiKey}x`), [401, 'SVC_INVALID_API_KEY']);
  assert.deepEqual(await status('/v1/project', project.apiKey.replace('svk_dev', 'svk_prod')), [
    401,
    'SVC_INVALID_API_KEY',
  ]);
  assert.deepEqual(await status('/v1/project', project.owner.accessToken), [403, 'SVC_WRONG_CREDENTIAL_TYPE']);
  assert.deepEqual(await status(`/v1/projects/${project.id}`, project.apiKey), [403, 'SVC_WRONG_CREDENTIAL_TYPE']);
  assert.deepEqual(await status(`/v1/project?key=${project.apiKey}`), [401, 'SVC_UNAUTHENTICATED']);
});

test('[REQ-5] a foreign project and a missing one give the same answer', async () => {
  const [mine, theirs] = [await service.newProject(), await service.newProject()];
  const stranger = await service.newPerson();
  const ask = async (id: string) => {
    const response = await service.fetch(`/v1/projects/${id}/api-keys`, {
      headers: { authorization: `Bearer ${stranger.accessToken}` },
    });
    const { requestId: _, path, ...rest } = await errorOf(response);
    return { status: response.status, ...rest, path: path.replace(id, '') };
  };
  const missing = await ask('01a1dd14-de65-7b05-8710-0999672eacce');
  assert.equal(missing.code, 'SVC_PROJECT_NOT_FOUND');
  for (const id of [mine.id, theirs.id, 'x', '../..', '%27', 'a'.repeat(128)])
    assert.deepEqual(await ask(encodeURIComponent(id)), { ...missing, path: missing.path });
});

test('[REQ-8] browsers may use a project only from its origins', async () => {
  const project = await service.newProject();
  const ask = (origin?: string) =>
    service.fetch('/v1/project', {
      headers: { authorization: `Bearer ${project.apiKey}`, ...(origin === undefined ? {} : { origin }) },
    });
  assert.equal(
    (await ask('https://anywhere.test')).headers.get('access-control-allow-origin'),
    'https://anywhere.test',
  );
  await project.owner.api.call('updateAllowedOrigins', {
    projectId: project.id,
    body: { allowedOrigins: ['https://App.example.com/'] },
  });
  const allowed = await ask('https://app.example.com');
  assert.deepEqual(
    [allowed.status, allowed.headers.get('access-control-allow-origin'), allowed.headers.get('vary')],
    [200, 'https://app.example.com', 'Origin'],
  );
  assert.equal(allowed.headers.get('access-control-allow-credentials'), null);
  for (const origin of ['https://evil.test', 'null', 'https://app.example.com.evil.test']) {
    const response = await ask(origin);
    assert.deepEqual([response.status, (await errorOf(response)).code], [403, 'SVC_ORIGIN_NOT_ALLOWED']);
    assert.equal(response.headers.get('access-control-allow-origin'), null);
  }
  assert.equal((await ask()).status, 200);
  assert.equal((await ask('http://localhost:5173')).status, 200);
  const preflight = await service.fetch('/v1/project', {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.test', 'access-control-request-method': 'GET' },
  });
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, '*']);
  const dashboard = await service.fetch('/v1/projects', {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.test' },
  });
  assert.equal(dashboard.headers.get('access-control-allow-origin'), null);
});

test('[REQ-2] the operations routes answer, and metrics count requests by route', async () => {
  assert.equal((await service.fetch('/readyz')).status, 200);
  const metrics = await (await service.fetch('/metrics')).text();
  assert.match(metrics, /parley_http_requests_total\{method="GET",route="\/readyz",status="200"\} \d+/);
  assert.match(metrics, /parley_http_request_seconds_bucket\{route="\/readyz",le="\+Inf"\} \d+/);
  for (const path of ['/openapi.json', '/v1/openapi.json']) {
    const openApi = (await (await service.fetch(path)).json()) as { openapi: string; paths: object };
    assert.equal(openApi.openapi, '3.1.0');
  }
});
