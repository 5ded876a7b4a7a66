/**
 * Calls and chat from every kind of network, through a production server on one port: Chromium and Firefox in
 * network namespaces behind nftables, the other participant in an open network.
 *
 *   node tools/proof/networks.ts [rounds] [kinds or `firefox`, comma-separated]
 *
 * Needs root, iproute2, nftables, openssl, Chromium, firefox-esr and libnss3-tools. Writes the rows it ran into
 * docs/benchmarks/networks.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '../../apps/server/testkit/peers/tls-receiver.ts';
import { findChromium } from '../../e2e/browser.ts';
import { buildNetworks, HOST, missingTools, OPEN, removeNetworks } from './networks/namespaces.ts';

const [rounds = '3', only = ''] = process.argv.slice(2);
const missing = missingTools() ?? (findChromium() ? null : 'no Chromium found: apt-get install chromium');
if (missing) {
  console.log(missing);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'parley-networks-'));
const authority = await createAuthority();
const { key, cert } = await authority.issue(HOST);
const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
await writeFile(certFile, cert);
await writeFile(keyFile, key, { mode: 0o600 });
const report = fileURLToPath(new URL('../../docs/benchmarks/networks.md', import.meta.url));

removeNetworks();
process.once('exit', removeNetworks);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
buildNetworks();
const child = spawn(
  'ip',
  [
    ...['netns', 'exec', OPEN, process.execPath, fileURLToPath(new URL('networks/run.ts', import.meta.url))],
    ...[rounds, certFile, keyFile, authority.file, report, only],
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_EXTRA_CA_CERTS: authority.file } },
);
const [code] = (await once(child, 'exit')) as [number | null];
await authority.remove();
await rm(folder, { recursive: true, force: true });
process.exit(code ?? 1);
