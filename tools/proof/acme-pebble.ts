/**
 * The promise that a certificate is got and renewed with somebody else's authority: Pebble, the test server of Let's
 * Encrypt, which validates by connecting back and refuses good nonces now and then.
 *
 *   node tools/proof/acme-pebble.ts [folder with pebble and pebble-challtestsrv]
 *
 * Both are in Debian's package `pebble`; without a folder they are looked for in PATH.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createSettableClock } from '../../apps/server/src/core/clock.ts';
import { openTls } from '../../apps/server/testkit/clients/tls-client.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { startService } from '../../apps/server/testkit/kit/service.ts';
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

const [apiPort, managementPort, dnsPort, validationPort] = [
  await ownPort(),
  await ownPort(),
  await ownPort(),
  await ownPort(),
];
const configuration = {
  listenAddress: `127.0.0.1:${apiPort}`,
  managementListenAddress: `127.0.0.1:${managementPort}`,
  certificate: join(folder, 'cert.pem'),
  privateKey: join(folder, 'key.pem'),
  httpPort: 5002,
  tlsPort: validationPort,
};
await writeFile(join(folder, 'pebble.json'), JSON.stringify({ pebble: configuration }));
const off = ['-http01', '', '-https01', '', '-tlsalpn01', ''];
const dns = [
  '-dns01',
  `127.0.0.1:${dnsPort}`,
  '-defaultIPv4',
  '127.0.0.1',
  '-defaultIPv6',
  '',
  '-management',
  `127.0.0.1:${await ownPort()}`,
];
const children = [
  spawn(command('pebble-challtestsrv'), [...dns, ...off], { stdio: 'inherit' }),
  spawn(command('pebble'), ['-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${dnsPort}`, '-strict'], {
    stdio: 'inherit',
    env: { ...process.env, PEBBLE_WFE_NONCEREJECT: '30' },
  }),
];
const directoryUrl = `https://localhost:${apiPort}/dir`;
await eventually(async () => (await fetch(directoryUrl)).ok);

const clock = createSettableClock();
const service = await startService({
  clock,
  env: {
    PORT: String(validationPort),
    TLS: 'acme',
    ACME_DIRECTORY_URL: directoryUrl,
    ACME_EMAIL: 'operator@example.org',
    PUBLIC_URL: `https://${name}`,
    ALLOW_PUBLIC_DEVELOPMENT: 'true',
  },
});

async function served(): Promise<{ issuer: string; serial: string }> {
  const socket = await openTls({ port: validationPort, name, ca: '' }, { rejectUnauthorized: false });
  const { issuer, serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  assert.match(String(issuer.CN), /^Pebble/);
  return { issuer: String(issuer.CN), serial: serialNumber };
}

try {
  const first = await eventually(served, { withinMs: 20_000, everyMs: 500 });
  console.log('issued by', first.issuer, (await (await service.fetch('/readyz')).json()) as object);
  // What Pebble signs is good for five years.
  clock.set(clock.now() + 4 * 365 * 86_400_000);
  const second = await eventually(
    async () => {
      const now = await served();
      assert.notEqual(now.serial, first.serial);
      return now;
    },
    { withinMs: 60_000, everyMs: 500 },
  );
  console.log('renewed by', second.issuer);
} catch (error) {
  console.log(await (await service.fetch('/readyz')).text());
  throw error;
} finally {
  await service.stop();
  for (const child of children) child.kill();
  await authority.remove();
  await rm(folder, { recursive: true, force: true });
}
