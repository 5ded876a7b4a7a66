import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** Why a media port could not be bound; null when it could. */
export async function bindProblem(host: string | null, port: number): Promise<NodeJS.ErrnoException | null> {
  const socket = createSocket(isIPv6(host ?? '') ? 'udp6' : 'udp4');
  try {
    return await bind(socket, port, host ?? undefined);
  } finally {
    socket.close();
  }
}

export const bind = (socket: Socket, port: number, address?: string): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    socket.once('error', resolve);
    socket.bind({ port, ...(address !== undefined && { address }) }, () => resolve(null));
  });
