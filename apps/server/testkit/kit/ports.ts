import { randomInt } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const attemptsMax = 20;
/** Ports that the system hands out to nobody who does not ask for one. */
const ranges = { passing: [12_000, 22_000], owned: [22_000, 32_000] } as const;

/** For one that must know its port before it listens: starts it on random ports until one is not taken. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(randomInt(...ranges.passing));
    } catch (error) {
      if (attempt === attemptsMax || !isPortTaken(error)) throw error;
    }
  }
}

/** In this process, or as one that we started says it. */
const isPortTaken = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'EADDRINUSE') || /Port \d+ is in use/.test(error.message));

/** A port that no other test of any process gets while this one lives, for what is started on it later, or again. */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(...ranges.owned);
    if (claim(port) && (await isFree(port))) return port;
  }
}

const marks: string[] = [];

/** Claimed by whoever creates its mark. */
function claim(port: number): boolean {
  const mark = join(tmpdir(), `parley-port-${port}`);
  try {
    closeSync(openSync(mark, 'wx'));
  } catch {
    return false;
  }
  if (marks.length === 0) process.once('exit', removeMarks);
  marks.push(mark);
  return true;
}

function removeMarks(): void {
  for (const mark of marks) rmSync(mark, { force: true });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
