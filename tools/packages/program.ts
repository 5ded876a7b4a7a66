import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { commonFields, type Manifest } from './manifest.ts';
import type { PublishedPackage } from './table.ts';

const relativePath = /(['"])(\.\.?\/[^'"\n]+)\1/g;
const bareName =
  /(?:\bfrom|\bimport|\bimport\(|\bresolve\(|\bfindPackageJSON\()\s*['"]((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/[^'"]*)?['"]/g;

/** What Node 20 lacks and the code uses. It is put before the first line of a file that does, so that lines stay. */
const lackedByNode20 = /\bPromise\.withResolvers\b|\bURL\.parse\b|\b(?:Map|Object)\.groupBy\b/;
const node20 = `Promise.withResolvers ??= function withResolvers() {
  let settle;
  const promise = new this((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
};
URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};
Object.groupBy ??= (items, keyOf) => Object.assign(Object.create(null), Object.fromEntries(Map.groupBy(items, keyOf)));
`;

/** Everything that Node runs: each source without its types, line by line as it was. */
export function buildProgram(manifest: Manifest, published: PublishedPackage, out: string) {
  const { folder, description, carries = {}, without = [] } = published;
  const exported = Object.entries(manifest.exports ?? {}).filter(([path]) => !without.includes(path));
  const sources = reachable(
    [...exported.map(([, source]) => source), ...Object.values(manifest.bin ?? {})].flatMap((path) =>
      sourcesOf(folder, path),
    ),
    folder,
  );
  const used = new Set<string>();
  for (const path of sources) {
    const target = join(out, relative(folder, path).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    if (!path.endsWith('.ts')) cpSync(path, target);
    else writeFileSync(target, forNode20(withoutTypes(path, used), dirname(target), out));
  }
  for (const [from, to] of Object.entries(carries)) {
    // A .env with a key in it is not to be published.
    const filter = (path: string): boolean => !/[\\/](?:\.env[^\\/]*|node_modules)$/.test(path);
    cpSync(from, join(out, to), { recursive: true, filter });
  }
  return {
    ...commonFields(manifest, description, folder),
    ...(manifest.bin ? { bin: inJavaScript(Object.entries(manifest.bin)) } : {}),
    ...(exported.length > 0 ? { exports: inJavaScript(exported) } : {}),
    dependencies: dependenciesOf(manifest, used),
  };
}

const inJavaScript = (paths: readonly (readonly [string, string])[]): Record<string, string> =>
  Object.fromEntries(paths.map(([name, path]) => [name, path.replace(/\.ts$/, '.js')]));

const isOurs = (path: string): boolean => !path.endsWith('.test.ts') && statSync(path).isFile();

/** `./src/*.ts` is every file there. */
function sourcesOf(folder: string, path: string): string[] {
  const found = globSync(join(folder, path)).filter(isOurs);
  if (found.length === 0) throw new Error(`${folder} exports ${path}, which is not there.`);
  return found.filter((file) => !file.endsWith('package.json'));
}

/** The files that these name, and those name in turn: no test and no tool comes along. */
function reachable(entries: readonly string[], folder: string): Set<string> {
  const seen = new Set<string>();
  const queue = [...entries];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    if (!path.endsWith('.ts')) continue;
    for (const [, , name = ''] of stripped(path).matchAll(relativePath)) {
      const named = join(dirname(path), name);
      if (name.endsWith('package.json') || !existsSync(named) || !statSync(named).isFile()) continue;
      if (relative(folder, named).startsWith('..')) throw new Error(`${path} names ${named}, outside of its package.`);
      queue.push(named);
    }
  }
  return seen;
}

const strippedSources = new Map<string, string>();

/** Asked for twice: for what a file names, and for what is written of it. */
function stripped(path: string): string {
  const code = strippedSources.get(path) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'));
  strippedSources.set(path, code);
  return code;
}

function withoutTypes(path: string, used: Set<string>): string {
  const code = stripped(path);
  for (const [, name = ''] of code.matchAll(bareName)) used.add(name);
  return code.replaceAll(relativePath, (whole) => whole.replace(/\.ts(['"])$/, '.js$1'));
}

function forNode20(code: string, folder: string, out: string): string {
  if (!lackedByNode20.test(code)) return code;
  writeFileSync(join(out, 'node-20.js'), node20);
  const path = relative(folder, join(out, 'node-20.js'));
  return `import '${path.startsWith('.') ? path : `./${path}`}'; ${code}`;
}

/** Only what the code names: pages are shipped built, without what built them. */
function dependenciesOf({ name, dependencies = {} }: Manifest, used: ReadonlySet<string>): Record<string, string> {
  const declared = Object.entries(dependencies).filter(([dependency]) => used.has(dependency));
  const missing = [...used].filter((one) => !(one in dependencies) && one !== name);
  if (missing.length > 0) throw new Error(`${name} uses what it does not depend on: ${missing.join(', ')}.`);
  return Object.fromEntries(declared);
}
