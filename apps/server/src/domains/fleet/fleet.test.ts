import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { joinAs, mint, newRoom, type RoomsService, startRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { Person } from '../../../testkit/kit/people.ts';
import { startService } from '../../../testkit/kit/service.ts';
import type { ProtocolNode } from '../../../testkit/peers/protocol-node.ts';
import { sql } from '../../core/sql.ts';

let service: RoomsService;
before(async () => {
  service = await startRooms();
});
after(() => service.stop());

const asNode = (body: object, credential = service.config.sfuSecrets[0]): Promise<Response> =>
  service.fetch('/v1/rtc/servers/register', {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const somewhere = { region: 'eu', publicHost: 'sfu.example.com', internalUrl: 'http://10.1.2.3:4480' };
const codeOf = async (response: Response): Promise<[number, string]> => {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code];
};

test('[FLEET-1] a node registers with the secret, a restart reclaims its row, and a heartbeat says how it is', async () => {
  const body = { name: 'sfu-a', ...somewhere, capacity: 10, version: '1.2' };
  const made = await asNode(body);
  assert.equal(made.status, 201);
  const record = (await made.json()) as Record<string, unknown>;
  assert.deepEqual(
    [record['status'], record['heartbeatIntervalSeconds'], record['heartbeatTimeoutSeconds'], record['activeRooms']],
    ['ACTIVE', 10, 30, null],
  );
  assert.equal((await asNode({ ...body, version: '1.3' })).status, 200);
  const beat = (name: string, load: object, secret = service.config.sfuSecrets[0]): Promise<Response> =>
    service.fetch(`/v1/rtc/servers/${name}/heartbeat`, {
      method: 'PUT',
      headers: { 'x-sfu-secret': secret ?? '', 'content-type': 'application/json' },
      body: JSON.stringify(load),
    });
  const alive = await beat('sfu-a', { activeRooms: 2, activeParticipants: 7, cpuPercent: 12.5 });
  assert.deepEqual(await alive.json(), {
    status: 'ACTIVE',
    draining: false,
    observedAddress: '127.0.0.1',
    commands: [],
  });
  const owner = (await service.newPerson()).api;
  const read = await owner.call('getServer', { name: 'sfu-a' });
  assert.deepEqual(
    [read.version, read.activeRooms, read.activeParticipants, read.cpuPercent, read.memoryPercent],
    ['1.3', 2, 7, 12.5, null],
  );
  assert.deepEqual(await codeOf(await beat('nobody', { activeRooms: 0, activeParticipants: 0 })), [
    404,
    'SVC_SERVER_NOT_FOUND',
  ]);
  assert.deepEqual(await codeOf(await beat('sfu-a', { activeRooms: -1, activeParticipants: 0 })), [
    400,
    'SVC_VALIDATION_FAILED',
  ]);
  assert.deepEqual(await codeOf(await asNode(body, 'wrong')), [401, 'SVC_INVALID_SFU_SECRET']);
  const { apiKey } = await service.newProject();
  assert.deepEqual(await codeOf(await asNode(body, apiKey)), [403, 'SVC_WRONG_CREDENTIAL_TYPE']);
  for (const name of ['metrics', 'register', 'a b', ''])
    assert.deepEqual(await codeOf(await asNode({ ...body, name })), [400, 'SVC_VALIDATION_FAILED']);
});

test('[FLEET-2] a live name is not taken over with other addresses, and its node may report another public host', async () => {
  const body = { name: 'sfu-b', ...somewhere };
  await asNode(body);
  const elsewhere = { ...body, internalUrl: 'http://10.6.6.6:4480', publicHost: 'evil.example.com' };
  assert.deepEqual(await codeOf(await asNode(elsewhere)), [409, 'SVC_SERVER_NAME_TAKEN']);
  const { api } = await service.newPerson();
  assert.equal((await api.call('getServer', { name: 'sfu-b' })).publicHost, 'sfu.example.com');
  const moved = { ...body, publicHost: '198.51.100.7' };
  assert.deepEqual(await codeOf(await asNode(moved)), [409, 'SVC_SERVER_NAME_TAKEN']);
  const beat = await service.fetch('/v1/rtc/servers/sfu-b/heartbeat', {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.config.sfuSecrets[0]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ activeRooms: 0, activeParticipants: 0, publicHost: moved.publicHost }),
  });
  assert.equal(beat.status, 200);
  assert.equal((await api.call('getServer', { name: 'sfu-b' })).publicHost, '198.51.100.7');
  assert.equal((await asNode(moved)).status, 200);
});

