import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { internalHosts } from '../../../testkit/peers/internal-hosts.ts';
import { type NameAnswer, type NameServer, startNameServer } from '../../../testkit/peers/name-server.ts';
import { startReceiver } from '../../../testkit/peers/receiver.ts';
import { systemClock } from '../../core/clock.ts';
import { createResolve } from './resolver.ts';
import { createSender, type Sender } from './sender.ts';

const strict = { allowsLoopback: false, allowsPrivate: false };
const loopback = { allowsLoopback: true, allowsPrivate: false };
const noAddress = /^No usable address/;

let names: NameServer;
let sender: Sender;
/** Listens on every address of this machine, IPv4 and IPv6: whatever is let through to it is seen. */
let trap: Server;
let trapPort = 0;
let trapped = 0;
/** Every address that a socket of this process tried to connect to, at a port that this file asks for. */
const tried: string[] = [];
/** The service that other files share lives in this process too, and opens connections to its database when it likes. */
const ports = new Set<number>();

function watch(message: unknown): void {
  const { socket } = message as { socket: Socket };
  socket.on('connectionAttempt', (address: string, port: number) => {
    if (ports.has(port)) tried.push(address);
  });
}

before(async () => {
  subscribe('net.client.socket', watch);
  names = await startNameServer();
  sender = newSender(10_000);
  trap = createServer((socket) => {
    trapped++;
    socket.destroy();
  });
  await new Promise<void>((done) => trap.listen(0, '::', done));
  trapPort = (trap.address() as { port: number }).port;
  ports.add(trapPort);
});
after(async () => {
  unsubscribe('net.client.socket', watch);
  sender.close();
  await names.close();
  await new Promise((done) => trap.close(done));
});

function newSender(timeoutMs: number): Sender {
  const resolve = createResolve({ servers: [names.address], usesSystemNames: false });
  return createSender({ clock: systemClock, resolve, timeoutMs });
}

const post = (url: string, policy = strict) => sender.send({ url, headers: {}, body: Buffer.from('{}'), policy });

function assertNothingReached(): void {
  assert.deepEqual(tried, []);
  assert.equal(trapped, 0);
}

test('[WH-11] no spelling of an internal address is connected to, even when it was registered somehow', async () => {
  let asked = 0;
  for (const host of internalHosts) {
    for (const protocol of ['http', 'https']) {
      const { isDelivered, error, statusCode, responseExcerpt } = await post(`${protocol}://${host}:${trapPort}/`);
      assert.deepEqual([isDelivered, statusCode, responseExcerpt], [false, null, null], host);
      assert.match(error ?? '', noAddress, host);
      asked++;
    }
  }
  assert.ok(asked >= 200);
  assertNothingReached();
});

/** Names and what they lead to; every one of them must be refused without a connection. */
const refusedAnswers: Record<string, NameAnswer | ((question: number) => NameAnswer)> = {
  loopback: ['127.0.0.1'],
  'loopback-high': ['127.8.8.8'],
  'loopback-6': ['::1'],
  'loopback-mapped': ['::ffff:127.0.0.1'],
  'loopback-translated': ['::ffff:0:7f00:1'],
  'loopback-compatible': ['::7f00:1'],
  'loopback-nat64': ['64:ff9b::7f00:1'],
  'loopback-6to4': ['2002:7f00:1::1'],
  'loopback-teredo': ['2001:0:7f00:1::1'],
  zero: ['0.0.0.0'],
  'zero-network': ['0.1.2.3'],
  'zero-6': ['::'],
  'private-10': ['10.1.2.3'],
  'private-172': ['172.20.0.1'],
  'private-192': ['192.168.1.1'],
  'private-mapped': ['::ffff:10.1.2.3'],
  shared: ['100.64.0.1'],
  'link-local': ['169.254.1.1'],
  metadata: ['169.254.169.254'],
  'metadata-mapped': ['::ffff:169.254.169.254'],
  'metadata-azure': ['168.63.129.16'],
  'metadata-alibaba': ['100.100.100.200'],
  'metadata-amazon-6': ['fd00:ec2::254'],
  'protocol-assignments': ['192.0.0.8'],
  'documentation-1': ['192.0.2.1'],
  'documentation-2': ['198.51.100.1'],
  'documentation-3': ['203.0.113.1'],
  'documentation-6': ['2001:db8::1'],
  'documentation-6-new': ['3fff::1'],
  benchmarking: ['198.18.0.1'],
  'relay-anycast': ['192.88.99.1'],
  multicast: ['224.0.0.1'],
  'multicast-6': ['ff02::1'],
  reserved: ['240.0.0.1'],
  broadcast: ['255.255.255.255'],
  'unique-local': ['fc00::1'],
  'link-local-6': ['fe80::1'],
  'site-local': ['fec0::1'],
  discard: ['100::1'],
  segment: ['5f00::1'],
  // One bad address spoils the name, wherever it stands and in whichever family.
  'mixed-first': ['127.0.0.1', '8.8.8.8'],
  'mixed-last': ['8.8.8.8', '8.8.4.4', '1.1.1.1', '10.0.0.1'],
  'mixed-families': ['8.8.8.8', '::1'],
  'mixed-families-2': ['2606:4700:4700::1111', '127.0.0.1'],
  alias: { alias: 'loopback.test' },
  'alias-metadata': { alias: 'metadata.test' },
  'rebinding-inside': (question) => (question === 0 ? ['127.0.0.1'] : ['10.0.0.1']),
  empty: [],
  missing: 'missing',
  failing: 'failure',
};

