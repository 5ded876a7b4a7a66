import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createPlain, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { WebSocketServer } from 'ws';
import { isOutside } from '../../../../apps/server/src/domains/fleet/turn.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { openPort, ownPort } from '../../../../apps/server/testkit/kit/ports.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { createAuthority, type TestAuthority } from '../../../../apps/server/testkit/peers/tls-receiver.ts';
import { startTestNode, type TestNode } from '../../../../apps/sfu/testkit/node.ts';
import { parley, spawned } from '../../testkit/run.ts';

let authority: TestAuthority;
let folder: string;
let service: TestService;
let node: TestNode;

before(async () => {
  authority = await createAuthority();
  folder = await mkdtemp(join(tmpdir(), 'parley-reach-'));
  const { key, cert } = await authority.issue('localhost', 30);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'cert.pem'), cert);
  const open = await openPort();
  service = await startService({
    open,
    env: {
      TLS_CERT: join(folder, 'cert.pem'),
      TLS_KEY: join(folder, 'key.pem'),
      PUBLIC_URL: `https://localhost:${open.port}`,
    },
  });
  const [secret = ''] = service.config.sfuSecrets;
  const variables = {
    CONTROL_URL: service.url,
    SFU_REGISTRATION_SECRET: secret,
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_TURN_PORT: String(await ownPort()),
  };
  node = await startTestNode(variables, true);
  await eventually(async () => assert.ok((await relaysOf()).length > 0));
});

after(async () => {
  await node.stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
  await authority.remove();
});

const relaysOf = async (): Promise<string[]> => {
  const answer = await service.fetch('/v1/rtc/reach');
  return ((await answer.json()) as { relays: string[] }).relays;
};

type Found = Record<'check' | 'status' | 'message' | 'fix', string>;

const read = ({ code, out }: { code: number; out: string }) => {
  const findings = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
  const all = (status: string): string[] => findings.flatMap((one) => (one.status === status ? [one.check] : []));
  return { code, findings, failed: all('fail'), warned: all('warn'), passed: all('ok') };
};

const lookedHere = async (url: string, ...more: string[]) =>
  read(await parley(['doctor', '--from', url, '--json', ...more]));

/** The same on a machine that trusts the test's authority. */
async function looked(url: string, ...more: string[]) {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, authority.certificate]);
  try {
    return await lookedHere(url, ...more);
  } finally {
    setDefaultCACertificates(usual);
  }
}

interface StandIn {
  url: string;
  close(): Promise<void>;
}

