/**
 * Runs after `npm install`: prepares what the first start would otherwise make itself, more slowly. Nothing here may
 * fail an install, and nothing depends on it having run.
 */
import { execFile } from 'node:child_process';

const steps = [
  ['the database template', 'apps/server/src/prepare.ts'],
  ['the documentation', 'apps/docs/build.ts'],
  ['the dashboard', 'apps/dashboard/build.ts'],
  ['the playground', 'apps/playground/build.ts'],
] as const;

// Side by side: each of them waits for files as much as it computes.
for (const [what, script] of steps)
  execFile(process.execPath, [script], (error, _stdout, stderr) => {
    if (error) console.warn(`parley: ${what} was not prepared, and the first start takes longer: ${stderr.trim()}`);
  });
