import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { newDataDir, spawnServer } from '../apps/server/testkit/kit/process.ts';
import type { Row } from './ratio.ts';

const prepareFile = fileURLToPath(new URL('../apps/server/src/prepare.ts', import.meta.url));
const rounds = 3;
const lookEveryMs = 5;
const withinMs = 30_000;

/** `npm start` on the embedded defaults, from the start of the process to the first 200 of /readyz. */
export async function rows(): Promise<Row[]> {
  // As `npm install` leaves it: a change since then is not what a newcomer has.
  await promisify(execFile)(process.execPath, [prepareFile]);
  const first: number[] = [];
  const later: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const dataDir = await newDataDir();
    // The same both times, as with a person who starts it again.
    const port = await ownPort();
    first.push(await startSeconds(dataDir, port));
    later.push(await startSeconds(dataDir, port));
    await rm(dataDir, { recursive: true, force: true });
  }
  return [rowOf('first', 4, first), rowOf('later', 2, later)];
}

function rowOf(which: string, atMost: number, seconds: readonly number[]): Row {
  const best = Math.min(...seconds);
  return {
    question: `API start, embedded, ${which}, in seconds`,
    floor: { atMost },
    ratio: best,
    detail: `all rounds: ${seconds.map((each) => each.toFixed(2)).join(', ')} s`,
    bars: { unit: 's', sides: { [which === 'first' ? 'an empty folder' : 'its second start']: best } },
  };
}

async function startSeconds(dataDir: string, port: number): Promise<number> {
  const begun = performance.now();
  const { child, output } = spawnServer({ PORT: String(port), DATA_DIR: dataDir });
  try {
    while (!(await isReady(port))) {
      const isLate = performance.now() - begun > withinMs;
      if (isLate || child.exitCode !== null) throw new Error(`the server did not start: ${output()}`);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    return (performance.now() - begun) / 1000;
  } finally {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  }
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
