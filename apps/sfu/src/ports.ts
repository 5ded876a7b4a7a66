import { createSocket } from 'node:dgram';

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