const deregister = (name: string): Promise<Response> =>
  service.fetch(`/v1/rtc/servers/${name}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${service.config.sfuSecrets[0]}` },
  });

test('[FLEET-23] a node that deregisters is gone from the fleet, and one that an operator drained stays so', async () => {
  const { api } = await service.newPerson();
  const names = async () => (await api.call('listServers', {})).map(({ name }) => name);
  for (const name of ['sfu-leaves', 'sfu-stays']) await asNode({ name, ...somewhere });
  await service.adapters.db.execute(sql`update media_servers set is_draining = true where name = 'sfu-stays'`);
  assert.equal((await deregister('sfu-leaves')).status, 204);
  assert.equal((await deregister('sfu-stays')).status, 204);
  const left = await names();
  assert.deepEqual([left.includes('sfu-leaves'), left.includes('sfu-stays')], [false, true]);
  await asNode({ name: 'sfu-stays', ...somewhere });
  assert.equal((await api.call('getServer', { name: 'sfu-stays' })).draining, true);
  assert.deepEqual(await codeOf(await deregister('sfu-leaves')), [404, 'SVC_SERVER_NOT_FOUND']);
});

test('[FLEET-23] a node that says it leaves gets no room until it registers again', async () => {
  const { api } = await service.newPerson();
  const body = { name: 'sfu-ends', ...somewhere };
  await asNode(body);
  const read = () => api.call('getServer', { name: 'sfu-ends' });
  const secret = service.config.sfuSecrets[0];
  const beat = (more: object) =>
    service
      .as(secret)
      .call('heartbeatServer', { name: 'sfu-ends', body: { activeRooms: 0, activeParticipants: 0, ...more } });
  assert.equal((await beat({ leaving: true })).draining, true);
  assert.equal((await beat({})).draining, true);
  assert.equal((await read()).status, 'DRAINED');
  await asNode(body);
  assert.equal((await read()).status, 'ACTIVE');
});

test('[FLEET-3] internalUrl may name only allowed places, and a name is judged by its addresses when we connect', async () => {
  const refused = [
    'http://169.254.169.254/latest',
    'http://8.8.8.8:4480',
    'http://[::ffff:169.254.169.254]:80',
    'http://0.0.0.0:4480',
    'http://[fe80::1]:4480',
    'http://user:pass@10.0.0.1:4480',
    'http://10.0.0.1:4480/?x=1',
    'ftp://10.0.0.1',
    'file:///etc/passwd',
    'http://2852039166/',
    'not a url',
  ];
  for (const internalUrl of refused)
    assert.deepEqual(
      await codeOf(await asNode({ ...somewhere, name: 'sfu-c', internalUrl })),
      [400, 'SVC_VALIDATION_FAILED'],
      internalUrl,
    );
  for (const internalUrl of ['http://10.0.0.1:4480', 'https://[fd00::1]:4480', 'http://127.0.0.1:1/base'])
    assert.equal((await asNode({ ...somewhere, name: `ok-${internalUrl.length}`, internalUrl })).ok, true, internalUrl);
  for (const publicHost of ['a b', 'x/y', 'evil.com/path', 'javascript:alert(1)', 'a@b', '<img>'])
    assert.deepEqual(
      await codeOf(await asNode({ ...somewhere, name: 'sfu-d', publicHost })),
      [400, 'SVC_VALIDATION_FAILED'],
      publicHost,
    );
});

test('[FLEET-3] an operator names the places; a name outside them is refused when we connect', async () => {
  const narrow = await startService({ env: { SFU_ALLOWED_HOSTS: '192.0.2.0/24,media.example.com' } });
  try {
    const [secret = ''] = narrow.config.sfuSecrets;
    const register = (name: string, internalUrl: string): Promise<Response> =>
      narrow.fetch('/v1/rtc/servers/register', {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, region: 'eu', publicHost: 'h', internalUrl }),
      });
    assert.equal((await register('lit', 'http://127.0.0.1:4480')).status, 400);
    // Its address is known only when it is looked up.
    assert.equal((await register('named', 'http://localhost:4480')).status, 201);
    const { api } = await narrow.newProject();
    const room = await newRoom(api);
    const { token } = await mint(api, room, 'ada');
    await assert.rejects(joinRoom(narrow.url, token), /NO_MEDIA_SERVER/);
  } finally {
    await narrow.stop();
  }
});

