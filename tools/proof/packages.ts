/**
 * The packages as their users get them, from tarballs, outside of the repository: `node tools/proof/packages.ts [part…]`
 * with parts sdk, service, browser, bots, next. Downloads from the package registry: Nodes 20, 22 and 24, Bun, the
 * dependencies, Vite and Next.js. Needs a Chromium for `browser` and `bots`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { buildPages } from '../../e2e/page-builds.ts';
import { buildPackages } from '../packages/build.ts';
import { proveBots } from './packages/bots.ts';
import { proveBrowser } from './packages/browser.ts';
import { proveNext } from './packages/next.ts';
import { install, type Prepared } from './packages/prepared.ts';
import { proveSdk } from './packages/sdk.ts';
import { proveService } from './packages/service.ts';

const parts = { sdk: proveSdk, service: proveService, browser: proveBrowser, bots: proveBots, next: proveNext };
const chosen = process.argv.slice(2);

const work = mkdtempSync(join(tmpdir(), 'parley-proof-packages-'));
try {
  buildPages();
  const prepared = await prepare();
  for (const [name, prove] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n${name}`);
    await prove(prepared);
  }
  console.log(process.exitCode ? '\nToo slow: see above.' : '\nAll proven.');
} finally {
  // Browser and bots share one Chromium.
  await stopShared();
  rmSync(work, { recursive: true, force: true });
}

async function prepare(): Promise<Prepared> {
  const folders = await buildPackages(join(work, 'out'));
  const packed = join(work, 'packed');
  mkdirSync(packed);
  execFileSync('npm', ['pack', ...folders.values(), '--pack-destination', packed], { stdio: 'ignore' });
  const tarballs = readdirSync(packed).map((name) => join(packed, name));
  const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const nodes = [20, 22, 24].map((major) => {
    const folder = install(join(work, `node-${major}`), [`${platform}@${major}`]);
    const path = join(folder, 'node_modules', platform, 'bin', 'node');
    return { path, version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim() };
  });
  console.log(`${tarballs.length} packages; Nodes ${nodes.map(({ version }) => version).join(', ')}`);
  return { work, tarballs, nodes };
}
