import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import type { ApiRequest } from '@parley/contract';
import { mint, newRoom } from '../../../../testkit/clients/rooms.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { failure } from '../../../../testkit/kit/failure.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import type { TestProject } from '../../../../testkit/kit/people.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { iso } from '../../../core/clock.ts';
import { withoutDeadline } from '../../../core/delete-in-batches.ts';
import { createLog } from '../../../core/log.ts';
import { createMetrics } from '../../../core/metrics.ts';
import { deleteOverfull, insertRequests, listOverfull, listRequests } from './request-store.ts';
import { createRequests, type RequestsDeps } from './requests.ts';
import { createSampler } from './sampler.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

const list = ({ id, owner }: TestProject, query: object = {}): Promise<ApiRequest[]> =>
  owner.api.call('listProjectRequests', { projectId: id, query });

/** The request with this id, once it is in the log. */
const logged = (project: TestProject, requestId: string): Promise<ApiRequest> =>
  eventually(() => project.owner.api.call('getProjectRequest', { projectId: project.id, requestId }));

const ask = (credential: string, path: string, init: RequestInit = {}): Promise<Response> =>
  service.fetch(path, {
    ...init,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...init.headers },
  });

const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? assert.fail('no request id');

test('[OBS-29] a request is logged with route, status, key and time, a failed one with what to do, and nothing that its caller wrote', async () => {
  const project = await service.newProject();
  const publicId = project.apiKey.slice(0, project.apiKey.indexOf('.'));
  const made = await ask(project.apiKey, '/v1/rooms', { method: 'POST', body: '{"name":"secret-name"}' });
  assert.equal(made.status, 201);
  const fine = await logged(project, idOf(made));
  assert.deepEqual(
    [fine.method, fine.route, fine.status, fine.credential, fine.error, fine.skipped],
    ['POST', '/v1/rooms', 201, 'apiKey', null, 0],
  );
  assert.ok(fine.keyId !== null && publicId.includes(fine.keyId) && fine.ms >= 0, JSON.stringify(fine));
  const missed = await ask(project.apiKey, '/v1/rooms/secret-name-2');
  const failed = await logged(project, idOf(missed));
  assert.deepEqual([failed.route, failed.status], ['/v1/rooms/{id}', 404]);
  assert.equal(failed.error?.code, 'SVC_ROOM_NOT_FOUND');
  assert.match(failed.error?.fix ?? '', /^There is no such resource in this project/);
  assert.doesNotMatch(JSON.stringify(await list(project)), /secret-name/);
});

test('[OBS-29] a key that is over is logged for its project; a dashboard only with what it writes and is refused; telemetry never', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const { key, publicId } = await owner.api.call('createApiKey', { projectId, body: { name: 'old' } });
  await owner.api.call('revokeApiKey', { projectId, publicId });
  const refused = await eventually(async () => {
    const answer = await ask(key, '/v1/rooms');
    assert.equal(answer.status, 401);
    return logged(project, idOf(answer));
  });
  assert.deepEqual([refused.error?.code, refused.keyId], ['SVC_API_KEY_REVOKED', publicId]);
  const { token } = await mint(project.api, await newRoom(project.api), 'ada');
  const body = JSON.stringify({ connectionId: randomUUID(), type: 'signaling.connecting' });
  const telemetry = await ask(token, '/v1/telemetry/events', { method: 'POST', body });
  assert.equal(telemetry.status, 202);
  const viewer = await project.member('VIEWER');
  const denied = await ask(viewer.accessToken, `/v1/projects/${projectId}/audit-logs`);
  const row = await logged(project, idOf(denied));
  assert.deepEqual([row.status, row.credential, row.keyId], [403, 'session', null]);
  // A process logs in the order of its answers: it would be there by now.
  const all = await list(project);
  assert.ok(all.every(({ requestId }) => requestId !== idOf(telemetry)));
  assert.deepEqual(
    all.filter(({ credential, method, status }) => credential === 'session' && method === 'GET' && status < 400),
    [],
  );
  assert.ok(all.some(({ credential, method }) => credential === 'session' && method === 'POST'));
});

test('[OBS-30] the log is filtered and paged, by those who may read it; keys are shown to those who may read keys', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(idOf(await ask(project.apiKey, '/v1/rooms')));
  const failed = idOf(await ask(project.apiKey, '/v1/rooms/nowhere'));
  const { keyId } = await logged(project, failed);
  const requestIds = async (query: object) => (await list(project, query)).map(({ requestId }) => requestId);
  assert.deepEqual(await requestIds({ outcome: 'FAILED', method: 'GET' }), [failed]);
  assert.deepEqual(await requestIds({ code: 'SVC_ROOM_NOT_FOUND', route: 'ROOMS/', keyId }), [failed]);
  assert.deepEqual(await requestIds({ outcome: 'SERVER_ERROR' }), []);
  assert.deepEqual(await requestIds({ requestId: ids[1] }), [ids[1]]);
  assert.deepEqual(await requestIds({ environment: 'PRODUCTION' }), []);
  const paged = async (cursor?: string) =>
    owner.api.request('listProjectRequests', {
      projectId,
      query: { limit: 3, method: 'GET', ...(cursor ? { cursor } : {}) },
    });
  const first = await paged();
  const second = await paged(first.headers.get('x-next-cursor') ?? assert.fail('one page'));
  assert.deepEqual(
    [...first.body, ...second.body].map(({ requestId }) => requestId),
    [failed, ...ids.toReversed()],
  );
  const viewer = await project.member('VIEWER');
  const seen = await viewer.api.call('listProjectRequests', { projectId });
  assert.ok(seen.length > 0 && seen.every((request) => request.keyId === null));
  await assert.rejects(
    viewer.api.call('listProjectRequests', { projectId, query: { keyId: keyId ?? '' } }),
    failure('SVC_PERMISSION_DENIED'),
  );
  const other = await service.newProject();
  await assert.rejects(
    other.owner.api.call('getProjectRequest', { projectId: other.id, requestId: failed }),
    failure('SVC_REQUEST_NOT_FOUND'),
  );
});

