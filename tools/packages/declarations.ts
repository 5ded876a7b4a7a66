import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative } from 'node:path';
import { type DeclarationModule, readDeclarations } from './declaration-modules.ts';
import { readManifest } from './manifest.ts';

/** The files of `packages`, by path, as tsc declares them. */
let emitted: ReadonlyMap<string, DeclarationModule> | null = null;

function emitDeclarations(): ReadonlyMap<string, DeclarationModule> {
  if (emitted) return emitted;
  const out = mkdtempSync(join(tmpdir(), 'parley-declarations-'));
  try {
    execFileSync('node_modules/.bin/tsc', ['-p', 'tools/packages', '--outDir', out]);
    const files = globSync('packages/**/*.d.ts', { cwd: out });
    emitted = new Map(
      files.map((path) => [path.replace(/\.d\.ts$/, '.ts'), readDeclarations(readFileSync(join(out, path), 'utf8'))]),
    );
    return emitted;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Packages whose types are carried along instead of imported. */
const carried = ['packages/contract', 'packages/media-description'];

/** The file that a module means by this, or null for a package that the user has (React). */
function resolve(from: string, specifier: string): string | null {
  // A file of components is declared like every other.
  if (specifier.startsWith('.')) return posix.join(dirname(from), specifier).replace(/\.tsx$/, '.ts');
  for (const folder of carried) {
    const { name, exports = {} } = readManifest(folder);
    if (specifier === name) return posix.join(folder, exports['.'] ?? '');
    if (specifier.startsWith(`${name}/`))
      return posix.join(folder, (exports['./*'] ?? '').replace('*', specifier.slice(name.length + 1)));
  }
  return null;
}

/**
 * What the exports of these entries are made of, and nothing else: the files by their path, with every import naming
 * another of them. Helpers that a module exports for its neighbours are not part of the package's types.
 */
export function publicDeclarations(entries: readonly string[]): ReadonlyMap<string, string> {
  const modules = emitDeclarations();
  const kept = new Map<string, Set<string>>();
  const moduleAt = (path: string): DeclarationModule => {
    const found = modules.get(path);
    if (!found) throw new Error(`No declarations for ${path}.`);
    return found;
  };

  const namesOf = (path: string): Set<string> => {
    const names = kept.get(path) ?? new Set();
    kept.set(path, names);
    return names;
  };

  /** Keeps an export and all it mentions; false where the module has no such export. */
  function keepExport(path: string, name: string): boolean {
    const module = moduleAt(path);
    if (module.statements.some(({ names }) => names.includes(name))) {
      keepLocal(path, name);
      return true;
    }
    const reexport = module.reexports.get(name);
    if (reexport) {
      namesOf(path).add(exportMark(name));
      if (reexport.from !== '') return keepFrom(path, reexport.from, reexport.imported);
      keepImport(path, reexport.imported);
      return true;
    }
    const star = module.stars.find((from) => keepFrom(path, from, name));
    if (star !== undefined) namesOf(path).add(exportMark(star));
    return star !== undefined;
  }

  function keepImport(path: string, local: string): void {
    const imported = moduleAt(path).imports.get(local);
    if (!imported) return;
    namesOf(path).add(local);
    keepFrom(path, imported.from, imported.imported);
  }

  function keepFrom(path: string, from: string, name: string): boolean {
    const target = resolve(path, from);
    if (target !== null && !modules.has(target))
      throw new Error(`${path} shows ${name} of ${from} in its types: use a record of types.gen instead.`);
    return target === null || keepExport(target, name);
  }

  function keepLocal(path: string, name: string): void {
    if (namesOf(path).has(name)) return;
    namesOf(path).add(name);
    const module = moduleAt(path);
    for (const { text, names: declared } of module.statements) {
      if (!declared.includes(name)) continue;
      for (const [word] of withoutComments(text).matchAll(/\b[A-Za-z_]\w*\b/g)) {
        if (module.statements.some((other) => other.names.includes(word))) keepLocal(path, word);
        else keepImport(path, word);
      }
    }
  }

  for (const entry of entries) for (const name of exportsOf(entry, moduleAt)) keepExport(entry, name);
  return new Map(
    [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, names]) => [path, write(path, moduleAt(path), names)]),
  );
}

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\//g, '');

function exportsOf(path: string, moduleAt: (path: string) => DeclarationModule): string[] {
  const { statements, reexports, stars } = moduleAt(path);
  const own = statements.filter(({ text }) => /^export /m.test(withoutComments(text))).flatMap(({ names }) => names);
  const further = stars.flatMap((from) => exportsOf(resolve(path, from) ?? '', moduleAt));
  return [...new Set([...own, ...reexports.keys(), ...further])];
}

/** Among the kept names of a module: an export of another module's. */
const exportMark = (name: string): string => `export ${name}`;

function write(path: string, module: DeclarationModule, names: ReadonlySet<string>): string {
  const lines = [
    ...[...module.imports]
      .filter(([local]) => names.has(local))
      .map(
        ([local, { imported, from }]) => `import { ${renamed(imported, local)} } from '${specifierOf(path, from)}';`,
      ),
    ...[...module.reexports]
      .filter(([exported]) => names.has(exportMark(exported)))
      .map(([exported, { imported, from }]) => {
        const source = from === '' ? '' : ` from '${specifierOf(path, from)}'`;
        return `export { ${renamed(imported, exported)} }${source};`;
      }),
    ...module.stars
      .filter((from) => names.has(exportMark(from)))
      .map((from) => `export * from '${specifierOf(path, from)}';`),
    ...module.statements.filter((one) => one.names.some((name) => names.has(name))).map(({ text }) => text),
  ];
  return `${lines.join('\n')}\n`;
}

const renamed = (name: string, as: string): string => (name === as ? name : `${name} as ${as}`);

function specifierOf(path: string, specifier: string): string {
  const target = resolve(path, specifier);
  if (target === null) return specifier;
  const found = posix.relative(dirname(path), target).replace(/\.ts$/, '.js');
  return found.startsWith('.') ? found : `./${found}`;
}

/** `packages/client/src/room.ts` is `types/client/room.d.ts` in the package. */
export const declarationPath = (path: string): string =>
  join('types', relative('packages', path).replace(/\.ts$/, '.d.ts'));
