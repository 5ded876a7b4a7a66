import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import type { Address } from '@parley/turn/addresses';
import { turnCredential, turnSecretOf } from '@parley/turn/credentials';
import { addFingerprint, sign } from '@parley/turn/integrity';
import { Budgets, QUOTAS } from '@parley/turn/quotas';
import {
  ATTRIBUTE,
  encodeStun,
  METHOD,
  type NewAttribute,
  type StunClass,
  uint32,
  xorAddress,
} from '@parley/turn/stun';
import { TurnServer } from '@parley/turn/turn-server';
import { address, TurnClient, tcpWire, tlsWire, udpWire } from '../../../../packages/turn/testkit/turn-client.ts';
import { missingUclient, runUclient } from '../../../../tools/proof/turn-uclient.ts';
import { createAuthority } from '../../../server/testkit/peers/tls-receiver.ts';
import { eventually, startTestNode, TEST_SECRET } from '../../testkit/node.ts';
import { startTurnStage, type TurnStage } from '../../testkit/turn-stage.ts';
import { readConfig } from '../config.ts';
import type { MediaClock } from '../media/clock.ts';
import { followCertificate, readCertificate } from './certificate-files.ts';

let stage: TurnStage;
/** The time of the relay, so that nothing waits for minutes. */
let ahead = 0;
const clock: MediaClock = { now: () => performance.now() + ahead, wall: () => Date.now() + ahead };
before(async () => {
  stage = await startTurnStage({ clock });
});
after(() => stage.stop());

const arrives = (client: TurnClient, data: Buffer) =>
  eventually(() => client.received.find((one) => one.data.equals(data)), 'the echo');

for (const transport of ['udp', 'tcp'] as const) {
  test(`[TURN-3] ${transport}: a client sends to the media socket and hears from it, by indications and a channel`, async () => {
    const client = await stage[transport]();
    const { relayed, seconds } = await client.allocate();
    assert.equal(relayed?.address, stage.peer.address, 'the relayed address is one of the node');
    assert.equal(seconds, 600);
    client.send(stage.peer, Buffer.from('no permission yet'));
    assert.equal(await client.permit(stage.peer), 0);
    client.send(stage.peer, Buffer.from('by indication'));
    const indicated = await arrives(client, Buffer.from('by indication'));
    assert.deepEqual([indicated.from, indicated.peer], ['indication', `${stage.peer.address}|${stage.peer.port}`]);
    assert.equal(await client.bindChannel(0x4000, stage.peer), 0);
    client.sendChannel(0x4000, Buffer.from('by channel'));
    const channelled = await arrives(client, Buffer.from('by channel'));
    assert.deepEqual([channelled.from, channelled.peer], ['channel', String(0x4000)]);
    assert.ok(!stage.heard.some((bytes) => bytes.equals(Buffer.from('no permission yet'))));
    assert.equal(await client.refresh(0), 0);
    assert.equal(await client.permit(stage.peer), 437, 'the allocation is gone');
  });
}

test('[TURN-3] by TLS too, with the certificate of the node', async () => {
  const authority = await createAuthority();
  const identity = await authority.issue('node.example.com');
  const secure = await startTurnStage({ tls: { port: 0, ...identity } });
  const wire = await tlsWire(secure.relay.tlsPort ?? 0, authority.certificate, 'node.example.com');
  const client = new TurnClient(wire, secure.credential());
  assert.equal((await client.allocate()).error, 0);
  client.close();
  await secure.stop();
  await authority.remove();
});

test("[TURN-3] coturn's own client gets everything back", { skip: missingUclient() ?? false }, async () => {
  for (const { options, sent, received } of await runUclient()) assert.deepEqual([sent, received], [5, 5], options);
});

test('[TURN-3] a client hears its own address, without a credential', async () => {
  const client = await stage.udp();
  assert.equal((await client.mapped())?.address, '127.0.0.1');
});

test('[TURN-16] the answer to a check names the relayed address, whatever the media process saw', async () => {
  const client = await stage.tcp();
  const { relayed } = await client.allocate();
  assert.ok(relayed);
  await client.permit(stage.peer);
  const transactionId = randomBytes(12);
  // Signed with the ICE password of the stage.
  const binding = (kind: StunClass, ...attributes: NewAttribute[]): Buffer =>
    addFingerprint(sign(encodeStun({ method: METHOD.binding, class: kind, transactionId }, attributes), ''));
  const answer = (seen: Address): Buffer =>
    binding('success', [ATTRIBUTE.mappedAddress, xorAddress(seen, transactionId)]);
  client.send(stage.peer, binding('request', [ATTRIBUTE.username, Buffer.from('node:client')]));
  // The media socket sends back what it gets.
  client.send(stage.peer, answer(address('127.0.0.1', relayed.port)));
  await arrives(client, answer(relayed));
});

