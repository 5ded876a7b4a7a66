import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Exports = Readonly<Record<string, string>>;

/** What we read of a package.json of the repository. */
export interface Manifest {
  name: string;
  version: string;
  exports?: Exports;
  bin?: Exports;
  sideEffects?: boolean | readonly string[];
  dependencies?: Readonly<Record<string, string>>;
  peerDependencies?: Readonly<Record<string, string>>;
  peerDependenciesMeta?: Readonly<Record<string, object>>;
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** What the package.json of every published package has. */
export const commonFields = ({ name, version }: Manifest, description: string, folder: string) => ({
  name,
  version,
  description,
  license: 'Apache-2.0',
  // Provenance compares it with where the build ran: the release sets it (CONTRIBUTING.md).
  ...(process.env['PARLEY_REPOSITORY']
    ? { repository: { type: 'git', url: process.env['PARLEY_REPOSITORY'], directory: folder } }
    : {}),
  type: 'module',
  engines: { node: '>=20.19' },
  publishConfig: { access: 'public', provenance: true },
});

/** By the name of the entry's files, `chat` for `./chat`: its source. */
export function entriesOf({ exports = {} }: Manifest, folder: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([, source]) => !isStyle(source))
      .map(([path, source]) => [path === '.' ? 'index' : path.slice(2), join(folder, source)]),
  );
}

/** Style sheets that a package exports, as `[export, source]`. */
export const stylesOf = ({ exports = {} }: Manifest): [string, string][] =>
  Object.entries(exports).filter(([, source]) => isStyle(source));

const isStyle = (source: string): boolean => source.endsWith('.css');