test('[WH-11] a name with even one internal address is not connected to', async () => {
  assert.ok(Object.keys(refusedAnswers).length >= 40);
  for (const [label, answer] of Object.entries(refusedAnswers)) names.names.set(`${label}.test`, answer);
  for (const label of Object.keys(refusedAnswers)) {
    for (const protocol of ['http', 'https']) {
      const { isDelivered, error, statusCode, responseExcerpt } = await post(
        `${protocol}://${label}.test:${trapPort}/`,
      );
      assert.deepEqual([isDelivered, statusCode, responseExcerpt], [false, null, null], label);
      assert.match(error ?? '', noAddress, label);
    }
    assert.ok((names.asked.get(`${label}.test/A`) ?? 0) >= 1, `${label} was resolved`);
  }
  assertNothingReached();
});

test('[WH-11] the address that was judged is the one connected to: a name is resolved once per connection', async () => {
  const receiver = await startReceiver(204);
  ports.add(receiver.port);
  // Loopback at first, then an address that must never be used.
  names.names.set('rebinding.test', (question) => (question === 0 ? ['127.0.0.1'] : ['169.254.169.254']));
  const first = await post(`http://rebinding.test:${receiver.port}/`, loopback);
  assert.equal(first.statusCode, 204);
  assert.equal(names.asked.get('rebinding.test/A'), 1);
  assert.deepEqual(tried.splice(0), ['127.0.0.1']);
  await receiver.close();
  // The kept connection is gone, so a new one is needed.
  await eventually(async () => {
    const second = await post(`http://rebinding.test:${receiver.port}/`, loopback);
    assert.match(second.error ?? '', noAddress);
  });
  assert.ok(!tried.includes('169.254.169.254'));
  tried.length = 0;
});

test('[WH-11] a connection made for a development endpoint does not serve another policy', async () => {
  const receiver = await startReceiver(204);
  names.names.set('shared-name.test', ['127.0.0.1']);
  const url = `http://shared-name.test:${receiver.port}/`;
  assert.equal((await post(url, loopback)).statusCode, 204);
  assert.match((await post(url, strict)).error ?? '', noAddress);
  assert.equal(receiver.requests.length, 1);
  await receiver.close();
  tried.length = 0;
});

test('[WH-11] the other end is checked once more when the connection is there', async () => {
  const receiver = await startReceiver(204);
  // A lookup that lies: what it promises is public, where it leads is not.
  const liar = createSender({ clock: systemClock, resolve: async () => ['127.0.0.1'], timeoutMs: 10_000 });
  const policy = {
    allowsPrivate: false,
    // Allowed when the lookup is judged, no more when the connection is.
    get allowsLoopback() {
      return ++judged === 1;
    },
  };
  let judged = -1;
  const { error } = await liar.send({
    url: `http://liar.test:${receiver.port}/`,
    headers: {},
    body: Buffer.from('{}'),
    policy,
  });
  assert.match(error ?? '', noAddress);
  assert.equal(receiver.requests.length, 0);
  liar.close();
  await receiver.close();
  tried.length = 0;
});

test('[WH-11] redirects are not followed and proxies of the environment not used', async () => {
  const before = { ...process.env };
  Object.assign(process.env, {
    HTTP_PROXY: `http://127.0.0.1:${trapPort}`,
    http_proxy: `http://127.0.0.1:${trapPort}`,
    NODE_USE_ENV_PROXY: '1',
    NO_PROXY: '',
  });
  try {
    for (const location of [
      `http://127.0.0.1:${trapPort}/`,
      'http://169.254.169.254/',
      '//localhost/',
      'file:///etc/passwd',
    ]) {
      for (const status of [300, 301, 302, 303, 307, 308]) {
        const receiver = await startReceiver({ status, headers: { location } });
        assert.equal((await post(receiver.url, loopback)).statusCode, status);
        await receiver.close();
      }
    }
  } finally {
    process.env = before;
  }
  assert.equal(trapped, 0);
  tried.length = 0;
});

test('[WH-6] what goes wrong is named without details of the target', async () => {
  const receiver = await startReceiver('reset');
  assert.match((await post(receiver.url, loopback)).error ?? '', /reset/);
  const refused = receiver.url;
  await receiver.close();
  assert.equal((await post(refused, loopback)).error, 'The connection was refused.');
  names.names.set('silent.test', 'silence');
  const hasty = newSender(400);
  const { error } = await hasty.send({
    url: 'http://silent.test/',
    headers: {},
    body: Buffer.from('{}'),
    policy: loopback,
  });
  assert.equal(error, 'No complete answer within 400 ms.');
  hasty.close();
  const plain = await startReceiver(204);
  assert.match((await post(plain.url.replace('http:', 'https:'), loopback)).error ?? '', /^The TLS connection failed/);
  await plain.close();
  const babble = createServer((socket) => socket.end('this is not HTTP\r\n\r\n'));
  await new Promise<void>((done) => babble.listen(0, '127.0.0.1', done));
  const { port } = babble.address() as { port: number };
  assert.equal((await post(`http://127.0.0.1:${port}/`, loopback)).error, 'The answer is not HTTP.');
  babble.close();
  tried.length = 0;
});