test('[TURN-4] nothing but the media sockets is a peer: 403, and no packet leaves', async () => {
  const client = await stage.tcp();
  await client.allocate();
  const { address: loopback } = stage.forbidden;
  const strangers = [
    loopback,
    address('127.0.0.1', stage.relay.port),
    address(stage.peer.address, stage.peer.port + 2),
    address('10.0.0.1', stage.peer.port),
    address('192.168.1.1', 80),
    address('169.254.169.254', 80),
    address('0.0.0.0', stage.peer.port),
    address('255.255.255.255', 9),
    address('224.0.0.1', 9),
    address('8.8.8.8', 53),
    address('::ffff:127.0.0.1', loopback.port),
  ];
  for (const stranger of strangers) {
    const named = `${stranger.address}:${stranger.port}`;
    assert.equal(await client.permit(stranger), 403, named);
    assert.equal(await client.permit(stage.peer, stranger), 403, `${named} beside one that is allowed`);
    assert.equal(await client.bindChannel(0x4001, stranger), 403, named);
    client.send(stranger, Buffer.from('stray'));
  }
  for (const ipv6 of [address('::1', loopback.port), address('2001:db8::7', 4443), address('fd00::1', 80)])
    assert.equal(await client.permit(ipv6), 443, ipv6.address);
  // Permitted by its address, which is all that a permission is for: another port of it is still no peer.
  assert.equal(await client.permit(stage.peer), 0);
  client.send(address(stage.peer.address, loopback.port), Buffer.from('stray'));
  client.sendChannel(0x4001, Buffer.from('stray'));
  client.send(stage.peer, Buffer.from('last'));
  await arrives(client, Buffer.from('last'));
  assert.deepEqual(stage.forbidden.heard, []);
  assert.ok(!stage.heard.some((bytes) => bytes.equals(Buffer.from('stray'))));
});

test('[TURN-4] an allocation for IPv6 has the IPv6 address as its only peer', async () => {
  const client = await stage.udp();
  const { relayed } = await client.allocate([[ATTRIBUTE.requestedFamily, Buffer.from([2, 0, 0, 0])]]);
  assert.equal(relayed?.address, '2001:db8::7');
  assert.equal(await client.permit(stage.peer), 443);
  assert.equal(await client.permit(address('::1', 4443)), 403);
  assert.equal(await client.bindChannel(0x4000, address('2001:db8::7', 4443)), 0);
  client.sendChannel(0x4000, Buffer.from('over six'));
  await arrives(client, Buffer.from('over six'));
});

test('[TURN-5] a credential is of one of the secrets, of this realm and not expired; an allocation is its own', async () => {
  const now = clock.wall();
  const with_ = async (credential: { username: string; credential: string }) =>
    new TurnClient(await udpWire(stage.relay.port), credential);
  const good = turnCredential(turnSecretOf(TEST_SECRET), 'ada', now + 60_000);
  const refused = [
    turnCredential(turnSecretOf(TEST_SECRET), 'ada', now - 1000),
    turnCredential(turnSecretOf('another secret of at least 32 bytes'), 'ada', now + 60_000),
    turnCredential(TEST_SECRET, 'ada', now + 60_000),
    { ...good, username: good.username.replace('ada', 'eve') },
    { username: 'ada', credential: '' },
  ];
  for (const credential of refused) {
    const client = await with_(credential);
    assert.equal((await client.allocate()).error, 401, credential.username);
    client.close();
  }
  const client = await with_(good);
  assert.equal((await client.exchange(METHOD.refresh, [])).error, 401, 'nothing without a credential');
  assert.equal((await client.allocate()).error, 0);
  assert.equal((await client.allocate()).error, 437, 'one allocation a client');
  client.close();
});

test('[TURN-5] while secrets are rotated both are good', async () => {
  const rotating = await startTurnStage({ secrets: ['the new secret, of at least 32 bytes', TEST_SECRET] });
  for (const secret of ['the new secret, of at least 32 bytes', TEST_SECRET]) {
    const credential = turnCredential(turnSecretOf(secret), 'ada', Date.now() + 60_000);
    const client = new TurnClient(await udpWire(rotating.relay.port), credential);
    assert.equal((await client.allocate()).error, 0);
    client.close();
  }
  await rotating.stop();
});

