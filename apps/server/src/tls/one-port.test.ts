import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openSocket } from '../../testkit/clients/socket-client.ts';
import { getOverTls, openTls, readToEnd } from '../../testkit/clients/tls-client.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { createAuthority } from '../../testkit/peers/tls-receiver.ts';
import { listenAddress } from '../core/addresses.ts';

const name = 'calls.test';
let authority: Awaited<ReturnType<typeof createAuthority>>;
let folder: string;
let service: TestService;
/** Stands where a media node's TURN server is. */
let relay: Server;
const relayed: { socket: Socket; client: { address: string; port: number } }[] = [];

const file = (which: string): string => join(folder, which);

async function writePair(): Promise<void> {
  const { key, cert } = await authority.issue(name);
  await writeFile(file('key.pem'), key);
  await writeFile(file('cert.pem'), cert);
}

const withFiles = (): Record<string, string> => ({
  TLS_CERT: file('cert.pem'),
  TLS_KEY: file('key.pem'),
  PUBLIC_URL: `https://${name}`,
  ALLOW_PUBLIC_DEVELOPMENT: 'true',
});

async function openTurnPipe(client: { address: string; port: number }): Promise<Socket | null> {
  const address = relay.address();
  if (address === null || typeof address === 'string') return null;
  const socket = connect(address.port, '127.0.0.1');
  await once(socket, 'connect');
  relayed.push({ socket, client });
  return socket;
}

const peer = (of: TestService = service) => ({ port: of.config.port, name, ca: authority.certificate });

/** An Allocate request without attributes. */
const allocate = Buffer.from('000300002112a442000102030405060708090a0b', 'hex');

before(async () => {
  authority = await createAuthority();
  folder = await mkdtemp(join(tmpdir(), 'parley-tls-'));
  await writePair();
  // What it gets it sends back.
  relay = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  service = await startService({ env: { ...withFiles(), TLS_MAX_PENDING_PER_ADDRESS: '8' }, openTurnPipe });
});

after(async () => {
  await service.stop();
  relay.close();
  await rm(folder, { recursive: true, force: true });
  await authority.remove();
});

test('[TLS-1] with TLS_CERT the port speaks TLS 1.2 and newer, with HTTP/1.1 and HSTS, and keeps connections', async () => {
  const answer = await getOverTls(peer(), '/healthz');
  assert.deepEqual([answer.status, answer.text], [200, '{"status":"OK"}']);
  assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000');

  const socket = await openTls(peer(), { ALPNProtocols: ['h2', 'http/1.1'] });
  assert.deepEqual([socket.alpnProtocol, socket.getProtocol()], ['http/1.1', 'TLSv1.3']);
  // Two on one connection, the second in pieces.
  socket.write('GET /healthz HTTP/1.1\r\nhost: calls.test\r\n\r\nGET /hea');
  await once(socket, 'data');
  socket.write('lthz HTTP/1.1\r\nhost: calls.test\r\nconnection: close\r\n\r\n');
  assert.match((await readToEnd(socket)).toString(), /HTTP\/1\.1 200 OK/);

  await assert.rejects(openTls(peer(), { ALPNProtocols: ['imap'] }));
  await assert.rejects(openTls(peer(), { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }));
  await assert.rejects(openTls(peer(), { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }));
});

test('[TLS-1] a request body of many packets arrives whole, and the caller’s address is the connection’s', async () => {
  const { apiKey } = await service.newProject();
  const socket = await openTls(peer());
  const body = JSON.stringify({ name: 'over-tls', metadata: { text: 'x'.repeat(3_000) } });
  const head = `POST /v1/rooms HTTP/1.1\r\nhost: ${name}\r\nauthorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (const part of [head.slice(0, 1), head.slice(1, 60), head.slice(60), body.slice(0, 1_000), body.slice(1_000)]) {
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.match((await readToEnd(socket)).toString(), /^HTTP\/1\.1 201 .*"name":"over-tls"/s);
});

test('[TLS-1] WebSockets and chat work over the same port', async () => {
  const { api } = await service.newProject();
  const { token } = await api.call('mintChatToken', { body: { userId: 'ada' } });
  // Not written in the call: the published types of `ws` do not know `servername`.
  const trusting = { ca: authority.certificate, servername: name };
  const chat = await openSocket(`https://127.0.0.1:${service.config.port}/v1/chat/ws`, {
    protocols: ['svc.chat.v1', `bearer.${token}`],
    ...trusting,
  });
  assert.equal((await chat.take('hello')).type, 'hello');
  await chat.close();
});

