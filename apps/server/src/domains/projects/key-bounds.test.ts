import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { before, test } from 'node:test';
import { allRoutes, type CreateApiKey, type RouteRow, splitAt } from '@parley/contract';
import { joinAs, newRoom, passTime, startTimedRooms } from '../../../testkit/clients/rooms.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

const newKey = ({ id, owner }: TestProject, bounds: Omit<CreateApiKey, 'name'>) =>
  owner.api.call('createApiKey', { projectId: id, body: { name: 'bounded', ...bounds } });

/** The scope of each path, written down a second time. The first that fits counts; null for a route of any key. */
const scopeByPath: readonly (readonly [RegExp, string | null])[] = [
  [/^\/v1\/project$/, null],
  [/^\/v1\/rooms\/\{roomId\}\/rtc-tokens|^\/v1\/chat\/tokens/, 'tokens'],
  [/^\/v1\/rooms/, 'rooms'],
  [/^\/v1\/chat\//, 'chat'],
  [/^\/v1\/live-streams/, 'streams'],
  [/^\/v1\/(webhook-event-types|events)$/, 'webhooks'],
  [/^\/v1\/(users|data-jobs)/, 'users'],
  [/^\/v1\/alerts/, 'alerts'],
  [/^\/v1\/(connections|errors|metrics|diagnostics|usage)/, 'read'],
];

test('[PRJ-10] a key with a scope reaches its routes and no other, and the answer names the scope that is missing', async () => {
  const project = await service.newProject(await service.newPerson());
  const rows: RouteRow[] = Object.values(allRoutes).filter(({ by }: RouteRow) => by.includes('apiKey'));
  for (const scope of ['rooms', 'tokens', 'chat', 'streams', 'webhooks', 'users', 'alerts', 'read'] as const) {
    const { key } = await newKey(project, { scopes: [scope] });
    for (const row of rows) {
      const { method, path } = splitAt(row);
      const needed = scopeByPath.find(([pattern]) => pattern.test(path))?.[1];
      assert.notEqual(needed, undefined, `${row.at} has no scope`);
      const response = await service.fetch(path.replaceAll(/\{\w+\}/g, 'none'), {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      // A stream has no end; what is read to its end leaves the connection to the next.
      const isStream = row.streams !== undefined && response.ok;
      const text = isStream ? '' : await response.text();
      if (isStream) await response.body?.cancel();
      const mayPass = needed === null || needed === scope || (scope === 'read' && method === 'GET');
      const refusal = response.status === 403 ? JSON.parse(text) : {};
      const missing = refusal.code === 'SVC_SCOPE_MISSING' ? refusal.scope : null;
      assert.equal(missing, mayPass ? null : needed, `${row.at} with ${scope}`);
    }
  }
});

test('[PRJ-10] scopes add up, one for live streams gives its tokens, and a key without any does everything', async () => {
  const project = await service.newProject();
  const { key, scopes } = await newKey(project, { scopes: ['streams', 'read'] });
  assert.deepEqual(scopes, ['streams', 'read']);
  const api = service.as(key);
  const { id: streamId } = await api.call('createLiveStream', { body: { title: 'Launch', hostIdentity: 'ada' } });
  await api.call('registerHost', { streamId, body: { identity: 'bob', role: 'CO_HOST' } });
  await api.call('listRooms');
  await assert.rejects(api.call('createRoom', { body: { name: 'none' } }), failure('SVC_SCOPE_MISSING'));
  await assert.rejects(
    api.call('mintChatToken', { body: { userId: 'ada' } }),
    (error: unknown) => failure('SVC_SCOPE_MISSING')(error) && /API key.*"tokens"/.test(String(error)),
  );
  const open = await newKey(project, {});
  assert.deepEqual([open.scopes, open.expiresAt, open.allowedNetworks], [null, null, null]);
  await service.as(open.key).call('createRoom', { body: { name: 'any' } });
});

test('[PRJ-11] an expired key is refused and listed as such; its stream of events ends and its RTC tokens are refreshed no more', async () => {
  const timed = await startTimedRooms();
  try {
    const project = await timed.newProject();
    const room = await newRoom(project.api);
    const expiresAt = new Date(timed.clock.now() + 60_000).toISOString();
    const { key, publicId, ...made } = await newKey(project, { expiresAt });
    assert.deepEqual([made.expiresAt, made.status], [expiresAt, 'ACTIVE']);
    const asking = request(`${timed.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } }).end();
    const [events] = (await once(asking, 'response')) as [IncomingMessage];
    events.resume();
    const ada = await joinAs(timed, timed.as(key), room, 'ada', { token: { ttlSeconds: 30 } });
    const stay = async () => {
      ada.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    };
    await passTime(timed, 50, stay);
    await timed.as(key).call('getOwnProject');
    assert.deepEqual(timed.node.rooms().get(room.id), ['ada']);

    await passTime(timed, 45, stay);
    await assert.rejects(timed.as(key).call('getOwnProject'), failure('SVC_API_KEY_EXPIRED'));
    assert.deepEqual(await ada.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });
    await eventually(async () => {
      await timed.clock.advance(500);
      assert.ok(events.complete);
    });
    await project.api.call('getOwnProject');
    const listed = await project.owner.api.call('listApiKeys', { projectId: project.id });
    assert.equal(listed.find((one) => one.publicId === publicId)?.status, 'EXPIRED');
  } finally {
    await timed.stop();
  }
});

test('[PRJ-12] a key with networks works from there only, IPv4 and IPv6, by the address behind trusted proxies', async () => {
  const project = await service.newProject();
  const { key, allowedNetworks } = await newKey(project, {
    allowedNetworks: ['203.0.113.0/24', '198.51.100.7', '2001:DB8:1::/48'],
  });
  assert.deepEqual(allowedNetworks, ['203.0.113.0/24', '198.51.100.7/32', '2001:db8:1::/48']);
  const codeFrom = async (address: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': address };
    const response = await service.fetch('/v1/project', { headers });
    return response.status === 200 ? 200 : [response.status, (await response.json()).code];
  };
  const refused = [403, 'SVC_NETWORK_NOT_ALLOWED'];
  for (const inside of ['203.0.113.200', '::ffff:203.0.113.9', '198.51.100.7', '2001:db8:1:ffff::9'])
    assert.equal(await codeFrom(inside), 200, inside);
  for (const outside of ['203.0.114.1', '198.51.100.8', '2001:db8:2::1', '::1', '127.0.0.1', '10.0.0.1, 192.0.2.1'])
    assert.deepEqual(await codeFrom(outside), refused, outside);
  await assert.rejects(service.as(key).call('getOwnProject'), failure('SVC_NETWORK_NOT_ALLOWED'));
});

test('[PRJ-13] a key shows the network it was last used from, and a refused use leaves no trace', async () => {
  const project = await service.newProject();
  const { key, publicId, lastUsedFrom } = await newKey(project, { allowedNetworks: ['203.0.113.0/24'] });
  assert.equal(lastUsedFrom, null);
  const useFrom = (address: string) =>
    service.fetch('/v1/project', { headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address } });
  const read = async () => {
    const listed = await project.owner.api.call('listApiKeys', { projectId: project.id });
    return listed.find((one) => one.publicId === publicId);
  };
  assert.equal((await useFrom('198.51.100.9')).status, 403);
  assert.equal((await useFrom('203.0.113.77')).status, 200);
  await eventually(async () => assert.equal((await read())?.lastUsedFrom, '203.0.113.0/24'));
  assert.ok((await read())?.lastUsedAt);
});

test('[PRJ-10] [PRJ-11] [PRJ-12] bounds that mean nothing are refused, with the field', async () => {
  const project = await service.newProject(await service.newPerson());
  for (const [field, bounds] of [
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['everything' as 'read'] }],
    ['scopes', { scopes: ['read', 'read'] as const }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['allowedNetworks', { allowedNetworks: [] }],
    ['allowedNetworks', { allowedNetworks: ['203.0.113.0/33'] }],
    ['allowedNetworks', { allowedNetworks: ['203.0.113/24'] }],
    ['allowedNetworks', { allowedNetworks: ['::ffff:203.0.113.0/120'] }],
    ['allowedNetworks', { allowedNetworks: ['fe80::1%eth0'] }],
    ['allowedNetworks', { allowedNetworks: ['office.example.com'] }],
    ['allowedNetworks', { allowedNetworks: ['203.0.113.0/'] }],
  ] as const) {
    const response = await service.fetch(`/v1/projects/${project.id}/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.owner.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', ...bounds }),
    });
    const { code, details } = await response.json();
    const label = JSON.stringify(bounds);
    assert.deepEqual([response.status, code], [400, 'SVC_VALIDATION_FAILED'], label);
    assert.ok(String(details?.[0]?.field).startsWith(field), label);
  }
});
