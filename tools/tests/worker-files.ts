/**
 * The files of a worker: takes one after the other and runs each as a suite, so that modules are loaded once and one
 * service serves them all. See docs/adr/0258-how-the-tests-run.md.
 */
import { setPriority } from 'node:os';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { beWorker, stopShared } from '../../apps/server/testkit/kit/worker-life.ts';
import { claimNext } from './claims.ts';

/** A file that has not ended by then hangs. */
const fileTimeoutMs = 300_000;
/** What a file left open, or what does not stop, must not keep the run waiting. */
const exitTimeoutMs = 20_000;

beWorker();
preferIfAllowed(Number(process.env['PARLEY_TEST_NICE'] ?? 0));
// A test may wait for a timer that keeps no process alive: the next file is not to be given up with it.
const staysAlive = setInterval(() => undefined, fileTimeoutMs);
const ran: string[] = [];
const environment = { ...process.env };
for (let file = claimNext(); file !== null; file = claimNext()) {
  ran.push(file);
  const url = pathToFileURL(file).href;
  await describe(file, { timeout: fileTimeoutMs }, () => import(url));
  restoreEnvironment();
}
clearInterval(staysAlive);
setTimeout(() => {
  const open = process.getActiveResourcesInfo().join(', ');
  console.error(`The tests have ended and the process has not: ${open} is open after ${ran.join(', ')}.`);
  process.exit(1);
}, exitTimeoutMs).unref();
await stopShared();

/** A file finds it the same whatever ran before it: Vite, for one, leaves `NODE_ENV` as it has built for. */
function restoreEnvironment(): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}

/** With all that it starts: a test that judges pictures has the processor first. Only root may. */
function preferIfAllowed(nice: number): void {
  try {
    if (nice !== 0) setPriority(nice);
  } catch {
    // Then they share it: they are slower, and right all the same.
  }
}