test('[TURN-6] users, addresses and allocations have their quotas, bytes too', async () => {
  const quotas = { ...QUOTAS, allocationsPerUser: 2, allocationsPerAddress: 3, channels: 1, bytesPerSecond: 1000 };
  const small = await startTurnStage({ quotas });
  const errors: number[] = [];
  const clients = [
    await small.udp(),
    await small.tcp(),
    await small.tcp(),
    await small.udp('bob'),
    await small.udp('cat'),
  ];
  for (const client of clients) errors.push((await client.allocate()).error);
  assert.deepEqual(errors, [0, 0, 486, 0, 508]);
  const [first, second] = clients;
  assert.equal(await first?.refresh(0), 0);
  assert.equal((await clients[2]?.allocate())?.error, 0, 'what is given back can be had again');
  assert.equal(await second?.bindChannel(0x4000, small.peer), 0);
  assert.equal(await second?.bindChannel(0x4001, small.peer), 400, 'a peer has one channel');
  assert.equal(await second?.bindChannel(0x7fff, small.peer), 400, 'no number of a channel');
  for (let packet = 0; packet < 5; packet += 1) second?.sendChannel(0x4000, Buffer.alloc(400, packet));
  await eventually(() => small.heard.length === 2, 'what the budget allows');
  second?.close();
  await eventually(() => small.relay.allocations === 2, 'the allocation ends with its connection');
  await small.stop();
});

test('[TURN-14] who has proven nothing is answered at a bounded rate; the others go on', async () => {
  let now = 0;
  const slow = await startTurnStage({
    clock: { now: () => now, wall: () => Date.now() },
    quotas: { ...QUOTAS, unprovenPerSecond: 4 },
  });
  const [proven, stranger, tcp] = [await slow.udp(), await slow.udp('eve'), await slow.tcp()];
  assert.equal((await proven.allocate()).error, 0, 'one answer to nobody, one to ada');
  for (let answer = 0; answer < 3; answer += 1) assert.equal((await stranger.mapped())?.address, '127.0.0.1');
  stranger.mapped().catch(() => {});
  assert.equal((await proven.mapped())?.address, '127.0.0.1', 'who has an allocation has no such bound');
  assert.equal(await proven.permit(slow.peer), 0, 'nor has its allocation');
  for (let answer = 0; answer < 4; answer += 1)
    assert.equal((await tcp.mapped())?.address, '127.0.0.1', 'what comes by UDP takes nothing from a connection');
  tcp.mapped().catch(() => {});
  await eventually(() => tcp.isClosed, 'the connection that waits for its answer is closed');
  now += 1000;
  assert.equal((await stranger.mapped())?.address, '127.0.0.1', 'a second later there is more');
  await slow.stop();
});

