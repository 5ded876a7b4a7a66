import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getOverTls, openTls } from '../../testkit/clients/tls-client.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock, type FakeClock } from '../../testkit/kit/fake-clock.ts';
import { openPort, ownPort } from '../../testkit/kit/ports.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';
import { type AcmeServer, startAcmeServer } from '../../testkit/peers/acme-server.ts';
import { startSilentServer } from '../../testkit/peers/silent-server.ts';
import { createAuthority, type TestAuthority } from '../../testkit/peers/tls-receiver.ts';
import { sql } from '../core/sql.ts';

const dayMs = 86_400_000;
let authority: TestAuthority;
let acme: AcmeServer;
let clock: FakeClock;
/** Its database is the others', and no other file's: by their clocks months pass, and what is old is deleted. */
let base: TestService;
let names = 0;
let name = '';

before(async () => {
  authority = await createAuthority();
  acme = await startAcmeServer(authority);
  base = await startService();
});

after(async () => {
  await base.stop();
  await acme.close();
  await authority.remove();
});

beforeEach(() => {
  name = `calls${++names}.test`;
  clock = createFakeClock(Date.now());
  acme.refusal = null;
  acme.days = 90;
  acme.pendingReads = 0;
  acme.isBlind = false;
  acme.isBlindOverTls = false;
  acme.offersTlsAlpn = true;
  acme.httpPort = 0;
  acme.validations.length = 0;
});

/** A server for the test's name. The authority comes to the one that was started last. */
async function serve(env: Record<string, string> = {}, ownClock = clock): Promise<TestService> {
  const open = await openPort();
  // Known before the first order, which is made as soon as the service listens.
  acme.validationPort = open.port;
  return await startService({
    open,
    beside: base,
    clock: ownClock,
    env: {
      TLS: 'acme',
      ACME_DIRECTORY_URL: acme.directoryUrl,
      PUBLIC_URL: `https://${name}`,
      ALLOW_PUBLIC_DEVELOPMENT: 'true',
      ...env,
    },
  });
}

const peer = ({ config }: TestService) => ({ port: config.port, name, ca: authority.certificate });

/** Lets time pass until it holds. */
const inTime = (check: () => Promise<void>): Promise<void> =>
  eventually(
    async () => {
      clock.jump(10_000);
      await check();
    },
    { everyMs: 100 },
  );

/** It has a certificate, by its own word and by ours. */
const answersOverTls = (service: TestService) => async () => {
  assert.deepEqual(await readyz(service), { status: 200 });
  assert.equal((await getOverTls(peer(service), '/healthz')).status, 200);
};

