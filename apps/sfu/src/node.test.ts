import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { processStartMs, processWorkMs } from '../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../server/testkit/kit/ports.ts';
import { bareEnv } from '../../server/testkit/kit/process.ts';
import { CommandRefused } from '../testkit/control-client.ts';
import { eventually, startTestNode, TEST_SECRET } from '../testkit/node.ts';
import { readConfig } from './config.ts';
import type { NodeMessage } from './node-message.ts';
import { freeUdpPorts } from './ports.ts';

interface Call {
  method: string;
  url: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

/** The part of the control plane that a node talks to. */
async function startFleet(answer: (call: Call, count: number) => { status: number; body: unknown }) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const call: Call = {
      method: request.method ?? '',
      url: request.url ?? '',
      authorization: request.headers.authorization,
      body: text === '' ? {} : JSON.parse(text),
    };
    calls.push(call);
    const { status, body } = answer(call, calls.length);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { calls, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

test('[MED-42] a node registers, reports its load, and registers again when it is not known', async () => {
  // The second heartbeat finds a control plane that forgot the node.
  const fleet = await startFleet(({ method }, count) =>
    method === 'PUT' && count === 2 ? { status: 404, body: {} } : { status: 200, body: { draining: false } },
  );
  const kit = await startTestNode(
    { CONTROL_URL: fleet.url, SFU_REGION: 'eu', SFU_ANNOUNCED_HOST: '127.0.0.1', SFU_CAPACITY: '7' },
    true,
  );
  await eventually(() => fleet.calls.length >= 4, 'the node did not register again', processWorkMs);
  const [register, heartbeat, again] = fleet.calls;
  assert.deepEqual(
    [register?.method, register?.url, register?.authorization],
    ['POST', '/v1/rtc/servers/register', `Bearer ${TEST_SECRET}`],
  );
  assert.deepEqual(register?.body, {
    name: 'test-node',
    region: 'eu',
    publicHost: '127.0.0.1',
    internalUrl: kit.node.internalUrl,
    capacity: 7,
  });
  assert.deepEqual([heartbeat?.method, heartbeat?.url], ['PUT', '/v1/rtc/servers/test-node/heartbeat']);
  assert.deepEqual(Object.keys(heartbeat?.body ?? {}).sort(), [
    'activeParticipants',
    'activeRooms',
    'coreCpuPercents',
    'cpuPercent',
    'dataDropped',
    'lossInPercent',
    'lossOutPercent',
    'memoryPercent',
    'networkInBps',
    'networkOutBps',
    'packetsInPerSecond',
    'packetsOutPerSecond',
  ]);
  assert.equal(again?.url, '/v1/rtc/servers/register');
  await kit.stop();
  fleet.close();
});

test('[MED-42] a node that drains keeps its rooms and takes no new one', async () => {
  const fleet = await startFleet(() => ({ status: 200, body: { draining: true } }));
  const kit = await startTestNode({ CONTROL_URL: fleet.url }, true);
  await eventually(async () => (await kit.connect()).hello.draining, 'the node did not learn that it drains');
  const control = await kit.connect();
  await assert.rejects(
    control.command('room.open', { room: 'r' }),
    (error) => error instanceof CommandRefused && error.code === 'DRAINING',
  );
  await kit.stop();
  fleet.close();
});

const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
};
const add = (room: string, participant: string) => ({
  room,
  participant,
  identity: participant,
  permissions,
  autoSubscribe: true,
});

test('[MED-72] a node whose public address changes reports the new one and tells it to new clients', async () => {
  const seen = ['8.8.4.4', '8.8.8.8'];
  const fleet = await startFleet((_call, count) => ({
    status: 200,
    body: { draining: false, observedAddress: seen[count - 1] ?? '8.8.8.8' },
  }));
  const turnPort = String(await ownPort());
  const kit = await startTestNode({ CONTROL_URL: fleet.url, SFU_PUBLIC_IP: 'auto', SFU_TURN_PORT: turnPort }, true);
  const hosts = () => fleet.calls.flatMap(({ method, body }) => (method === 'PUT' ? (body['publicHost'] ?? []) : []));
  await eventually(() => hosts().at(-1) === '8.8.8.8', 'the node did not report its new address', processWorkMs);
  assert.deepEqual(hosts(), ['8.8.4.4', '8.8.8.8']);
  assert.ok(kit.node.turnUrls()[0]?.startsWith(`turn:8.8.8.8:${turnPort}?`), kit.node.turnUrls()[0]);
  const control = await kit.connect();
  await control.command('room.open', { room: 'r' });
  await control.command('participant.add', add('r', 'ps_1'));
  const offer = await eventually(() => control.events.find(({ type }) => type === 'sub.offer'), 'no offer came');
  const { candidates = [] } = (offer.data as { description: { candidates?: string[] } }).description;
  assert.deepEqual(
    candidates.filter((candidate) => candidate.includes('8.8.')).map((candidate) => candidate.split(' ')[2]),
    ['8.8.8.8'],
  );
  await kit.stop();
  fleet.close();
});

test('[MED-72] a node that crashed finds out under which address it was registered', async () => {
  const fleet = await startFleet(({ method, body }) =>
    method === 'POST' && body['publicHost'] !== '8.8.8.8'
      ? { status: 409, body: { code: 'SVC_SERVER_NAME_TAKEN' } }
      : { status: 200, body: { draining: false, observedAddress: '8.8.8.8' } },
  );
  const kit = await startTestNode({ CONTROL_URL: fleet.url, SFU_PUBLIC_IP: 'auto' }, true);
  await eventually(() => fleet.calls.length >= 4, 'the node did not register', processWorkMs);
  assert.deepEqual(
    fleet.calls.slice(0, 4).map(({ method }) => method),
    ['POST', 'PUT', 'POST', 'PUT'],
  );
  await kit.stop();
  fleet.close();
});

test('[MED-73] a node that drains tells the control plane, waits for who is there, and deregisters', async () => {
  const fleet = await startFleet(() => ({ status: 200, body: { draining: false } }));
  const kit = await startTestNode({ CONTROL_URL: fleet.url, SFU_DRAIN_SECONDS: '600' }, true);
  const control = await kit.connect();
  await control.command('room.open', { room: 'r' });
  await control.command('participant.add', add('r', 'ps_1'));
  const drained = kit.node.drain();
  await eventually(
    () => fleet.calls.some(({ body }) => body['leaving'] === true),
    'the control plane was not told',
    processWorkMs,
  );
  await assert.rejects(
    control.command('room.open', { room: 'another' }),
    (error) => error instanceof CommandRefused && error.code === 'DRAINING',
  );
  assert.ok(!fleet.calls.some(({ method }) => method === 'DELETE'), 'it did not wait');
  await control.command('participant.remove', { room: 'r', participant: 'ps_1', reason: 'CLIENT_INITIATED' });
  await drained;
  assert.deepEqual([fleet.calls.at(-1)?.method, fleet.calls.at(-1)?.url], ['DELETE', '/v1/rtc/servers/test-node']);
  await kit.stop();
  fleet.close();
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A zombie that nobody has waited for yet is dead all the same.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** The node as it is run, with the ids of its media processes. */
async function runMain(variables: Record<string, string> = {}): Promise<{ child: ChildProcess; workers: number[] }> {
  const child = fork(new URL('./main.ts', import.meta.url), [], {
    env: {
      ...bareEnv(),
      SFU_NAME: 'main-test',
      SFU_REGISTRATION_SECRET: TEST_SECRET,
      SFU_INTERNAL_PORT: '0',
      SFU_PROCESSES: '2',
      SFU_UDP_PORT: String(await ownPort()),
      SFU_TURN_PORT: String(await ownPort()),
      CONTROL_URL: 'http://127.0.0.1:1',
      ...variables,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [message] = (await once(child, 'message')) as [NodeMessage];
  assert.notEqual(message.kind, 'failed', JSON.stringify(message));
  const path = `/proc/${child.pid}/task/${child.pid}/children`;
  const workers = await eventually(
    () => {
      const pids = readFileSync(path, 'utf8').trim().split(' ').map(Number);
      return pids.length === 2 ? pids : undefined;
    },
    'the node has no media processes',
    processStartMs,
  );
  return { child, workers };
}

const onLinux = process.platform === 'linux' ? false : 'process tables are read from /proc';

test('[MED-43] SIGTERM ends a node and its processes', { skip: onLinux }, async () => {
  const { child, workers } = await runMain();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  assert.equal(await exited, 0);
  await eventually(() => workers.every((pid) => !isAlive(pid)), 'a media process is left', processWorkMs);
});

test('[MED-73] a second signal ends a node that drains at once', { skip: onLinux }, async () => {
  // A control plane that takes every call and answers none keeps the node draining.
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const { child, workers } = await runMain({ CONTROL_URL: `http://127.0.0.1:${port}`, SFU_DRAIN_SECONDS: '600' });
  child.kill('SIGTERM');
  await eventually(() => child.exitCode !== null || !child.kill('SIGTERM'), 'the node does not end', processWorkMs);
  assert.equal(child.exitCode, 1);
  await eventually(() => workers.every((pid) => !isAlive(pid)), 'a media process is left', processWorkMs);
  silent.close();
  silent.closeAllConnections();
});

test('[MED-43] kill -9 of a node leaves no process behind', { skip: onLinux }, async () => {
  const { child, workers } = await runMain();
  assert.ok(workers.every(isAlive));
  child.kill('SIGKILL');
  await eventually(() => workers.every((pid) => !isAlive(pid)), 'a media process is left', processWorkMs);
});

test('[MED-44] [MED-74] a node whose media port is taken does not start, and says so', async () => {
  const taken = createSocket('udp6');
  await new Promise<void>((resolve) => taken.bind(0, resolve));
  await assert.rejects(startTestNode({ SFU_UDP_PORT: String(taken.address().port) }), {
    name: 'StartFailure',
    message: /^A media process could not start: UDP port \d+ cannot be opened/,
  });
  taken.close();
});

test('[MED-74] in development the next free UDP ports are taken, and known', async () => {
  const taken = createSocket('udp6');
  await new Promise<void>((resolve) => taken.bind(0, resolve));
  const { port } = taken.address();
  const [first = 0, second = 0] = await freeUdpPorts(port - 1, 2);
  assert.ok(first > port && second === first + 1, `${first} and ${second} after ${port}`);
  taken.close();
});

test('[MED-74] without IPv6 free ports are found by IPv4', async () => {
  const asked: string[] = [];
  const bind = async (type: 'udp4' | 'udp6', port: number): Promise<boolean | null> => {
    asked.push(`${type} ${port}`);
    return type === 'udp6' ? null : port !== 5001;
  };
  assert.deepEqual(await freeUdpPorts(5000, 2, bind), [5002, 5003]);
  assert.ok(asked.includes('udp4 5001') && asked.length === 3 * 2 * 2, asked.join());
  await assert.rejects(
    freeUdpPorts(5000, 1, async () => null),
    /^Error: None of the UDP ports 5000 to 5099 is free\.$/,
  );
});

test('[MED-44] a malformed setting is refused with a sentence that names it', () => {
  const good = { SFU_REGISTRATION_SECRET: TEST_SECRET };
  assert.equal(readConfig(good).udpPort, 4443);
  assert.equal(readConfig({ ...good, SFU_PIPE_PORT: '4700' }).pipes?.port, 4700);
  const bad: [Record<string, string>, RegExp][] = [
    [{ SFU_REGISTRATION_SECRET: '' }, /^SFU_REGISTRATION_SECRET must be set\.$/],
    [{ SFU_REGISTRATION_SECRET: 'short' }, /^SFU_REGISTRATION_SECRET must be at least 32 bytes/],
    [{ SFU_UDP_PORT: '80a' }, /^SFU_UDP_PORT must be a whole number/],
    [{ SFU_UDP_PORT: '80' }, /^SFU_UDP_PORT must be a whole number/],
    [{ SFU_PROCESSES: '0' }, /^SFU_PROCESSES must be/],
    [{ SFU_NAME: 'register' }, /^SFU_NAME must not be "register"/],
    [{ SFU_NAME: 'a b' }, /^SFU_NAME must be/],
    [{ SFU_ANNOUNCED_HOST: 'http://x' }, /^SFU_ANNOUNCED_HOST must be/],
    [{ CONTROL_URL: 'ftp://x' }, /^CONTROL_URL must be an http/],
    [{ SFU_INTERNAL_URL: 'http://user:pass@x' }, /^SFU_INTERNAL_URL must be an http/],
    [{ SFU_PUBLIC_IP: 'here' }, /^SFU_PUBLIC_IP must be auto, or IP addresses/],
    [{ SFU_PUBLIC_IP: '203.0.113.9', SFU_ANNOUNCED_HOST: 'x.example.com' }, /^SFU_PUBLIC_IP must not be set beside/],
    [{ SFU_STUN_SERVER: 'http://x' }, /^SFU_STUN_SERVER must be a host/],
    [{ SFU_DRAIN_SECONDS: '1h' }, /^SFU_DRAIN_SECONDS must be a whole number/],
  ];
  for (const [variables, message] of bad)
    assert.throws(() => readConfig({ ...good, ...variables }), { name: 'ConfigError', message });
});
