import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { commonMediaProtocol } from '@parley/contract/media-control';
import { signMediaControl, verifyMediaNode } from '@parley/contract/media-control-auth';
import WebSocket from 'ws';
import { patienceMs } from '../../../server/testkit/kit/eventually.ts';
import { startTestNode, TEST_SECRET, type TestNode } from '../../testkit/node.ts';
import { readConfig } from '../config.ts';

let kit: TestNode;
before(async () => {
  kit = await startTestNode();
});
after(() => kit.stop());

const upgradeHeaders = [
  'Host: node',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** Everything that comes back to these bytes until the node closes, or a status line. */
function ask(bytes: string | Buffer): Promise<string> {
  const { port } = new URL(kit.node.internalUrl);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk;
      if (answer.includes('\r\n\r\n')) socket.destroy();
    });
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

const statusOf = async (requestLine: string, headers: readonly string[] = upgradeHeaders): Promise<number> =>
  Number((await ask(`${[requestLine, ...headers].join('\r\n')}\r\n\r\n`)).split(' ')[1]);

const bearer = async (): Promise<string> =>
  `Bearer ${await signMediaControl(TEST_SECRET, 'test-node', Date.now(), crypto.randomUUID())}`;

test('[MED-60] an upgrade that is no URL, or of a page, is refused before anything else, and the node lives', async () => {
  const path = '/control?controller=0123456789abcdef';
  assert.equal(await statusOf('GET // HTTP/1.1'), 400);
  assert.equal(await statusOf('GET http://[ HTTP/1.1'), 400);
  assert.equal(await statusOf('GET /elsewhere HTTP/1.1'), 404);
  assert.equal(await statusOf('GET /control HTTP/1.1'), 400);
  assert.equal(await statusOf(`GET ${path}&since=x HTTP/1.1`), 400);
  assert.equal(await statusOf('GET /turn?client=nobody HTTP/1.1'), 400);
  assert.equal(await statusOf(`GET ${path} HTTP/1.1`), 401);
  const authorization = `Authorization: ${await bearer()}`;
  const ofPage = [...upgradeHeaders, authorization, 'Origin: http://evil.example'];
  assert.equal(await statusOf(`GET ${path} HTTP/1.1`, ofPage), 403);
  assert.equal(await statusOf('GET /healthz HTTP/1.1', ['Host: node', 'Origin: null']), 403);
  assert.equal(await statusOf('GET /healthz HTTP/1.1', ['Host: node']), 200);
  assert.deepEqual(kit.problems, []);
});

test("[SEC-10] the control port: every path × every credential but a fresh one of this node's secret is refused", async () => {
  const sign = (secret: string, node: string, at: number) => signMediaControl(secret, node, at, crypto.randomUUID());
  const used = await bearer();
  const credentials = {
    none: null,
    'the secret itself': `Bearer ${TEST_SECRET}`,
    'an API key': 'Bearer svk_dev_0123456789abcdef.0123456789abcdef0123456789abcdef',
    'a token of ours': 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
    'basic authentication': `Basic ${Buffer.from(`node:${TEST_SECRET}`).toString('base64')}`,
    'of another secret': `Bearer ${await sign('another-secret-of-at-least-32-bytes-length', 'test-node', Date.now())}`,
    'of another node': `Bearer ${await sign(TEST_SECRET, 'other-node', Date.now())}`,
    'of two minutes ago': `Bearer ${await sign(TEST_SECRET, 'test-node', Date.now() - 120_000)}`,
    'used before': used,
  };
  const controlled = '/control?controller=0123456789abcdef';
  assert.equal(await statusOf(`GET ${controlled} HTTP/1.1`, [...upgradeHeaders, `Authorization: ${used}`]), 101);
  for (const path of [controlled, '/turn?client=192.0.2.1&port=5000'])
    for (const [name, credential] of Object.entries(credentials)) {
      const headers = credential === null ? upgradeHeaders : [...upgradeHeaders, `Authorization: ${credential}`];
      assert.equal(await statusOf(`GET ${path} HTTP/1.1`, headers), 401, `${path} by ${name}`);
    }
});

test('[MED-60] an upgrade that is refused ends its connection, also when the other end keeps its half open', async () => {
  const { port } = new URL(kit.node.internalUrl);
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  const errors: string[] = [];
  socket.on('error', ({ message }) => void errors.push(message));
  socket.write(`${['GET // HTTP/1.1', ...upgradeHeaders].join('\r\n')}\r\n\r\n`);
  await once(socket.resume(), 'end');
  // A connection that is gone refuses what is sent to it; one that is half open takes it for ever.
  const sending = setInterval(() => socket.write('x'), 20);
  const patience = setTimeout(() => socket.resetAndDestroy(), patienceMs);
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(sending);
  clearTimeout(patience);
  assert.match(errors.join(), /EPIPE|ECONNRESET/);
});

