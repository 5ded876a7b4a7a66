import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

interface SilentServer {
  url: string;
  /** So far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Takes connections and whatever is sent, and never answers. */
export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
