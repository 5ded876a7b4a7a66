/** Every package that is published, in the order of publishing: what another one needs comes first (ADR 127). */
export interface PublishedPackage {
  folder: string;
  /**
   * `library`: bundled for applications, ESM and CommonJS, with types. `program`: each file without its types, as Node
   * itself runs it here, for Node alone.
   */
  kind: 'library' | 'program';
  description: string;
  /** Files and folders besides the code: where they are here, and where in the package. */
  carries?: Readonly<Record<string, string>>;
  /** Ships a new database, migrated, so that the first start need not make one. */
  hasTemplate?: true;
  /** Exports that are of use only in the repository. */
  without?: readonly string[];
  /** The build in the cache that is shipped as `pages`. */
  pages?: 'dashboard' | 'playground' | 'docs';
}

export const packages: readonly PublishedPackage[] = [
  {
    folder: 'packages/client',
    kind: 'library',
    description: 'Rooms, chat and live streams of Parley in the browser.',
  },
  {
    folder: 'packages/react',
    kind: 'library',
    description: 'Calls, chat and live streams of Parley as React components and hooks.',
  },
  { folder: 'packages/server-sdk', kind: 'library', description: 'Parley for your backend: API, tokens and webhooks.' },
  { folder: 'packages/media-description', kind: 'program', description: 'Media descriptions of Parley.' },
  { folder: 'packages/contract', kind: 'program', description: 'The tables of what Parley promises.' },
  { folder: 'packages/turn', kind: 'program', description: 'The TURN protocol of a Parley media node.' },
  {
    folder: 'packages/page-build',
    kind: 'program',
    description: 'Finds the built pages of Parley.',
    without: ['./build', './build-once'],
  },
  { folder: 'apps/sfu', kind: 'program', description: 'The media node of Parley.' },
  {
    folder: 'apps/docs',
    kind: 'program',
    description: 'The documentation that Parley serves.',
    without: ['./build'],
    carries: { 'docs/llms.txt': 'llms.txt', 'apps/docs/reference.css': 'reference.css' },
    pages: 'docs',
  },
  {
    folder: 'apps/dashboard',
    kind: 'program',
    description: 'The dashboard of Parley, built.',
    without: ['./build', './styles/*'],
    pages: 'dashboard',
  },
  {
    folder: 'apps/playground',
    kind: 'program',
    description: 'The playground of Parley, built.',
    without: ['./build'],
    pages: 'playground',
  },
  {
    folder: 'apps/server',
    kind: 'program',
    description: 'The server of Parley.',
    carries: { 'apps/server/migrations': 'migrations' },
    hasTemplate: true,
  },
  {
    folder: 'packages/create-parley',
    kind: 'program',
    description: 'An application of your own to start from: npm create parley.',
    carries: { 'packages/create-parley/starter': 'starter' },
  },
  { folder: 'packages/cli', kind: 'program', description: 'Runs Parley: npx @parley/cli dev.' },
];
