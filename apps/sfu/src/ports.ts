import { createSocket } from 'node:dgram';
import { availableParallelism } from 'node:os';
import type { NodeConfig } from './config.ts';

/** How many ports further on are tried before any free ones will do. */
const STEPS_MAX = 100;

/** Whether a UDP port is free; null when the machine does not have this family. */
type Bind = (type: 'udp4' | 'udp6', port: number) => Promise<boolean | null>;

/** The wanted ports when all of them are free, else the next ones that are: for development, where several nodes run. */
export async function freeUdpPorts(wanted: number, count: number, bind: Bind = bindOnce): Promise<number[]> {
  for (let first = wanted; first < wanted + STEPS_MAX; first++) {
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map((port) => isFree(port, bind)))).every(Boolean)) return ports;
  }
  throw new Error(`None of the UDP ports ${wanted} to ${wanted + STEPS_MAX + count - 2} is free.`);
}

/** On a machine without IPv6 as IPv4. */
const isFree = async (port: number, bind: Bind): Promise<boolean> =>
  ((await bind('udp6', port)) ?? (await bind('udp4', port))) === true;

/** Bound for a moment. */
function bindOnce(type: 'udp4' | 'udp6', port: number): Promise<boolean | null> {
  const socket = createSocket(type);
  return new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      socket.close();
      resolve(code === 'EAFNOSUPPORT' ? null : false);
    });
    socket.bind(port, () => socket.close(() => resolve(true)));
  });
}

/** The UDP port of a media process, on this machine and as clients know it. */
export interface MediaPorts {
  udpPort: number;
  announcedPort: number;
}

/** One after the other, for each media process. */
export function mediaPortsOf({ processes, udpPort }: Pick<NodeConfig, 'processes' | 'udpPort'>): number[] {
  const count = processes === 0 ? availableParallelism() : processes;
  return Array.from({ length: count }, (_, index) => udpPort + index);
}

/** Of each media process: one port after the other, or whichever are free. */
export async function chooseMediaPorts(config: NodeConfig): Promise<MediaPorts[]> {
  const wanted = mediaPortsOf(config);
  const free = config.mayMoveUdpPort ? await freeUdpPorts(config.udpPort, wanted.length) : undefined;
  return wanted.map((port, index) => ({
    udpPort: free?.[index] ?? port,
    announcedPort: free?.[index] ?? config.announcedUdpPort + index,
  }));
}
