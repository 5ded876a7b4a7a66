/**
 * Writes every package as it is published: `node tools/packages/build.ts [--out DIR] [--only NAME]…`. The repository
 * itself runs from its sources; nothing in it reads what this makes (ADR 127).
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtDashboard } from '@parley/dashboard/files';
import { builtDocs } from '@parley/docs/files';
import { builtPlayground } from '@parley/playground/files';
import { prepareTemplates } from '../../apps/server/src/adapters/db/embedded/prepare-templates.ts';
import { packTemplate } from '../../apps/server/src/adapters/db/embedded/shipped-template.ts';
import { migratedTemplate } from '../../apps/server/src/adapters/db/embedded/template.ts';
import { readMigrations, serverMigrations } from '../../apps/server/src/adapters/db/shared/migrate.ts';
import { buildLibrary } from './library.ts';
import { readManifest } from './manifest.ts';
import { buildProgram } from './program.ts';
import { type PublishedPackage, packages } from './table.ts';

const pageFolders = { dashboard: builtDashboard, docs: builtDocs, playground: builtPlayground } as const;

/** The folder of each package, by its name, in the order of publishing. */
export async function buildPackages(
  out: string,
  isWanted: (published: PublishedPackage) => boolean = () => true,
): Promise<Map<string, string>> {
  const folders = new Map<string, string>();
  for (const published of packages.filter(isWanted)) {
    const manifest = readManifest(published.folder);
    const target = join(out, manifest.name);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    const fields = await write(published, target);
    writeFileSync(join(target, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
    folders.set(manifest.name, target);
  }
  return folders;
}

async function write(published: PublishedPackage, target: string): Promise<object> {
  const { folder, kind, description, pages } = published;
  cpSync('LICENSE', join(target, 'LICENSE'));
  const readme = join(folder, 'README.md');
  if (existsSync(readme)) cpSync(readme, join(target, 'README.md'));
  else writeFileSync(join(target, 'README.md'), partReadme(description));
  if (pages) {
    const built = pageFolders[pages]();
    if (built === null) throw new Error(`The pages of ${folder} are not built: node tools/build-pages.ts`);
    cpSync(built, join(target, 'pages'), { recursive: true });
  }
  if (published.hasTemplate) await shipTemplate(target);
  const manifest = readManifest(folder);
  return kind === 'library'
    ? buildLibrary(manifest, folder, description, target)
    : buildProgram(manifest, published, target);
}

async function shipTemplate(target: string): Promise<void> {
  await prepareTemplates();
  const { name, content } = packTemplate(migratedTemplate(readMigrations(serverMigrations)));
  mkdirSync(join(target, 'templates'));
  writeFileSync(join(target, 'templates', name), content);
}

const partReadme = (description: string): string => `${description}\n\nA part of \`@parley/cli\`: install that one.\n`;

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'dist/packages' }, only: { type: 'string', multiple: true } },
  });
  const names = values.only;
  const isWanted = ({ folder }: PublishedPackage): boolean => !names || names.includes(readManifest(folder).name);
  for (const [name, folder] of await buildPackages(values.out, isWanted)) console.log(`${name}  ${folder}`);
}
