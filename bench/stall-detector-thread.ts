/** The thread of the stall detector: repeats the same work and compares the CPU time it took. */
import { parentPort } from 'node:worker_threads';

const steps = 100_000;
const everyMs = 4;
/** A stall is this many times the best run: nothing inside the machine does that to a loop that uses no memory. */
const stallFactor = 3;

let seed = 1;
let bestMs = Number.POSITIVE_INFINITY;

function work(): void {
  for (let step = 0; step < steps; step++) seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

// CPU time, not wall time: waiting for a busy CPU, above all under our own load, is no stall.
setInterval(() => {
  const started = performance.now();
  const before = cpuMs();
  work();
  const took = cpuMs() - before;
  bestMs = Math.min(bestMs, performance.now() - started);
  if (took > stallFactor * bestMs) parentPort?.postMessage(Date.now());
}, everyMs);
