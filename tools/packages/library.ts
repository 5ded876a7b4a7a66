import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type OutputOptions, rolldown } from 'rolldown';
import { declarationPath, publicDeclarations } from './declarations.ts';
import { commonFields, entriesOf, type Manifest, readManifest, stylesOf } from './manifest.ts';
import { packages } from './table.ts';

/** Bundles an SDK: what it uses of the workspace is inside, other SDKs and what its user brings along (React) are not. */
export async function buildLibrary(manifest: Manifest, folder: string, description: string, out: string) {
  const entries = entriesOf(manifest, folder);
  const dependencies = sdksOf(manifest);
  const dist = join(out, 'dist');
  mkdirSync(dist, { recursive: true });
  const bundle = await rolldown({
    input: entries,
    external: Object.keys({ ...manifest.peerDependencies, ...dependencies }).map((name) => new RegExp(`^${name}(/|$)`)),
    platform: 'neutral',
    treeshake: true,
  });
  const formats: readonly OutputOptions[] = [
    { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs', exports: 'named' },
  ];
  for (const format of formats) await bundle.write({ ...format, dir: dist, sourcemap: true });
  await bundle.close();
  writeDeclarations(Object.values(entries), dist);
  const styles = stylesOf(manifest).map(([path, source]) => [path, carryStyles(join(folder, source), out)] as const);
  const further = Object.keys(entries).filter((name) => name !== 'index');
  for (const name of further) writeStub(out, name, entries[name] ?? '');
  const { sideEffects, peerDependencies, peerDependenciesMeta } = manifest;
  return {
    ...commonFields(manifest, description, folder),
    sideEffects: sideEffects ?? false,
    main: './dist/index.cjs',
    types: `./dist/${declarationPath(entries['index'] ?? '').replace(/\.d\.ts$/, '.d.cts')}`,
    exports: {
      ...Object.fromEntries(Object.entries(entries).map(([name, source]) => exportOf(name, source))),
      ...Object.fromEntries(styles),
      './package.json': './package.json',
    },
    files: ['dist', ...further],
    ...(Object.keys(dependencies).length > 0 ? { dependencies } : {}),
    ...(peerDependencies ? { peerDependencies, peerDependenciesMeta } : {}),
  };
}

/** What it depends on that is published as an SDK of its own: one copy of it is in the application. */
function sdksOf({ dependencies = {} }: Manifest): Record<string, string> {
  const sdks = packages.filter(({ kind }) => kind === 'library').map(({ folder }) => readManifest(folder).name);
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => sdks.includes(name)));
}

/** A style sheet and those beside it that it imports. */
function carryStyles(source: string, out: string): string {
  cpSync(dirname(source), join(out, 'dist/styles'), { recursive: true });
  return `./dist/styles/${basename(source)}`;
}

function writeDeclarations(entries: readonly string[], dist: string): void {
  for (const [path, text] of publicDeclarations(entries)) {
    const target = join(dist, declarationPath(path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    // The same types for `require`: they name each other by the ending of their own kind.
    writeFileSync(target.replace(/\.d\.ts$/, '.d.cts'), text.replaceAll(/(from '\.[^']+)\.js'/g, "$1.cjs'"));
  }
}

/** For tools that do not read `exports`: they look for a folder of this name. */
function writeStub(out: string, name: string, source: string): void {
  const types = `../dist/${declarationPath(source)}`.replace(/\.d\.ts$/, '.d.cts');
  mkdirSync(join(out, name));
  writeFileSync(join(out, name, 'package.json'), JSON.stringify({ main: `../dist/${name}.cjs`, types }));
}

function exportOf(name: string, source: string) {
  const types = `./dist/${declarationPath(source)}`;
  const conditions = {
    import: { types, default: `./dist/${name}.js` },
    require: { types: types.replace(/\.d\.ts$/, '.d.cts'), default: `./dist/${name}.cjs` },
  };
  return [name === 'index' ? '.' : `./${name}`, conditions] as const;
}