test('[TLS-2] plain HTTP is answered for this machine alone', async () => {
  assert.equal((await service.fetch('/healthz')).status, 200);
  // A connection that says to come from elsewhere.
  const door = createServer((socket) => {
    Object.defineProperty(socket, 'remoteAddress', { value: '203.0.113.9' });
    service.service.app.server.emit('connection', socket);
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const answer = await fetch(`http://127.0.0.1:${(door.address() as AddressInfo).port}/healthz`);
  assert.deepEqual([answer.status, await answer.text()], [400, 'This port speaks TLS: use https.\n']);
  door.close();
});

test('[TLS-3] what begins as STUN goes to the TURN server with the client’s address, and comes back', async () => {
  for (const ALPNProtocols of [[], ['stun.turn']]) {
    const client = await openTls(peer(), { ALPNProtocols });
    // In two pieces: the first does not say yet what it is.
    client.write(allocate.subarray(0, 3));
    await new Promise((resolve) => setImmediate(resolve));
    client.write(allocate.subarray(3));
    const [echo] = (await once(client, 'data')) as [Buffer];
    assert.deepEqual(echo, allocate);
    assert.deepEqual(relayed.at(-1)?.client, { address: '127.0.0.1', port: client.localPort });
    client.end();
    await once(client, 'close');
    await eventually(() => relayed.at(-1)?.socket.destroyed === true);
  }
});

test('[TLS-3] a megabyte goes through both ways, and the end of the TURN server ends the client', async () => {
  const client = await openTls(peer());
  const sent = Buffer.concat([allocate, Buffer.alloc(1_000_000, 7)]);
  client.write(sent);
  let bytes = 0;
  while (bytes < sent.length) bytes += ((await once(client, 'data')) as [Buffer])[0].length;
  assert.equal(bytes, sent.length);
  relayed.at(-1)?.socket.destroy();
  await once(client, 'close');
});

test('[TLS-3] without a TURN server the connection is closed', async () => {
  const without = await startService({ beside: service, env: withFiles() });
  const client = await openTls(peer(without));
  client.write(allocate);
  assert.equal((await readToEnd(client)).length, 0);
  await without.stop();
});

test('[TLS-13] every address of both families is one port, and IPv4 clients keep their IPv4 address', async () => {
  const both = await startService({ beside: service, env: { ...withFiles(), HOST: '::' }, openTurnPipe });
  const isDual = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  const hosts = ['127.0.0.1', ...(isDual ? ['::1'] : [])];
  const clients: unknown[] = [];
  for (const host of hosts) {
    const client = await openTls(peer(both), { host });
    client.write(allocate);
    await once(client, 'data');
    clients.push(relayed.at(-1)?.client.address);
    client.destroy();
  }
  assert.deepEqual(clients, hosts);
  const { id, owner } = await both.newProject();
  const entries = await owner.api.call('listAuditLogs', { projectId: id });
  assert.deepEqual(new Set(entries.map(({ ipAddress }) => ipAddress)), new Set(['127.0.0.1']));
  await both.stop();
});

test('[TLS-13] a machine without IPv6 listens on IPv4 alone', () => {
  const only = (family: 'IPv4' | 'IPv6') =>
    Object.fromEntries(
      Object.entries(networkInterfaces()).map(([name, all]) => [name, all?.filter((one) => one.family === family)]),
    );
  assert.equal(listenAddress('::', only('IPv4')), '0.0.0.0');
  assert.equal(listenAddress('::1', only('IPv4')), '::1');
});

test('[TLS-4] one address has a bounded number of connections that have said nothing, for a bounded time', async () => {
  const strict = await startService({
    beside: service,
    env: { ...withFiles(), TLS_MAX_PENDING_PER_ADDRESS: '3', TLS_MAX_PENDING_MS: '300' },
  });
  const silent = await Promise.all([1, 2].map(() => openTls(peer(strict))));
  const raw = connect(strict.config.port, '127.0.0.1').on('error', () => undefined);
  await once(raw, 'connect');
  raw.write(Buffer.from('160301', 'hex'));
  // The fourth is one too many, until the others are over.
  await eventually(() => assert.rejects(getOverTls(peer(strict), '/healthz')));
  await Promise.all([...silent, raw].map((socket) => socket.closed || once(socket, 'close')));
  assert.equal((await getOverTls(peer(strict), '/healthz')).status, 200);
  await strict.stop();
});

test('[TLS-4] one address has a bounded number of connections to TURN', async () => {
  const strict = await startService({
    beside: service,
    env: { ...withFiles(), TLS_MAX_RELAYED_PER_ADDRESS: '1' },
    openTurnPipe,
  });
  const [first, second] = [await openTls(peer(strict)), await openTls(peer(strict))];
  first.write(allocate);
  await once(first, 'data');
  second.write(allocate);
  assert.equal((await readToEnd(second)).length, 0);
  assert.equal(first.closed, false);
  first.destroy();
  await strict.stop();
});

test('[TLS-4] hostile first bytes end that connection and nothing else', async () => {
  const openings = ['16030100', '1603014000', '0000000000000000', 'ffffffffffff', '16030100050100000100'];
  for (const hex of openings) {
    const raw = connect(service.config.port, '127.0.0.1').on('error', () => undefined);
    await once(raw, 'connect');
    raw.end(Buffer.from(hex, 'hex'));
    raw.resume();
    await once(raw, 'close');
  }
  for (const text of ['\0\0\0\0\0\0\0\0\0', 'NOT HTTP\r\n\r\n', '\x01']) {
    const client = await openTls(peer());
    client.end(text);
    await readToEnd(client);
  }
  assert.equal((await getOverTls(peer(), '/healthz')).status, 200);
});

test('[TLS-5] a new certificate in the files is served without a restart; one that does not fit is not', async () => {
  const clock = createFakeClock();
  const reloading = await startService({ beside: service, env: withFiles(), clock });
  const serialOf = async (): Promise<string> => {
    const socket = await openTls(peer(reloading));
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const first = await serialOf();
  await writeFile(file('cert.pem'), 'half a file');
  await eventually(async () => {
    clock.jump(10_000);
    assert.match(
      await (await reloading.fetch('/readyz')).text(),
      /"certificate":"[^"]*TLS_CERT and TLS_KEY cannot be used/,
    );
  });
  assert.equal(await serialOf(), first);
  await writePair();
  await eventually(async () => {
    clock.jump(10_000);
    assert.notEqual(await serialOf(), first);
  });
  assert.equal((await reloading.fetch('/readyz')).status, 200);
  await reloading.stop();
});

test('[TLS-6] a stopping server does not wait for connections that have asked for nothing, nor for TURN', async () => {
  const stopping = await startService({
    beside: service,
    env: { ...withFiles(), HTTP_DRAIN_SECONDS: '600' },
    openTurnPipe,
  });
  const silent = await openTls(peer(stopping));
  const turning = await openTls(peer(stopping));
  turning.write(allocate);
  await once(turning, 'data');
  // It is gone before the server has the end of its handshake.
  (await openTls(peer(stopping))).destroy();
  const ended = Promise.all([once(silent, 'close'), once(turning, 'close')]);
  await stopping.stop();
  await ended;
});
