/**
 * Publishes every package with provenance: `npm run release`, in CI, where the registry can check where it was built.
 * `--dry-run` packs and publishes nothing. A version that is there already is passed over, so a broken release goes on.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackages } from './build.ts';
import { readManifest } from './manifest.ts';

const isDryRun = process.argv.includes('--dry-run');
const npm = (args: readonly string[], cwd: string) => spawnSync('npm', args, { cwd, encoding: 'utf8' });

for (const [name, folder] of await buildPackages(mkdtempSync(join(tmpdir(), 'parley-release-')))) {
  const { version } = readManifest(folder);
  if (!isDryRun && npm(['view', `${name}@${version}`, 'version'], folder).stdout.trim() === version) {
    console.log(`${name}@${version} is published already`);
    continue;
  }
  const args = isDryRun ? ['pack', '--dry-run'] : ['publish', '--provenance', '--access', 'public'];
  const { status, stderr } = npm(args, folder);
  if (status !== 0) {
    console.error(stderr);
    process.exit(1);
  }
  console.log(`${name}@${version} ${isDryRun ? 'would be published' : 'published'}`);
}