test('[TURN-14] the table of addresses is bounded, and an IPv6 /64 is one of them', () => {
  const budgets = new Budgets(1, 3);
  assert.deepEqual([budgets.take('a', 0), budgets.take('a', 0)], [true, false]);
  for (const key of ['b', 'c', 'd', 'e']) assert.ok(budgets.take(key, 0));
  assert.equal(budgets.size, 3);
  const allocate = encodeStun({ method: METHOD.allocate, class: 'request', transactionId: randomBytes(12) }, []);
  const answered = new Set<string>();
  const server = new TurnServer({
    clock,
    secrets: [],
    realm: 'test',
    peers: [],
    openSocket: () => Promise.reject(new Error('none')),
    icePasswordOf: () => '',
    quotas: { ...QUOTAS, unprovenPerSecond: 1 },
  });
  for (const ip of ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:3::1'])
    server.receive(
      { key: ip, address: address(ip, 9), isStream: false, send: () => void answered.add(ip), close: () => {} },
      allocate,
    );
  assert.deepEqual([...answered], ['2001:db8:1:2::1', '2001:db8:1:3::1']);
});

test('[TURN-15] a certificate that changes is served, one that cannot be used is not', async () => {
  const authority = await createAuthority();
  const folder = await mkdtemp(join(tmpdir(), 'parley-turn-'));
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  const names = ['old.example.com', 'new.example.com'] as const;
  const [old, fresh] = await Promise.all(names.map((name) => authority.issue(name)));
  const write = async (pair = { cert: 'no certificate', key: '' }) => {
    await writeFile(files.certFile, pair.cert);
    await writeFile(files.keyFile, pair.key);
  };
  await write(old);
  const secure = await startTurnStage({ tls: { port: 0, ...(await readCertificate(files)) } });
  const problems: unknown[] = [];
  const stop = followCertificate(files, secure.relay, (error) => problems.push(error), 20);
  const connect = async (name: string) =>
    (await tlsWire(secure.relay.tlsPort ?? 0, authority.certificate, name)).close();
  await write();
  await eventually(() => problems.length > 0, 'the problem is told');
  await connect(names[0]);
  await write(fresh);
  await eventually(
    () =>
      connect(names[1]).then(
        () => true,
        () => false,
      ),
    'the new one is served',
  );
  stop();
  await secure.stop();
  await rm(folder, { recursive: true });
  await authority.remove();
});

test('[TURN-15] a relay that has closed takes no connection', async () => {
  const closed = await startTurnStage();
  await closed.stop();
  const socket = new PassThrough();
  closed.relay.accept(socket, address('127.0.0.1', 9));
  assert.ok(socket.destroyed);
});

test('[TURN-6] allocations and permissions end in time, connections without an allocation too', async () => {
  const [client, idle] = [await stage.tcp(), await stage.tcp()];
  const { seconds } = await client.allocate([[ATTRIBUTE.lifetime, uint32(100_000)]]);
  assert.equal(seconds, 3600, 'an hour at most');
  assert.equal(await client.permit(stage.peer), 0);
  ahead += 301_000;
  client.send(stage.peer, Buffer.from('too late'));
  await eventually(() => idle.isClosed, 'the idle connection is closed', 15_000);
  assert.equal((await client.mapped())?.address, '127.0.0.1', 'the other is not');
  ahead += 3_600_000;
  await eventually(() => client.isClosed, 'the allocation has expired', 15_000);
  assert.ok(!stage.heard.some((bytes) => bytes.equals(Buffer.from('too late'))));
});

test('[TURN-8] whatever arrives ends at most its own connection', async () => {
  const whole = encodeStun({ method: METHOD.allocate, class: 'request', transactionId: randomBytes(12) }, [
    [ATTRIBUTE.requestedTransport, Buffer.from([17, 0, 0, 0])],
    [ATTRIBUTE.username, randomBytes(500)],
    [ATTRIBUTE.messageIntegrity, randomBytes(20)],
  ]);
  const hostile = [
    ...Array.from({ length: 300 }, () => randomBytes(randomInt(0, 120))),
    ...Array.from({ length: 300 }, () => mutated(whole)),
    ...Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length)),
    Buffer.concat([Buffer.from([0x40, 0, 0xff, 0xff]), randomBytes(100)]),
    Buffer.alloc(2000, 0x16),
  ];
  const [udp, held] = [await stage.udp(), await stage.tcp()];
  assert.equal((await held.allocate()).error, 0);
  for (const bytes of hostile) udp.sendRaw(bytes);
  for (const bytes of hostile.filter((_, index) => index % 20 === 0)) {
    const wire = await tcpWire(stage.relay.port);
    wire.send(bytes);
    wire.send(randomBytes(50));
    wire.close();
  }
  assert.equal(await held.bindChannel(0x4000, stage.peer), 0);
  for (const bytes of hostile) held.sendChannel(0x4000, bytes);
  assert.equal((await udp.mapped())?.address, '127.0.0.1');
  const last = Buffer.from('still here');
  // A datagram of so many at once may be lost.
  await eventually(() => {
    held.sendChannel(0x4000, last);
    return held.received.some(({ data }) => data.equals(last));
  }, 'the echo');
});

/** A few bytes of it are others. */
function mutated(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let change = 0; change < 4; change += 1) copy[randomInt(copy.length)] = randomInt(256);
  return copy;
}

test('[TURN-12] a port that is taken is replaced in development, and a sentence in production', async () => {
  const taken = String(stage.relay.port);
  const node = await startTestNode({ SFU_TURN_PORT: 'off' });
  assert.deepEqual(node.node.turnUrls(), []);
  await node.stop();
  await assert.rejects(startTestNode({ SFU_TURN_PORT: taken, SFU_BIND_ADDRESS: '127.0.0.1' }), {
    name: 'ConfigError',
    message: `SFU_TURN_PORT ${taken} is taken: stop its program, choose another port, or turn the relay off with SFU_TURN_PORT=off.`,
  });
  const moved = await startTurnStage({ port: stage.relay.port, mayMovePort: true });
  assert.notEqual(moved.relay.port, stage.relay.port);
  await moved.stop();
});

test('[TURN-12] SFU_TURN_PORT is a port, 0 or off; a certificate needs its key', () => {
  const given = { SFU_REGISTRATION_SECRET: TEST_SECRET };
  const portOf = (variables: Record<string, string>) => readConfig({ ...given, ...variables }).turnPort;
  assert.deepEqual([portOf({}), portOf({ SFU_TURN_PORT: 'off' }), portOf({ SFU_TURN_PORT: '0' })], [3478, null, null]);
  assert.throws(() => portOf({ SFU_TURN_PORT: 'on' }), /^ConfigError: SFU_TURN_PORT must be a whole number/);
  assert.throws(() => portOf({ SFU_TURN_TLS_CERT: 'cert.pem' }), /SFU_TURN_TLS_KEY must be set together/);
});
