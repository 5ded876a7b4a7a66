import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  joinAs,
  mint,
  newRoom,
  passTime,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { joinRoom, openSignal } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

test('[OBS-1] a real join and leave make one connection with its timeline', async () => {
  const { api, id, owner } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada', {
    join: { client: { sdk: 'parley-js', version: '0.1.0' } },
    headers: { 'user-agent': 'test-agent/1' },
  });
  const { connectionId } = ada;
  await eventually(async () => assert.equal((await api.call('getConnection', { connectionId })).state, 'CONNECTED'));
  await service
    .as(ada.token)
    .call('sendTelemetry', { body: { connectionId, type: 'track.first_frame', data: { ms: 420 } } });
  ada.send({ type: 'leave' });
  const ended = await eventually(async () => {
    const connection = await api.call('getConnection', { connectionId });
    assert.equal(connection.state, 'DISCONNECTED');
    return connection;
  });
  assert.deepEqual(
    [
      ended.participantIdentity,
      ended.roomName,
      ended.roomId,
      ended.tokenId,
      ended.disconnectReason,
      ended.errorCount,
      ended.sdk,
    ],
    ['ada', room.name, room.id, ada.tokenId, 'CLIENT_INITIATED', 0, { name: 'parley-js', version: '0.1.0' }],
  );
  assert.match(ended.clientIp ?? '', /^10\.77\.\d+\.0\/24$/);
  assert.ok((ended.timeToConnectMs ?? -1) >= 0 && (ended.durationMs ?? -1) >= 0);
  const types = ended.events.map(({ type, source }) => `${source} ${type}`);
  for (const expected of ['SERVER join.requested', 'SERVER join.succeeded', 'CLIENT track.first_frame', 'SERVER left'])
    assert.ok(types.includes(expected), `${expected} is not in ${types}`);
  const listed = await owner.api.call('listProjectConnections', {
    projectId: id,
    query: { roomId: room.id, state: 'DISCONNECTED' },
  });
  assert.deepEqual(
    listed.map((one) => one.connectionId),
    [connectionId],
  );
  assert.equal(
    (await owner.api.call('getProjectConnection', { projectId: id, connectionId: ended.id })).connectionId,
    connectionId,
  );
});

