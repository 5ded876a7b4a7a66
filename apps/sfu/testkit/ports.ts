import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';

/** A UDP port that is free now, with those after it, of which each media process takes one. */
export async function freeUdpPort(): Promise<number> {
  for (;;) {
    // The system hands these out to nobody who does not ask for one.
    const port = randomInt(12_000, 32_000);
    const taken = await Promise.all([0, 1, 2, 3].map((more) => isTaken(port + more)));
    if (!taken.includes(true)) return port;
  }
}

async function isTaken(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const failed = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(true));
    socket.bind(port, () => resolve(false));
  });
  await new Promise<void>((resolve) => socket.close(resolve));
  return failed;
}
