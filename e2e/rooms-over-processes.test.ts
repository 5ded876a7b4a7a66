import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { type Api, createApi } from '@parley/server';
import { everyPermission, joinRoom, type SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

const redisUrl = process.env['PARLEY_TEST_REDIS_URL'];
const isProduction = redisUrl !== undefined && process.env['PARLEY_TEST_DATABASE_URL'] !== undefined;

describe('two servers and two media nodes on PostgreSQL and Redis', {
  skip: isProduction ? false : 'needs PostgreSQL and Redis: npm run test:production',
}, () => {
  const secret = randomUUID() + randomUUID();
  const nodes = new Map<string, NodeProcess>();
  let database: TestDatabase;
  let shared: Record<string, string>;
  const servers: ServerProcess[] = [];
  let api: Api;

  async function restartFirst(): Promise<void> {
    const { port, dataDir } = servers[0] ?? assert.fail('no server');
    servers[0] = await startProcess({ ...shared, PORT: String(port), DATA_DIR: dataDir });
  }

  const urlOf = (index: number): string => servers[index]?.url ?? '';

  async function startNode(name: string, controlUrl: string): Promise<void> {
    nodes.set(name, await startNodeProcess({ name, secret, controlUrl }));
  }

  async function stopNode(name: string): Promise<void> {
    await nodes.get(name)?.kill();
    nodes.delete(name);
  }

  before(async () => {
    database = await openTestDatabase();
    shared = {
      DATABASE_URL: database.url ?? '',
      REDIS_URL: redisUrl ?? '',
      REDIS_KEY_PREFIX: `rooms-${randomUUID()}:`,
      SECRET_KEY: randomUUID() + randomUUID(),
      SFU_REGISTRATION_SECRET: secret,
      SFU_HEARTBEAT_TIMEOUT_SECONDS: '25',
      TRUST_PROXY: '127.0.0.1',
    };
    // One by one: what has started is stopped, whatever becomes of the other.
    servers.push(await startProcess(shared));
    servers.push(await startProcess(shared));
    const { SVC_API_KEY: credential = '' } = await (servers[0] ?? assert.fail('no server')).devEnv();
    api = createApi({ baseUrl: urlOf(1), credential });
    await Promise.all([startNode('node-a', urlOf(1)), startNode('node-b', urlOf(1))]);
  });

  after(async () => {
    clearInterval(pinging);
    for (const name of [...nodes.keys()]) await stopNode(name);
    for (const server of servers) {
      await server.kill();
      await rm(server.dataDir, { recursive: true, force: true });
    }
    await database.close();
  });

  const tokens = new Map<SignalClient, string>();
  const open = new Set<SignalClient>();
  /** As every client does while it is there. */
  const pinging = setInterval(() => {
    for (const client of open)
      if (!client.closed && client.ws.readyState === client.ws.OPEN) client.send({ type: 'ping', t: 0 });
  }, 5_000);

  async function enter(server: number, roomId: string, identity: string): Promise<SignalClient> {
    const body = { participantIdentity: identity, permissions: everyPermission };
    const { token } = await api.call('mintRtcToken', { roomId, body });
    const client = await eventually(() => joinRoom(urlOf(server), token), { withinMs: 30_000, everyMs: 250 });
    tokens.set(client, token);
    open.add(client);
    return client;
  }

  const back = (client: SignalClient, server: number): Promise<SignalClient> =>
    joinRoom(urlOf(server), tokens.get(client) ?? '', {
      resume: {
        sessionId: client.joined.sessionId,
        resumeToken: client.joined.resumeToken,
        lastSeq: client.highestSeq(),
      },
    });

  test('[SIG-1] [SIG-15] participants of different servers see each other, and a killed server loses nothing', async () => {
    const room = await api.call('createRoom', { body: { name: `pair-${randomUUID()}` } });
    const [ada, bob] = [await enter(0, room.id, 'ada'), await enter(1, room.id, 'bob')];
    assert.equal(((await ada.take('participant.joined'))['participant'] as { identity: string }).identity, 'bob');
    assert.deepEqual(
      bob.others.map(({ identity }) => identity),
      ['ada'],
    );
    await ada.take('sub.offer');
    await bob.ask({ type: 'participant.update', metadata: 'one' });
    await ada.take('participant.updated');

    await servers[0]?.kill();
    await ada.whenClosed();
    // While nobody holds ada's socket, the room goes on.
    await bob.ask({ type: 'participant.update', metadata: 'two' });
    const again = await back(ada, 1);
    open.add(again);
    assert.equal(again.joined.resumed, true);
    const missed = (await again.take('participant.updated'))['participant'] as { metadata: string };
    assert.equal(missed.metadata, 'two');
    assert.ok(!bob.frames.some(({ type }) => type === 'participant.left'));
    const there = await api.call('listRoomParticipants', { id: room.id });
    assert.deepEqual(there.map(({ identity }) => identity).sort(), ['ada', 'bob']);

    // Nobody comes back for this one: another process ends it.
    await restartFirst();
    const eve = await enter(0, room.id, 'eve');
    await servers[0]?.kill();
    await eve.whenClosed();
    const left = await eventually(
      () => bob.frames.find(({ type }) => type === 'participant.left') ?? assert.fail('still there'),
      { withinMs: 90_000 },
    );
    assert.deepEqual([left['identity'], left['reason']], ['eve', 'CONNECTION_TIMEOUT']);
    assert.equal((await api.call('getRoom', { id: room.id })).participantCount, 2);
    await restartFirst();
    for (const one of [again, bob]) await one.close();
  });

  test('[FLEET-8] a killed media node: its rooms move to the other when clients rejoin', async () => {
    const room = await api.call('createRoom', { body: { name: `moving-${randomUUID()}` } });
    const [ada, bob] = [await enter(0, room.id, 'ada'), await enter(1, room.id, 'bob')];
    const name = ada.joined.room.serverName ?? '';
    await stopNode(name);
    for (const one of [ada, bob]) {
      await eventually(() => assert.equal(one.closed?.code, 4503), { withinMs: 90_000 });
      assert.equal((await one.take('reconnect'))['reason'], 'MEDIA_FAILURE');
    }
    const again = await Promise.all(
      [ada, bob].map((one, index) =>
        eventually(() => joinRoom(urlOf(index), tokens.get(one) ?? ''), { withinMs: 30_000, everyMs: 250 }),
      ),
    );
    for (const one of again) assert.notEqual(one.joined.room.serverName, name);
    await eventually(
      async () => {
        const there = await api.call('listRoomParticipants', { id: room.id });
        assert.deepEqual(there.map(({ identity }) => identity).sort(), ['ada', 'bob']);
      },
      { withinMs: processWorkMs },
    );
    const past = await api.call('listRoomSessions', { id: room.id });
    assert.equal(past.filter(({ disconnectReason }) => disconnectReason === 'MEDIA_FAILURE').length, 2);
    for (const one of again) await one.close();
  });
});
