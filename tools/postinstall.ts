/**
 * Runs after `npm install`: prepares what the first start would otherwise make itself, more slowly. Nothing here may
 * fail an install, and nothing depends on it having run.
 */
import { spawnSync } from 'node:child_process';

const steps = [
  ['the database template', 'apps/server/src/prepare.ts'],
  ['the documentation', 'apps/docs/build.ts'],
  ['the dashboard', 'apps/dashboard/build.ts'],
  ['the playground', 'apps/playground/build.ts'],
] as const;

for (const [what, script] of steps) {
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status !== 0)
    console.warn(`parley: ${what} was not prepared, and the first start takes longer: ${stderr.trim()}`);
}