async function serialOf(service: TestService): Promise<string> {
  const socket = await openTls(peer(service), { rejectUnauthorized: false });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

const readyz = async (service: TestService): Promise<{ status: number; certificate?: string }> => {
  const answer = await service.fetch('/readyz');
  const { certificate } = (await answer.json()) as { certificate?: string };
  return { status: answer.status, ...(certificate !== undefined && { certificate }) };
};

test('[TLS-7] a certificate is ordered, proven on the same port, served, and kept for the next start', async () => {
  const before = acme.issued;
  const first = await serve();
  await eventually(answersOverTls(first));
  assert.equal(acme.issued, before + 1);
  assert.equal((await readyz(first)).status, 200);
  const serial = await serialOf(first);
  await first.stop();

  const second = await serve();
  await eventually(answersOverTls(second));
  assert.equal(await serialOf(second), serial);
  assert.equal(acme.issued, before + 1);
  const [row] = await base.adapters.db.query<{ key: string; account: string }>(sql`
    select certificates.key_sealed as key, acme_accounts.key_sealed as account from certificates, acme_accounts
    where name = ${name}`);
  for (const sealed of Object.values(row ?? {})) assert.doesNotMatch(sealed, /PRIVATE/);
  await second.stop();
});

test('[TLS-7] it is renewed after two thirds of its life, and the connections of before go on', async () => {
  const service = await serve();
  await eventually(answersOverTls(service));
  const serial = await serialOf(service);
  const before = acme.issued;
  clock.jump(59 * dayMs);
  await clock.advance(10_000);
  assert.equal(acme.issued, before);
  acme.days = 365;
  acme.pendingReads = 2;
  clock.jump(2 * dayMs);
  await inTime(async () => assert.notEqual(await serialOf(service), serial));
  assert.deepEqual([acme.issued, acme.accounts], [before + 1, 1]);
  await service.stop();
});

test('[TLS-8] of two servers one orders, either proves the name, and both serve it', async () => {
  acme.refusal = 'Not yet.';
  const ordering = await serve();
  await eventually(async () => assert.match((await readyz(ordering)).certificate ?? '', /Not yet/));
  acme.refusal = null;
  const before = acme.issued;
  // Its time stands still, so it makes no order; the authority comes to it all the same.
  const otherClock = createFakeClock(clock.now());
  const proving = await serve({}, otherClock);
  clock.jump(5 * 60_000);
  await inTime(answersOverTls(ordering));
  otherClock.jump(5 * 60_000);
  await eventually(answersOverTls(proving));
  assert.equal(await serialOf(ordering), await serialOf(proving));
  assert.equal(acme.issued, before + 1);
  await ordering.stop();
  await proving.stop();
});

test('[TLS-8] of two servers that find it due at once, one orders', async () => {
  acme.refusal = 'Not yet.';
  const first = await serve();
  await eventually(async () => assert.match((await readyz(first)).certificate ?? '', /Not yet/));
  const second = await serve();
  acme.refusal = null;
  const before = acme.issued;
  clock.jump(5 * 60_000);
  await inTime(async () => {
    await answersOverTls(first)();
    await answersOverTls(second)();
  });
  assert.equal(acme.issued, before + 1);
  await first.stop();
  await second.stop();
});

test('[TLS-9] without a certificate the port answers with one that nobody trusts, and says why there is none', async () => {
  acme.refusal = 'The name is on a list.';
  const service = await serve();
  await assert.rejects(getOverTls(peer(service), '/healthz'), /self-signed certificate/);
  await eventually(async () => {
    const { status, certificate } = await readyz(service);
    assert.equal(status, 503);
    assert.match(certificate ?? '', new RegExp(`There is no certificate for ${name} yet.*The name is on a list`));
  });
  // It is tried again, later each time.
  acme.refusal = null;
  clock.jump(5 * 60_000);
  await inTime(answersOverTls(service));
  assert.equal((await readyz(service)).certificate, undefined);
  await service.stop();
});

test('[TLS-9] a validation that fails is told in the words of the authority; terms that are not agreed ask nobody', async () => {
  acme.isBlind = true;
  const service = await serve();
  await eventually(async () => assert.match((await readyz(service)).certificate ?? '', /could not connect/));
  await service.stop();

  name = `calls${++names}.test`;
  const accounts = acme.accounts;
  const unwilling = await serve({ ACME_TERMS_AGREED: 'false' });
  await clock.advance(10_000);
  assert.match((await readyz(unwilling)).certificate ?? '', /ACME_TERMS_AGREED is false/);
  assert.equal(acme.accounts, accounts);
  await unwilling.stop();
});

test('[TLS-7] a validation that is not under way has no certificate', async () => {
  const service = await serve();
  await eventually(answersOverTls(service));
  for (const servername of [name, 'other.test'])
    await assert.rejects(
      openTls({ ...peer(service), name: servername }, { ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false }),
    );
  await service.stop();
});

/** The same with a plain port beside it. */
async function servePlainToo(): Promise<TestService> {
  acme.httpPort = await ownPort();
  return await serve({ HTTP_PORT: String(acme.httpPort) });
}

test('[TLS-12] where tls-alpn-01 is not offered, or fails, the name is proven by http-01', async () => {
  acme.offersTlsAlpn = false;
  const first = await servePlainToo();
  await eventually(answersOverTls(first));
  assert.deepEqual(acme.validations, ['http-01']);
  await first.stop();

  name = `calls${++names}.test`;
  acme.validations.length = 0;
  acme.offersTlsAlpn = true;
  acme.isBlindOverTls = true;
  const second = await servePlainToo();
  await eventually(answersOverTls(second));
  assert.deepEqual(acme.validations, ['tls-alpn-01', 'http-01']);
  await second.stop();
});

test('[TLS-12] the plain port sends browsers to PUBLIC_URL and programs away, and says nothing when no name is being proven', async () => {
  const service = await servePlainToo();
  await eventually(answersOverTls(service));
  assert.deepEqual(acme.validations, ['tls-alpn-01'], 'what needs no other port comes first');
  const ask = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${service.config.plainPort}${path}`, { method, redirect: 'manual' });
  for (const [path, method] of [
    ['/', 'GET'],
    ['/v1x?limit=1', 'HEAD'],
    ['//evil.example/x', 'GET'],
    ['/.well-known/acme-challenge/a/b', 'GET'],
  ] as const) {
    const { status, headers } = await ask(path, method);
    assert.deepEqual([status, headers.get('location')], [308, `https://${name}${path}`]);
  }
  for (const [path, method] of [
    ['/v1/rooms?limit=1', 'GET'],
    ['/v1/rooms', 'POST'],
    ['/', 'POST'],
  ] as const) {
    const answer = await ask(path, method);
    assert.deepEqual([answer.status, answer.headers.get('location')], [403, null]);
    const body = (await answer.json()) as Record<string, string>;
    assert.deepEqual([body['code'], body['path']], ['SVC_FORBIDDEN', path.split('?')[0]]);
    assert.match(body['message'] ?? '', new RegExp(`^Use https://${name}: [^.]+\\.$`));
    assert.equal(body['requestId'], answer.headers.get('x-request-id'));
  }
  assert.equal((await ask('/.well-known/acme-challenge/none')).status, 404);
  await service.stop();
  await assert.rejects(ask('/'));
});

test('[TLS-12] a plain port that is taken is no reason to stop', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const service = await serve({ HTTP_PORT: String((taken.address() as AddressInfo).port) });
  await eventually(answersOverTls(service));
  await service.stop();
  taken.close();
});

test('[TLS-6] a stopping server waits for no authority', async () => {
  const silent = await startSilentServer();
  const service = await serve({ ACME_DIRECTORY_URL: `${silent.url}/directory` });
  await eventually(() => assert.ok(silent.connections > 0));
  const outcome = await Promise.race([service.stop().then(() => 'stopped'), sleep(20_000, 'waits', { ref: false })]);
  assert.equal(outcome, 'stopped');
  await silent.close();
});

test('[TLS-14] however many ask for a proof, the database is asked twice a second at most', async () => {
  const service = await servePlainToo();
  await eventually(answersOverTls(service));
  const { db } = service.adapters;
  const { query } = db;
  let reads = 0;
  db.query = (statement) => {
    if (/select proof from certificates/.test(statement.text)) reads += 1;
    return query(statement);
  };
  const ask = async () =>
    (await fetch(`http://127.0.0.1:${service.config.plainPort}/.well-known/acme-challenge/none`)).status;
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [404, 404, 404]);
  assert.equal(await ask(), 404);
  assert.ok(reads <= 1, `${reads}`);
  clock.jump(1_000);
  await ask();
  assert.ok(reads >= 1 && reads <= 2, `${reads}`);
  db.query = query;
  await service.stop();
});
