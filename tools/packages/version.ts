/** Moves every package to one version: `node tools/packages/version.ts 0.2.0`. The lockfile follows by `npm install`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { repositoryFiles } from '../repository-files.ts';

/** The manifest's text with this version, for the package itself and for those of ours that it depends on. */
export const atVersion = (text: string, version: string): string =>
  text
    .replace(/^( {2}"version": )"[^"]+"/m, `$1"${version}"`)
    .replaceAll(/("(?:@parley\/[\w-]+|create-parley)": )"\d[^"]*"/g, `$1"${version}"`);

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
    console.error('Usage: node tools/packages/version.ts 0.2.0');
    process.exit(2);
  }
  for (const path of repositoryFiles('package.json', '**/package.json'))
    writeFileSync(path, atVersion(readFileSync(path, 'utf8'), version));
  const reported = 'packages/client/src/version.ts';
  writeFileSync(reported, readFileSync(reported, 'utf8').replace(/'\d[^']*'/, `'${version}'`));
  console.log(`All packages are ${version}. Next: npm install, CHANGELOG.md, npm run release.`);
}
