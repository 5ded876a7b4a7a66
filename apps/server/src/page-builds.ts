import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { builtDashboard } from '@parley/dashboard/files';
import { builtDocs } from '@parley/docs/files';
import { builtPlayground } from '@parley/playground/files';
import type { Log } from './core/log.ts';

/** Where installing could not build the pages, processes beside the running service do. */
export function buildMissingPages(log: Log): void {
  for (const { what, script } of missingPages()) build(what, script, log);
}

/** What is not built, and the script that builds it. Published packages have everything built, and no script. */
export function missingPages(): { what: string; script: string }[] {
  const pages = [
    { what: 'the documentation', built: builtDocs, script: '@parley/docs/build' },
    { what: 'the dashboard', built: builtDashboard, script: '@parley/dashboard/build' },
    { what: 'the playground', built: builtPlayground, script: '@parley/playground/build' },
  ];
  return pages.flatMap(({ what, built, script }) =>
    built() === null ? [{ what, script: fileURLToPath(import.meta.resolve(script)) }] : [],
  );
}

function build(what: string, script: string, log: Log): void {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (text: Buffer) => {
    output += text;
  });
  child.on('error', (error) => log.error({ error }, `${what} could not be built`));
  child.on('exit', (code) => {
    if (code !== 0) log.error({ output: output.slice(-4_000) }, `${what} could not be built`);
  });
  // Stopping the service stops the build: it leaves only a folder that the next one clears.
  process.on('exit', () => child.kill());
}
