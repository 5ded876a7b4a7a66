/** Where the built documentation is, and the files beside it that need no build. */
import { join } from 'node:path';
import { createPageBuild, repository } from '@parley/page-build';

export const markdownFolder = join(repository, 'docs');

export const docs = createPageBuild('docs', [
  'apps/docs/{build.ts,files.ts,package.json}',
  'apps/docs/src/*.ts',
  'docs/**/*.md',
  'packages/contract/src/**/*.ts',
  'packages/page-build/src/*.ts',
  'package-lock.json',
]);
export const builtDocs = docs.built;

/** Stands in the built pages for the address of the installation, which only the server knows. */
export const publicUrlMark = '__PUBLIC_URL__';

export const stylesheet = join(import.meta.dirname, 'reference.css');
/** For language models: what to read first (llmstxt.org). */
export const llmsFile = join(markdownFolder, 'llms.txt');
