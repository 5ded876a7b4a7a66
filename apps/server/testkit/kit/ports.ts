import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const attemptsMax = 20;

/** For one that must know its port before it listens: starts it on random ports until one is not taken. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(somePort());
    } catch (error) {
      if (attempt === attemptsMax || !isPortTaken(error)) throw error;
    }
  }
}

/** Of those that the system hands out to nobody who does not ask for one. */
const somePort = (): number => randomInt(12_000, 32_000);

/** In this process, or as one that we started says it. */
const isPortTaken = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'EADDRINUSE') || /Port \d+ is in use/.test(error.message));

/** A port that was free a moment ago, for one that is to be started several times on it. */
export async function freePort(): Promise<number> {
  return await onFreePort(async (port) => {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    await new Promise((resolve) => server.close(resolve));
    return port;
  });
}