test('[OBS-13] one timeline: the request that minted the token is on every step the server saw, from join to leave', async () => {
  const { api, apiKey } = await service.newProject();
  const room = await newRoom(api);
  const minted = await service.fetch(`/v1/rooms/${room.id}/rtc-tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-request-id': 'mint-ada-1' },
    body: JSON.stringify({ participantIdentity: 'ada', permissions: { publish: true } }),
  });
  const { token, tokenId } = (await minted.json()) as { token: string; tokenId: string };
  const ada = await joinRoom(service.url, token);
  const { connectionId } = ada;
  const [trackId] = await ada.publish('AUDIO');
  const client = service.as(token);
  await client.call('sendTelemetry', { body: { connectionId, type: 'device.failed', data: { device: 'camera' } } });
  ada.send({ type: 'leave' });
  const { events, errors, ...connection } = await eventually(async () => {
    const ended = await api.call('getConnection', { connectionId });
    assert.equal(ended.state, 'DISCONNECTED');
    assert.ok(ended.events.some(({ type }) => type === 'track.published'));
    return ended;
  });
  assert.equal(connection.tokenId, tokenId);
  const seen = events.filter(({ source }) => source === 'SERVER');
  for (const type of ['join.requested', 'join.succeeded', 'track.published', 'left'])
    assert.equal(seen.find((event) => event.type === type)?.data['requestId'], 'mint-ada-1', type);
  assert.ok(seen.some(({ data }) => data['trackId'] === trackId));
  const order = events.map(({ type }) => type);
  assert.ok(order.indexOf('device.failed') > order.indexOf('join.succeeded'), 'one list, in the order it happened');
  assert.deepEqual(
    errors.map(({ code, category, connectionId: of }) => [code, category, of]),
    [['DEVICE_FAILED', 'DEVICE', connectionId]],
  );
});

test('[OBS-18] the timeline is in the order it happened, not of arrival', async () => {
  const { api } = await service.newProject();
  const ada = await joinAs(service, api, await newRoom(api), 'ada');
  const { connectionId } = ada;
  await eventually(async () => assert.equal((await api.call('getConnection', { connectionId })).state, 'CONNECTED'));
  const timestamp = new Date(Date.now() - 60_000).toISOString();
  const client = service.as(ada.token);
  await client.call('sendTelemetry', { body: { connectionId, type: 'signaling.connecting', timestamp } });
  await client.call('sendTelemetry', { body: { connectionId, type: 'page.hidden' } });
  const { events } = await api.call('getConnection', { connectionId });
  assert.deepEqual(
    [events[0]?.type, events[0]?.happenedAt, events.at(-1)?.type],
    ['signaling.connecting', timestamp, 'page.hidden'],
  );
  assert.deepEqual(
    events.map(({ happenedAt }) => happenedAt),
    events.map(({ happenedAt }) => happenedAt).toSorted(),
  );
});

test('[OBS-4] a token that has ended or was revoked is recorded in its own project, with advice; a forged one nowhere', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token, tokenId } = await mint(api, room, 'eve');
  await api.call('revokeRtcToken', { roomId: room.id, tokenId });
  const { message } = await openSignal(service.url, token).then(
    async (socket) => ({ message: String((await socket.take('error'))['code']) }),
    (error: Error) => error,
  );
  assert.match(message, /TOKEN_REVOKED|4401/);
  const [error] = await eventually(async () => {
    const errors = await api.call('listErrors', { query: { category: 'AUTHENTICATION' } });
    assert.equal(errors.length, 1);
    return errors;
  });
  assert.partialDeepStrictEqual(error, { code: 'SVC_TOKEN_REVOKED', participantIdentity: 'eve', retryable: false });
  assert.match(error?.hint ?? '', /mint a new one/);
  assert.partialDeepStrictEqual(await api.call('getConnection', { connectionId: `refused-${tokenId}` }), {
    state: 'FAILED',
    tokenId,
    roomId: room.id,
  });
  await openSignal(service.url, `${token.slice(0, -4)}AAAA`).catch(() => {});
  assert.equal((await api.call('listErrors', {})).length, 1);
});

test('[OBS-20] a forged token is counted for the operator, at the socket and over HTTP', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'eve');
  const forged = `${token.slice(0, -4)}AAAA`;
  const counted = async (): Promise<number> => {
    const text = await (await service.fetch('/metrics')).text();
    return Number(/^parley_forged_tokens_total\{family="rtc"\} (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
  };
  const before = await counted();
  await openSignal(service.url, forged).catch(() => {});
  await assert.rejects(service.as(forged).call('sendTelemetry', { body: { connectionId: 'c', type: 'left' } }));
  await eventually(async () => assert.ok((await counted()) >= before + 2));
});

test('[OBS-4] a refused join is a classified error with advice, linked to its connection', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'eve', { permissions: { join: false } });
  const socket = await openSignal(service.url, token);
  const connectionId = 'refused-1';
  socket.send({ type: 'join', connectionId });
  const [error] = await eventually(async () => {
    const errors = await api.call('listErrors', { query: { connectionId } });
    assert.equal(errors.length, 1);
    return errors;
  });
  assert.deepEqual(
    [error?.category, error?.code, error?.retryable, error?.connectionId],
    ['PERMISSION', 'SVC_JOIN_NOT_ALLOWED', false, connectionId],
  );
  assert.match(error?.hint ?? '', /join: true/);
  const single = await api.call('getError', { errorId: error?.id ?? '' });
  assert.deepEqual([single.connection?.state, single.connection?.errorCount], ['FAILED', 1]);
  assert.equal((await api.call('listErrors', { query: { category: 'ICE' } })).length, 0);
  await assert.rejects(api.call('getError', { errorId: 'err_nothing' }), failure('SVC_ERROR_NOT_FOUND'));
  await assert.rejects(api.call('getConnection', { connectionId: 'nothing' }), failure('SVC_CONNECTION_NOT_FOUND'));
});

test('[OBS-8] telemetry is best effort: odd data is dropped, and another token cannot touch the connection', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, eve] = [await mint(api, room, 'ada'), await mint(api, room, 'eve')];
  const send = (token: string, body: object) =>
    service.as(token).request('sendTelemetry', { body: body as { connectionId: string; type: 'left' } });
  const first = await send(ada.token, {
    connectionId: 'c-1',
    type: 'signaling.connecting',
    timestamp: '1999-01-01T00:00:00Z',
  });
  assert.deepEqual([first.status, first.body], [202, { accepted: true }]);
  assert.deepEqual((await send(eve.token, { connectionId: 'c-1', type: 'left' })).body, { accepted: false });
  const big = await send(ada.token, { connectionId: 'c-1', type: 'stats.report', data: { text: 'x'.repeat(5_000) } });
  assert.deepEqual(big.body, { accepted: true, truncated: true });
  const deep = await send(ada.token, {
    connectionId: 'c-1',
    type: 'stats.report',
    data: { a: { b: { c: { d: { e: 1 } } } } },
  });
  assert.equal(deep.body.truncated, true);
  const connection = await api.call('getConnection', { connectionId: 'c-1' });
  assert.deepEqual(
    [connection.participantIdentity, connection.state, connection.events.length],
    ['ada', 'CONNECTING', 3],
  );
  assert.ok(
    connection.events.every(({ timestamp }) => timestamp > '2020'),
    'an absurd time is replaced by the time of receipt',
  );
  for (const body of [
    { connectionId: 'c-1', type: 'no.such' },
    { connectionId: '', type: 'left' },
    { connectionId: 'a b', type: 'left' },
    { type: 'left' },
  ]) {
    await assert.rejects(send(ada.token, body), failure('SVC_VALIDATION_FAILED'));
  }
});

test('[OBS-9] metrics have totals, rates and series, and null where nothing is known', async () => {
  const { api, owner, id } = await service.newProject();
  const before = await api.call('getMetrics');
  assert.deepEqual(
    [
      before.connections.total,
      before.connections.successRate,
      before.timeToConnectMs.p50,
      before.durationMs.avg,
      before.quality.rttMs,
    ],
    [0, null, null, null, null],
  );
  assert.deepEqual([before.series.minutes.length, before.series.hours.length], [60, 24]);
  const room = await newRoom(api);
  const stays = await Promise.all(['a', 'b', 'c'].map((identity) => joinAs(service, api, room, identity)));
  const { token } = await mint(api, room, 'd', { permissions: { join: false } });
  (await openSignal(service.url, token)).send({ type: 'join', connectionId: 'failed-1' });
  stays[0]?.send({ type: 'leave' });
  await eventually(async () => {
    const { connections, errors, timeToConnectMs } = await owner.api.call('getProjectMetrics', { projectId: id });
    assert.deepEqual(
      [connections.total, connections.active, connections.succeeded, connections.failed, connections.successRate],
      [4, 2, 3, 1, 0.75],
    );
    assert.deepEqual(connections.byState, { CONNECTING: 0, CONNECTED: 2, RECONNECTING: 0, DISCONNECTED: 1, FAILED: 1 });
    assert.deepEqual(errors, { total: 1, byCategory: { PERMISSION: 1 } });
    assert.ok(timeToConnectMs.p50 !== null);
  });
  const { series } = await api.call('getMetrics');
  // Two, for the hour may just have turned.
  assert.equal(
    series.hours.slice(-2).reduce((sum, { started }) => sum + started, 0),
    4,
  );
  // Three, where a sample fell into the moment before one of them left: a minute keeps its highest.
  assert.ok([2, 3].includes(series.minutes.at(-1)?.active ?? 0));
});

test('[OBS-17] a connection that fails, comes back and leaves is one connection, and the past has nobody in it', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const room = await newRoom(api);
    const { token } = await mint(api, room, 'ada');
    const connectionId = 'comes-back';
    await timed.as(token).call('sendTelemetry', { body: { connectionId, type: 'ice.failed' } });
    assert.equal((await api.call('getMetrics')).connections.failed, 1);
    const ada = await joinRoom(timed.url, token, { connectionId });
    await eventually(async () => assert.equal((await api.call('getMetrics')).connections.byState['CONNECTED'], 1));
    await passTime(timed, 16);
    ada.send({ type: 'leave' });
    await eventually(async () => assert.equal((await api.call('getMetrics')).connections.active, 0));
    await passTime(timed, 61);
    const { connections, series } = await api.call('getMetrics');
    assert.deepEqual(
      [connections.total, connections.succeeded, connections.failed, connections.byState['DISCONNECTED']],
      [1, 1, 0, 1],
    );
    const seen = series.minutes.map(({ active }) => active);
    assert.deepEqual([seen.filter((n) => n === 1).length, seen.filter((n) => n === 0).length], [1, 59]);
    assert.deepEqual(
      series.hours.map(({ active }) => active),
      [...Array.from({ length: 23 }, () => 0), 1],
    );
  } finally {
    await timed.stop();
  }
});

test('[OBS-17] a call that only a client told of is not active for ever', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const { token } = await mint(api, await newRoom(api), 'ada');
    const connectionId = 'only-told';
    await timed.as(token).call('sendTelemetry', { body: { connectionId, type: 'join.succeeded' } });
    assert.equal((await api.call('getMetrics')).connections.active, 1);
    timed.clock.jump(130_000);
    await passTime(timed, 16);
    assert.equal((await api.call('getMetrics')).connections.active, 0);
    assert.partialDeepStrictEqual(await api.call('getConnection', { connectionId }), {
      state: 'DISCONNECTED',
      disconnectReason: 'CONNECTION_TIMEOUT',
    });
  } finally {
    await timed.stop();
  }
});

test('[DASH-61] connections and errors are paged back to the oldest', async () => {
  const { api, id: projectId, owner } = await service.newProject();
  const { token } = await mint(api, await newRoom(api), 'ada');
  for (const connectionId of ['c-1', 'c-2', 'c-3'])
    await service.as(token).call('sendTelemetry', { body: { connectionId, type: 'device.failed' } });
  for (const route of ['listProjectConnections', 'listProjectErrors'] as const) {
    const seen: (string | null)[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const { body, headers } = await owner.api.request(route, { projectId, query });
      seen.push(...body.map(({ connectionId }) => connectionId));
      cursor = headers.get('x-next-cursor') ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ['c-3', 'c-2', 'c-1'], route);
    await assert.rejects(owner.api.call(route, { projectId, query: { cursor: 'x' } }), failure('SVC_INVALID_CURSOR'));
  }
});

test('[OBS-10] one project and environment never sees another’s connections', async () => {
  const [mine, theirs] = [await service.newProject(), await service.newProject()];
  const room = await newRoom(theirs.api);
  const { connectionId } = await joinAs(service, theirs.api, room, 'ada');
  await eventually(() => theirs.api.call('getConnection', { connectionId }));
  const production = service.as(await theirs.newKey('PRODUCTION'));
  for (const api of [mine.api, production]) {
    await assert.rejects(api.call('getConnection', { connectionId }), failure('SVC_CONNECTION_NOT_FOUND'));
    assert.deepEqual(await api.call('listConnections'), []);
  }
});

test('[OBS-11] diagnostics look at every dependency and say what embedded mode does not promise', async () => {
  const { api } = await service.newProject();
  const { status, dependencies } = await api.call('getDiagnostics');
  assert.deepEqual(
    dependencies.map(({ name }) => name),
    ['database', 'cache', 'storage', 'media', 'webhooks', 'email'],
  );
  assert.equal(status, 'OK');
  const database = dependencies[0];
  assert.ok((database?.latencyMs ?? -1) >= 0);
  if (service.adapters.db.dialect === 'embedded') assert.match(database?.message ?? '', /not a power cut/);
});