test('[FLEET-4] rooms go where they are wanted, under the ceiling, to the least loaded', async () => {
  const fleet = await startRooms();
  try {
    const { api } = await fleet.newProject();
    const nodes = {
      busy: await fleet.newNode('eu-busy', { region: 'eu' }),
      idle: await fleet.newNode('eu-idle', { region: 'eu' }),
      small: await fleet.newNode('us-small', { region: 'us', capacity: 1 }),
    };
    const placed = async (region?: string): Promise<string | null> => {
      const room = await newRoom(api, region === undefined ? {} : { region });
      return (await joinAs(fleet, api, room, 'ada')).joined.room.serverName;
    };
    const report = async (node: ProtocolNode, reports: Record<string, unknown>): Promise<void> => {
      node.reports = reports;
      await node.heartbeat();
    };
    await report(nodes.busy, { activeParticipants: 40 });
    assert.equal(await placed('eu'), 'eu-idle');
    await report(nodes.idle, { cpuPercent: 97 });
    assert.equal(await placed('eu'), 'eu-busy', 'a node without CPU is the last choice');
    assert.equal(await placed('us'), 'us-small');
    // A preference, not a demand; and a node that reports less than we placed there is not believed.
    await report(nodes.small, { activeRooms: 0 });
    assert.equal(await placed('us'), 'node-1');
    assert.equal(await placed('mars'), 'node-1');
  } finally {
    await fleet.stop();
  }
});

test('[FLEET-4] without a node that can take it, a join says so and may be tried again', async () => {
  const lone = await startRooms();
  try {
    const { api, owner } = await lone.newProject();
    await owner.api.call('drainServer', { name: 'node-1' });
    const { token } = await mint(api, await newRoom(api), 'ada');
    const error = await joinRoom(lone.url, token).catch((reason) => reason);
    assert.deepEqual([error.frame.code, error.frame.retryable], ['NO_MEDIA_SERVER', true]);
    assert.equal((await error.socket.whenClosed()).code, 4503);
    const [room] = await api.call('listRooms');
    assert.deepEqual([room?.participantCount, room?.serverName], [0, null]);
  } finally {
    await lone.stop();
  }
});

test('[FLEET-5] a drained node gets no room from the moment the call answered, whatever it reports', async () => {
  const fleet = await startRooms();
  try {
    const { api, owner } = await fleet.newProject();
    const second = await fleet.newNode('node-2');
    const staying = await newRoom(api);
    const ada = await joinAs(fleet, api, staying, 'ada');
    const name = ada.joined.room.serverName ?? '';
    // Joins are under way while it is drained: whichever begins after the answer goes elsewhere.
    let isDrained = false;
    const joins = Array.from({ length: 12 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, n * 5));
      const beganAfter = isDrained;
      const client = await joinAs(fleet, api, await newRoom(api), 'x');
      if (beganAfter) assert.notEqual(client.joined.room.serverName, name);
      await client.close();
    });
    const drained = await owner.api.call('drainServer', { name });
    isDrained = true;
    assert.deepEqual([drained.status, drained.draining], ['DRAINING', true]);
    await Promise.all(joins);
    const again = await owner.api.call('drainServer', { name, body: {} });
    assert.equal(again.drainStartedAt, drained.drainStartedAt);
    // Who is there stays, and others may join them.
    const bob = await joinAs(fleet, api, staying, 'bob');
    assert.equal(bob.joined.room.serverName, name);
    const node = name === 'node-2' ? second : fleet.node;
    const { status, draining } = (await (await node.heartbeat()).json()) as Record<string, unknown>;
    assert.deepEqual([status, draining], ['DRAINING', true]);
    await Promise.all([ada.close(), bob.close()]);
    assert.equal((await node.register()).status, 200);
    // A restart does not undrain it; the last ones' leaving is stored after their sockets closed.
    await eventually(async () => assert.equal((await owner.api.call('getServer', { name })).status, 'DRAINED'));
    const back = await owner.api.call('undrainServer', { name });
    assert.deepEqual([back.status, back.drainStartedAt], ['ACTIVE', null]);
  } finally {
    await fleet.stop();
  }
});