const answered = (projectId: string, status = 200) =>
  ({
    projectId,
    environment: 'DEVELOPMENT',
    requestId: 'req_1',
    method: 'GET',
    route: '/v1/rooms',
    status,
    ms: 1,
    credential: 'apiKey',
    keyId: null,
    code: null,
  }) as const;

/** The log alone, on a database and with limits of the test. */
function alone(deps: Partial<RequestsDeps> & Pick<RequestsDeps, 'db'>, perSecond = 1) {
  const metrics = createMetrics();
  const requests = createRequests({
    clock: createFakeClock(),
    cursors: {} as never,
    replicated: {} as never,
    changes: { note: () => {} } as never,
    metrics,
    log: createLog('silent'),
    limits: { OBSERVABILITY_REQUESTS_PER_SECOND: perSecond, OBSERVABILITY_MAX_REQUESTS: 200_000 } as never,
    ...deps,
  });
  const dropped = (reason: string): number =>
    Number(new RegExp(`parley_request_log_dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(metrics.render())?.[1]);
  return { ...requests, dropped };
}

test('[OBS-31] beyond its rate a project is not logged, and the next row says how many; failed requests have a share of their own', async () => {
  const clock = createFakeClock();
  const sampler = createSampler({ clock, perSecond: 2 });
  for (let n = 0; n < 60; n++) assert.deepEqual(sampler.take('a'), { skipped: 0 });
  for (let n = 0; n < 7; n++) assert.equal(sampler.take('a'), null);
  assert.deepEqual(sampler.take('b'), { skipped: 0 });
  await clock.advance(500);
  assert.deepEqual(sampler.take('a'), { skipped: 7 });

  const stored: number[] = [];
  const db = {
    execute: async ({ values }: { values: unknown[] }) => stored.push(JSON.parse(String(values[0])).length),
  };
  const log = alone({ db: db as never });
  for (let n = 0; n < 100; n++) log.note(answered('p'));
  log.note(answered('p', 500));
  await log.settled();
  assert.deepEqual(stored, [31]);
  assert.equal(log.dropped('rate'), 70);
});

test('[OBS-31] what waits is bounded and a store that fails costs the rows alone: both are counted', async () => {
  const db = { execute: async () => Promise.reject(new Error('no store')) };
  const log = alone({ db: db as never }, 100);
  for (let n = 0; n < 2_010; n++) log.note(answered('p'));
  await log.settled();
  assert.deepEqual([log.dropped('queue'), log.dropped('store')], [10, 2_000]);
});

test('[OBS-32] requests go after 7 days, and the oldest of a project that has too many', async () => {
  const { db } = service.adapters;
  const row = { ...answered(randomUUID()), skipped: 0 };
  const { projectId } = row;
  const dayMs = 24 * 60 * 60 * 1000;
  const ago = (days: number): string => iso(service.clock.now() - days * dayMs);
  await insertRequests(db, [{ ...row, at: ago(8) }, ...Array.from({ length: 12 }, () => ({ ...row, at: ago(6) }))]);
  const left = async (): Promise<string[]> =>
    (await listRequests(db, row, { after: null, limit: 100 })).map(({ id }) => id);
  const all = await left();
  assert.deepEqual(
    all,
    all.toSorted((a, b) => Number(b) - Number(a)),
  );
  const log = alone({ db, clock: service.clock });
  await log.deleteOld(withoutDeadline);
  assert.deepEqual(await left(), all.slice(0, 12));
  // Of this project alone: the worker's other tests keep theirs.
  const own = (await listOverfull(db, 5)).filter((one) => one.projectId === projectId);
  assert.deepEqual(own, [{ projectId, environment: 'DEVELOPMENT', id: all[5] }]);
  for (const one of own) assert.equal(await deleteOverfull(db, one, 1_000), 7);
  assert.deepEqual(await left(), all.slice(0, 5));
});

test('[OBS-35] overfull logs are looked for once an hour, and again in the next turn when one was too short', async () => {
  const clock = createFakeClock();
  let looks = 0;
  const db = {
    execute: async () => 0,
    async query() {
      looks += 1;
      return [];
    },
  };
  const log = alone({ db: db as never, clock });
  await log.deleteOld({ isOver: () => true });
  for (let minute = 0; minute < 60; minute++) {
    await log.deleteOld(withoutDeadline);
    clock.jump(60_000);
  }
  assert.equal(looks, 2);
  await log.deleteOld(withoutDeadline);
  assert.equal(looks, 3);
});
