/** Builds the documentation into the cache, if there is no build of these sources yet: `node apps/docs/build.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildOnce } from '@parley/page-build/build-once';
import { docs, markdownFolder } from './files.ts';
import { allPages } from './src/pages.ts';

await buildOnce(docs, (folder) => {
  for (const [href, html] of allPages(markdownFolder)) {
    const file = join(folder, `${href}.html`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html);
  }
});
