/** Builds the dashboard into the cache, if there is no build of these sources yet: `node apps/dashboard/build.ts`. */
import { join } from 'node:path';
import { buildPages } from '@parley/page-build/build';
import { dashboard } from './files.ts';

await buildPages(dashboard, join(import.meta.dirname, 'vite.config.ts'));