const departures: [string, (fleet: RoomsService, operator: Person) => Promise<unknown>][] = [
  ['[FLEET-6] a forced drain', (_fleet, { api }) => api.call('drainServer', { name: 'node-1', body: { force: true } })],
  [
    '[FLEET-23] a node that deregisters',
    (fleet) => fleet.as(fleet.config.sfuSecrets[0]).call('deregisterServer', { name: 'node-1' }),
  ],
];
for (const [what, leave] of departures)
  test(`${what} sends the clients to another node`, async () => {
    const fleet = await startRooms();
    try {
      const { api, owner } = await fleet.newProject();
      const room = await newRoom(api);
      const [ada, bob] = [await joinAs(fleet, api, room, 'ada'), await joinAs(fleet, api, room, 'bob')];
      await fleet.newNode('node-2');
      await leave(fleet, owner);
      for (const one of [ada, bob]) {
        const reconnect = await one.take('reconnect');
        assert.deepEqual([reconnect['action'], reconnect['reason']], ['RECONNECT', 'NODE_DRAINED']);
        assert.deepEqual(await one.whenClosed(), { code: 4503, reason: 'NODE_DRAINED' });
      }
      const left = (await owner.api.call('listServers')).find(({ name }) => name === 'node-1')?.status;
      assert.equal(left, what.startsWith('[FLEET-6]') ? 'DRAINED' : undefined);
      const again = await joinRoom(fleet.url, ada.token);
      assert.equal(again.joined.room.serverName, 'node-2');
      assert.deepEqual(fleet.node.rooms().get(room.id), []);
      await again.close();
    } finally {
      await fleet.stop();
    }
  });

test('[FLEET-7] everybody signed in reads the fleet and its totals; only operators drain and see inner addresses', async () => {
  const strict = await startService({
    env: {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      SECRET_KEY: randomBytes(32).toString('hex'),
      SFU_REGISTRATION_SECRET: randomBytes(32).toString('hex'),
      AUTH_REQUIRE_VERIFIED_EMAIL: 'false',
    },
  });
  try {
    const [secret = ''] = strict.config.sfuSecrets;
    const body = { name: 'sfu-1', region: 'eu', publicHost: 'h', internalUrl: 'http://10.0.0.1:1', capacity: 4 };
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    await strict.fetch('/v1/rtc/servers/register', { method: 'POST', headers, body: JSON.stringify(body) });
    const load = { activeRooms: 1, activeParticipants: 3, networkInBps: 10, networkOutBps: 30 };
    await strict.fetch('/v1/rtc/servers/sfu-1/heartbeat', { method: 'PUT', headers, body: JSON.stringify(load) });
    const [first, other] = [await strict.newPerson(), await strict.newPerson()];
    assert.equal((await first.api.call('listServers'))[0]?.internalUrl, 'http://10.0.0.1:1');
    assert.equal((await other.api.call('listServers'))[0]?.internalUrl, undefined);
    assert.equal((await other.api.call('getServer', { name: 'sfu-1' })).internalUrl, undefined);
    for (const name of ['drainServer', 'undrainServer'] as const)
      await assert.rejects(other.api.call(name, { name: 'sfu-1' }), { status: 403, code: 'SVC_PERMISSION_DENIED' });
    const totals = await other.api.call('getFleetTotals');
    assert.deepEqual(totals.serversByStatus, { ACTIVE: 1, DRAINING: 0, DRAINED: 0, OFFLINE: 0 });
    assert.deepEqual(
      [totals.servers, totals.activeRooms, totals.activeParticipants, totals.capacityRooms, totals.utilizationPercent],
      [1, 1, 3, 4, 25],
    );
    assert.deepEqual([totals.networkInBps, totals.networkOutBps, totals.byRegion[0]?.region], [10, 30, 'eu']);
  } finally {
    await strict.stop();
  }
});
