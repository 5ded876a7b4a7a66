/** Where the built documentation is, and the files beside it that need no build. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createPageBuild, repository } from '@parley/page-build';

export const markdownFolder = join(repository, 'docs');

export const docs = createPageBuild('docs', import.meta.dirname, [
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
const shippedLlmsFile = join(import.meta.dirname, 'llms.txt');
/** For language models: what to read first (llmstxt.org). */
export const llmsFile = existsSync(shippedLlmsFile) ? shippedLlmsFile : join(markdownFolder, 'llms.txt');
