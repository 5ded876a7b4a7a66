import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { builtDashboard } from '@parley/dashboard/files';
import type { Log } from './core/log.ts';

/** Where installing could not build the dashboard, a process beside the running service does. */
export function buildDashboardIfMissing(log: Log): void {
  if (builtDashboard() !== null) return;
  const script = fileURLToPath(import.meta.resolve('@parley/dashboard/build'));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (text: Buffer) => {
    output += text;
  });
  child.on('error', (error) => log.error({ error }, 'the dashboard could not be built'));
  child.on('exit', (code) => {
    if (code !== 0) log.error({ output: output.slice(-4_000) }, 'the dashboard could not be built');
  });
  // Stopping the service stops the build: it leaves only a folder that the next one clears.
  process.on('exit', () => child.kill());
}
