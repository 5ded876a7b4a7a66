/** Builds the playground into the cache, if there is no build of these sources yet: `node apps/playground/build.ts`. */
import { join } from 'node:path';
import { buildPages } from '@parley/page-build/build';
import { playground } from './files.ts';

await buildPages(playground, join(import.meta.dirname, 'vite.config.ts'));
