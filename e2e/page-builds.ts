import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { builtDashboard } from '@parley/dashboard/files';
import { builtDocs } from '@parley/docs/files';
import { builtPlayground } from '@parley/playground/files';

/** What `npm install` does; free where the sources have not changed since. */
export function buildPages(): void {
  const builds = { docs: builtDocs, dashboard: builtDashboard, playground: builtPlayground };
  for (const [name, built] of Object.entries(builds)) {
    if (built() !== null) continue;
    const script = fileURLToPath(new URL(`../apps/${name}/build.ts`, import.meta.url));
    execFileSync(process.execPath, [script], { stdio: 'inherit' });
  }
}
