/**
 * The promise that a certificate is got and renewed with somebody else's authority: Pebble, the test server of Let's
 * Encrypt, which validates by connecting back and refuses good nonces now and then. Once by TLS-ALPN-01, and once by
 * HTTP-01, where the authority cannot reach the TLS port.
 *
 *   node tools/proof/acme-pebble.ts [folder with pebble and pebble-challtestsrv]
 *
 * Both are in Debian's package `pebble`; without a folder they are looked for in PATH.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createSettableClock } from '../../apps/server/src/core/clock.ts';
import { openTls } from '../../apps/server/testkit/clients/tls-client.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { startService, type TestService } from '../../apps/server/testkit/kit/service.ts';
import { createAuthority } from '../../apps/server/testkit/peers/tls-receiver.ts';

const binaries = process.argv[2];
const command = (name: string): string => (binaries === undefined ? name : join(binaries, name));
const name = 'calls.parley.test';
const folder = await mkdtemp(join(tmpdir(), 'parley-pebble-'));
const authority = await createAuthority();
const { key, cert } = await authority.issue('localhost');
await writeFile(join(folder, 'key.pem'), key);
await writeFile(join(folder, 'cert.pem'), cert);
setDefaultCACertificates([...getCACertificates('default'), authority.certificate]);
const children: ChildProcess[] = [];

/** Everything has the address 127.0.0.1. */
async function startDns(): Promise<string> {
  const address = `127.0.0.1:${await ownPort()}`;
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''];
  const on = ['-dns01', address, '-defaultIPv4', '127.0.0.1', '-management', `127.0.0.1:${await ownPort()}`];
  children.push(spawn(command('pebble-challtestsrv'), [...on, ...off], { stdio: 'inherit' }));
  return address;
}

/** One that comes to these ports; gives its directory and what it prints. */
async function startPebble(dns: string, ports: { tlsPort: number; httpPort: number }) {
  const apiPort = await ownPort();
  const pebble = {
    listenAddress: `127.0.0.1:${apiPort}`,
    managementListenAddress: `127.0.0.1:${await ownPort()}`,
    certificate: join(folder, 'cert.pem'),
    privateKey: join(folder, 'key.pem'),
    ...ports,
  };
  const file = join(folder, `pebble-${apiPort}.json`);
  await writeFile(file, JSON.stringify({ pebble }));
  // Authorisations are not used again: each certificate proves its name anew.
  const env = { ...process.env, PEBBLE_WFE_NONCEREJECT: '30', PEBBLE_AUTHZREUSE: '0', PEBBLE_VA_NOSLEEP: '1' };
  const child = spawn(command('pebble'), ['-config', file, '-dnsserver', dns, '-strict'], { env });
  children.push(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      process.stdout.write(chunk);
      log += chunk;
    });
  const directoryUrl = `https://localhost:${apiPort}/dir`;
  await eventually(async () => (await fetch(directoryUrl)).ok);
  return { directoryUrl, log: () => log };
}

async function servedBy(port: number): Promise<{ issuer: string; serial: string }> {
  const socket = await openTls({ port, name, ca: '' }, { rejectUnauthorized: false });
  const { issuer, serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  assert.match(String(issuer.CN), /^Pebble/);
  return { issuer: String(issuer.CN), serial: serialNumber };
}

async function getAndRenew(service: TestService, clock: ReturnType<typeof createSettableClock>): Promise<void> {
  const patience = { withinMs: 300_000, everyMs: 500 };
  const served = () => servedBy(service.config.port);
  const first = await eventually(served, patience);
  console.log('issued by', first.issuer, (await (await service.fetch('/readyz')).json()) as object);
  // What Pebble signs is good for five years.
  clock.set(clock.now() + 4 * 365 * 86_400_000);
  const second = await eventually(async () => {
    const now = await served();
    assert.notEqual(now.serial, first.serial);
    return now;
  }, patience);
  console.log('renewed by', second.issuer);
}

/** By HTTP-01 the authority finds nobody at the port for TLS. */
async function prove(challenge: 'tls-alpn-01' | 'http-01', dns: string): Promise<void> {
  const [port, httpPort, nobodys] = [await ownPort(), await ownPort(), await ownPort()];
  const pebble = await startPebble(dns, { tlsPort: challenge === 'http-01' ? nobodys : port, httpPort });
  const clock = createSettableClock();
  const service = await startService({
    clock,
    env: {
      PORT: String(port),
      HTTP_PORT: String(httpPort),
      TLS: 'acme',
      ACME_DIRECTORY_URL: pebble.directoryUrl,
      ACME_EMAIL: 'operator@example.org',
      PUBLIC_URL: `https://${name}`,
      ALLOW_PUBLIC_DEVELOPMENT: 'true',
    },
  });
  try {
    await getAndRenew(service, clock);
    const asked = pebble.log().includes('/.well-known/acme-challenge/');
    assert.equal(asked, challenge === 'http-01', 'what was asked over HTTP');
    console.log(`${challenge}: issued and renewed`);
  } catch (error) {
    console.log(await (await service.fetch('/readyz')).text());
    throw error;
  } finally {
    await service.stop();
  }
}

try {
  const dns = await startDns();
  await prove('tls-alpn-01', dns);
  await prove('http-01', dns);
} finally {
  for (const child of children) child.kill();
  await authority.remove();
  await rm(folder, { recursive: true, force: true });
}
