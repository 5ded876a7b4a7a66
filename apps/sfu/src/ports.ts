import { createSocket } from 'node:dgram';
import { availableParallelism } from 'node:os';
import type { NodeConfig } from './config.ts';

/** The wanted ports when all of them are free, else others that are: for development, where several nodes may run. */
export async function freeUdpPorts(wanted: number, count: number): Promise<number[]> {
  const ports = Array.from({ length: count }, (_, index) => wanted + index);
  if ((await Promise.all(ports.map(bind))).every((port) => port !== undefined)) return ports;
  const others: number[] = [];
  while (others.length < count) {
    const port = await bind(0);
    if (port !== undefined && !others.includes(port)) others.push(port);
  }
  return others;
}

/** The port that was bound for a moment; undefined when it is taken. */
function bind(port: number): Promise<number | undefined> {
  const socket = createSocket('udp6');
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind(port, () => {
      const { port: bound } = socket.address();
      socket.close(() => resolve(bound));
    });
  });
}

/** The UDP port of a media process, on this machine and as clients know it. */
export interface MediaPorts {
  udpPort: number;
  announcedPort: number;
}

/** Of each media process: one port after the other, or whichever are free. */
export async function chooseMediaPorts(config: NodeConfig): Promise<MediaPorts[]> {
  const processes = config.processes === 0 ? availableParallelism() : config.processes;
  const free = config.mayMoveUdpPort ? await freeUdpPorts(config.udpPort, processes) : undefined;
  return Array.from({ length: processes }, (_, index) => ({
    udpPort: free?.[index] ?? config.udpPort + index,
    announcedPort: free?.[index] ?? config.announcedUdpPort + index,
  }));
}