/** A service as another machine would have it: other relays, another clock, another certificate. */
async function standIn({
  relays = [] as unknown,
  aheadMs = 0,
  days = 30,
  isPlain = false,
  media = { status: 'OK' } as object,
}): Promise<StandIn> {
  const answers: Record<string, object> = {
    '/healthz': { status: 'OK' },
    '/readyz': { status: 'OK', media },
    '/v1/rtc/reach': { relays },
  };
  const listener: RequestListener = ({ url = '' }, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
    response.writeHead(url in answers ? 200 : 404).end(JSON.stringify(answers[url] ?? {}));
  };
  const server: Server = isPlain
    ? createPlain(listener)
    : createSecure(await authority.issue('localhost', days), listener);
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.close(4401));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    // The name has an IPv6 address on most machines, where nothing listens.
    url: `${isPlain ? 'http://127.0.0.1' : 'https://localhost'}:${(server.address() as AddressInfo).port}`,
    async close() {
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('[CLI-8] from a machine that reaches everything every path is found, by the public door alone', async () => {
  const { code, failed, findings } = await looked(service.config.publicUrl);
  assert.deepEqual([code, failed], [0, []], JSON.stringify(findings));
  const messages = findings.map(({ message }) => message).join('\n');
  for (const said of [
    /localhost is .*127\.0\.0\.1/,
    /certificate is for localhost, of Test authority, good for 29 days \(TLSv1\.3\)/,
    /clock agrees with localhost/,
    /answers and is ready/,
    /Both WebSockets open and refuse a wrong token/,
    /TURN by UDP at 127\.0\.0\.1:\d+ answers and sees this machine at 127\.0\.0\.1/,
    /TURN by TCP at 127\.0\.0\.1:\d+ answers/,
    new RegExp(`TURN by TLS at localhost:${service.config.port} answers`),
  ])
    assert.match(messages, said);
});

test('[CLI-8] with an API key it joins a room of its own, connects media directly and allocates at each relay', async () => {
  const { apiKey, api } = await service.newProject();
  // As a process of its own: the library of the peer ends with it.
  const args = ['doctor', '--from', service.config.publicUrl, '--json', '--token', apiKey];
  const { code, failed, findings } = read(await spawned(args, { NODE_EXTRA_CA_CERTS: authority.file }));
  assert.deepEqual([code, failed], [0, []], JSON.stringify(findings));
  const [port] = node.node.udpPorts;
  assert.ok(findings.some(({ message }) => message === `Media connects directly, by UDP to 127.0.0.1:${port}.`));
  assert.equal(findings.filter(({ message }) => /^TURN by (UDP|TCP|TLS) .* answers/.test(message)).length, 3);
  assert.deepEqual(await api.call('listRooms'), [], 'the room is gone');
});

test('[CLI-8] where UDP is closed it says what to open, and fails only when nothing else is open', async () => {
  const closed = await ownPort();
  const tcp = (await relaysOf()).find((url) => url.endsWith('=tcp')) ?? '';
  const udp = `turn:127.0.0.1:${closed}?transport=udp`;
  const open = await standIn({ relays: [udp, tcp] });
  const half = await looked(open.url);
  await open.close();
  assert.deepEqual([half.code, half.failed], [0, []], JSON.stringify(half.findings));
  const finding = half.findings.find(({ check }) => check === 'udp');
  assert.equal(finding?.status, 'warn');
  assert.match(finding?.fix ?? '', new RegExp(`Open UDP ${closed} to 127\\.0\\.0\\.1.*4443 and up`));

  const shut = await standIn({ relays: [udp], isPlain: true });
  const none = await lookedHere(shut.url);
  await shut.close();
  assert.deepEqual([none.code, none.failed], [1, ['udp']]);
});

test('[CLI-8] an expired certificate is named with its day, and nothing is sent there', async () => {
  const old = await standIn({ days: -1 });
  const { code, failed, findings } = await looked(old.url, '--token', 'svk_dev_none.none');
  await old.close();
  assert.deepEqual([code, failed], [1, ['tls']], JSON.stringify(findings));
  assert.match(findings.find(({ check }) => check === 'tls')?.message ?? '', /expired on \d{4}-\d\d-\d\d/);
  assert.ok(!findings.some(({ check }) => check === 'sockets'));
});

test('[CLI-8] a certificate that nobody trusts, a clock that is wrong, a port and a name that lead nowhere', async () => {
  const unknown = await standIn({});
  const distrusted = await lookedHere(unknown.url);
  assert.deepEqual([distrusted.code, distrusted.failed], [1, ['tls']]);
  assert.match(distrusted.findings.find(({ check }) => check === 'tls')?.message ?? '', /does not trust/);
  await unknown.close();

  const early = await standIn({ aheadMs: 3_600_000, isPlain: true });
  const clock = await lookedHere(early.url);
  assert.deepEqual([clock.code, clock.failed], [1, ['clock']]);
  assert.match(clock.findings.find(({ check }) => check === 'clock')?.message ?? '', /(3599|3600|3601) s behind/);
  assert.deepEqual(clock.warned, ['tls', 'relay'], 'plain, and without a relay');
  // An address of this machine that is not its loopback, for all that its name says.
  const open = await lookedHere(early.url.replace('127.0.0.1', '0.0.0.0'), '--token', 'svk_dev_none.none');
  assert.deepEqual(open.failed, ['clock', 'tls'], 'no token goes over plain http');
  await early.close();

  const gone = await lookedHere(early.url);
  assert.deepEqual([gone.code, gone.failed, gone.passed], [1, ['tcp'], ['dns']]);
  // Too long to be asked of any name server.
  const nowhere = await lookedHere(`https://${'x'.repeat(64)}.test`);
  assert.deepEqual([nowhere.code, nowhere.failed], [1, ['dns']]);
  assert.equal((await parley(['doctor', '--from', 'calls'])).code, 2);
  assert.equal((await parley(['doctor', '--token', 'svk'])).code, 2);
});

test('[CLI-9] what a hostile service says is printed without control characters, and is no list unless it is one', async () => {
  const media = { status: 'DOWN', message: 'gone\u001b]0;owned\u0007\u009b2J\u202e' };
  const hostile = await standIn({ relays: { length: 1e9 }, isPlain: true, media });
  const { out } = await parley(['doctor', '--from', hostile.url]);
  await hostile.close();
  assert.match(out, /gone\ufffd\]0;owned\ufffd\ufffd2J\ufffd/);
  assert.doesNotMatch(out.replaceAll('\n', ''), /\p{C}/u);
  assert.match(out, /names no relay/);

  const many = await standIn({ relays: [7, ...Array.from({ length: 40 }, () => 'no relay')], isPlain: true });
  const { findings } = await lookedHere(many.url);
  await many.close();
  assert.ok(findings.filter(({ check }) => check === 'relay' || check === 'udp').length <= 16);
});

test('[CLI-9] a token is taken from PARLEY_TOKEN, and the API key of a service for that service alone', async () => {
  const place = await standIn({ isPlain: true });
  // Over plain http to another address than loopback it is not sent, which shows that there is one.
  const url = place.url.replace('127.0.0.1', '0.0.0.0');
  const hasToken = async (env: Record<string, string>) =>
    read(await parley(['doctor', '--from', url, '--json'], env)).failed.includes('tls');
  const key = { SVC_API_KEY: 'svk_dev_none.none' };
  assert.equal(await hasToken({ PARLEY_TOKEN: 'a token' }), true);
  assert.equal(await hasToken({ ...key, SVC_URL: url }), true);
  assert.equal(await hasToken(key), false);
  assert.equal(await hasToken({ ...key, SVC_URL: 'https://other.test' }), false);
  await place.close();
});

test('[TURN-13] anybody is told the relays of one node, and nothing else', async () => {
  const answer = await service.fetch('/v1/rtc/reach');
  assert.deepEqual(await answer.json(), {
    relays: [...node.node.turnUrls(), `turns:localhost:${service.config.port}?transport=tcp`],
  });
});

test('[TURN-13] in production a private address is nobody’s business', () => {
  const urls = ['turn:10.0.0.7:3478?transport=udp', 'turns:[fd00::1]:443', 'turn:127.0.0.1', 'turn:calls.test:3478'];
  assert.deepEqual([...urls, 'turn:[2a00::1]:3478', 'stun:192.168.0.1:3478', 'turn:8.8.8.8:3478'].filter(isOutside), [
    'turn:calls.test:3478',
    'turn:[2a00::1]:3478',
    'turn:8.8.8.8:3478',
  ]);
});
