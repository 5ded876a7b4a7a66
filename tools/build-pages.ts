/**
 * Builds the pages that installing did not, and fails where one cannot be built: an image without a dashboard must not
 * come to be.
 */
import { spawnSync } from 'node:child_process';
import { missingPages } from '../apps/server/src/page-builds.ts';

for (const { script } of missingPages()) spawnSync(process.execPath, [script], { stdio: 'inherit' });
const missing = missingPages().map(({ what }) => what);
if (missing.length > 0) {
  console.error(`Not built: ${missing.join(', ')}.`);
  process.exit(1);
}