/** Bytes that are no HTTP, or HTTP that nobody asked for. */
const strange = [
  '\r\n\r\n',
  'GET',
  'GET / HTTP/9.9\r\n\r\n',
  'CONNECT node:443 HTTP/1.1\r\nHost: node\r\n\r\n',
  'POST /control HTTP/1.1\r\nHost: node\r\nContent-Length: -1\r\n\r\n',
  'POST /control HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'GET /healthz HTTP/1.1\r\nHost: node\r\nExpect: nothing\r\n\r\n',
  `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: node\r\n\r\n`,
  `GET /control HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
  Buffer.from(Array.from({ length: 2000 }, (_, index) => (index * 31) & 0xff)),
];

test('[MED-60] whatever comes before authentication ends at most its connection', async () => {
  for (const bytes of strange) {
    const socket = connect(Number(new URL(kit.node.internalUrl).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.end(bytes);
    await new Promise((resolve) => socket.resume().on('close', resolve));
  }
  assert.equal(await statusOf('GET /healthz HTTP/1.1', ['Host: node']), 200);
  assert.deepEqual(kit.problems, []);
});

/** What the node closes an authenticated connection with after this was sent. */
async function closeCodeAfter(send: (socket: WebSocket) => void): Promise<number> {
  const url = `${kit.node.internalUrl.replace('http', 'ws')}/control?controller=${crypto.randomUUID()}`;
  const socket = new WebSocket(url, { headers: { authorization: await bearer() } });
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.on('message', () => send(socket));
    socket.on('close', resolve);
  });
}

test('[MED-60] a frame that is no command ends its connection and no other', async () => {
  const other = await kit.connect();
  assert.equal(await closeCodeAfter((socket) => socket.send('5')), 1008);
  assert.equal(await closeCodeAfter((socket) => socket.send('{"id":"x"}')), 1008);
  assert.equal(await closeCodeAfter((socket) => socket.send('['.repeat(50_000))), 1008);
  assert.equal(await closeCodeAfter((socket) => socket.send(Buffer.from([1, 2]))), 1003);
  assert.equal(await closeCodeAfter((socket) => socket.send('x'.repeat(70_000))), 1009);
  assert.equal(await closeCodeAfter((socket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false })), 1007);
  // Reserved opcode 3, masked and empty: no frame of WebSocket at all.
  const raw = Buffer.from([0x83, 0x80, 0, 0, 0, 0]);
  assert.equal(await closeCodeAfter((socket) => void Reflect.get(socket, '_socket').write(raw)), 1002);
  // Pings count as frames of nobody: they are answered or the connection ends.
  const flood = (socket: WebSocket): void => {
    for (let sent = 0; sent < 20_000; sent += 1) socket.ping('x'.repeat(125));
    socket.send('5');
  };
  assert.equal(await closeCodeAfter(flood), 1008);
  assert.ok((await other.command('ping', {})).at);
  assert.deepEqual(kit.problems, []);
});

test('[MED-61] the control port listens on the internal address, on loopback by default, and never on all unasked', () => {
  const given = { SFU_REGISTRATION_SECRET: TEST_SECRET, SFU_ANNOUNCED_HOST: '203.0.113.1' };
  const hostOf = (variables: Record<string, string>): string => readConfig({ ...given, ...variables }).internalHost;
  assert.equal(hostOf({}), '127.0.0.1');
  assert.equal(hostOf({ NODE_ENV: 'production' }), '127.0.0.1');
  assert.equal(hostOf({ NODE_ENV: 'production', SFU_INTERNAL_URL: 'http://10.1.2.3:4480' }), '10.1.2.3');
  assert.equal(hostOf({ SFU_INTERNAL_URL: 'http://[fd00::1]:4480' }), 'fd00::1');
  assert.equal(hostOf({ SFU_INTERNAL_URL: 'https://sfu.example:443', SFU_INTERNAL_HOST: '10.1.2.3' }), '10.1.2.3');
  assert.throws(() => hostOf({ SFU_INTERNAL_HOST: '0.0.0.0' }), /^ConfigError: SFU_INTERNAL_URL must be set when/);
});

test('[MED-61] an internal address that is not of this machine stops the start with a sentence', async () => {
  await assert.rejects(startTestNode({ SFU_INTERNAL_URL: 'http://192.0.2.1:4480' }), {
    name: 'ConfigError',
    message: 'SFU_INTERNAL_HOST must be an address of this machine; 192.0.2.1 is not.',
  });
});

test('[UPG-5] the node speaks the newest version of the protocol that both know, and refuses who knows none of its own', async () => {
  const versionFor = async (theirs: string): Promise<number> => {
    const url = `${kit.node.internalUrl.replace('http', 'ws')}/control?controller=protocol-0123456789${theirs}`;
    const socket = new WebSocket(url, { headers: { authorization: await bearer() } });
    const [frame] = await once(socket, 'message');
    socket.close();
    return JSON.parse(String(frame)).data.protocol;
  };
  assert.deepEqual(
    [await versionFor(''), await versionFor('&protocols=1-1'), await versionFor('&protocols=1-2')],
    [1, 1, 1],
  );
  const path = '/control?controller=0123456789abcdef';
  assert.equal(await statusOf(`GET ${path}&protocols=3-4 HTTP/1.1`), 426);
  assert.equal(await statusOf(`GET ${path}&protocols=new HTTP/1.1`), 400);
  const [one, two, three] = [1, 2, 3].map((newest) => ({ oldest: Math.max(1, newest - 1), newest }));
  assert.ok(one && two && three);
  assert.deepEqual(
    [commonMediaProtocol(two, one), commonMediaProtocol(two, three), commonMediaProtocol(three, one)],
    [1, 2, null],
  );
});

test('[MED-62] the hello proves that the node knows the secret the token was signed with, also while secrets are rotated', async () => {
  const rotating = await startTestNode({ SFU_REGISTRATION_SECRET: `${'n'.repeat(40)},${TEST_SECRET}` });
  for (const secret of ['n'.repeat(40), TEST_SECRET]) {
    const { hello, nonce } = await rotating.connect({ secret });
    assert.ok(await verifyMediaNode(secret, 'test-node', hello.instanceId, nonce, hello.proof));
    assert.ok(!(await verifyMediaNode(secret, 'test-node', hello.instanceId, 'n'.repeat(20), hello.proof)));
    assert.ok(!(await verifyMediaNode('x'.repeat(40), 'test-node', hello.instanceId, nonce, hello.proof)));
  }
  await rotating.stop();
});
