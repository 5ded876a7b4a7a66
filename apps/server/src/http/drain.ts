import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const lookEveryMs = 50;

/** Stops listening and lets requests in flight finish; whatever has not after `graceMs` is cut off. */
type Drain = (graceMs: number) => Promise<void>;

/** `closeWaiting` ends connections that the HTTP server does not know of yet. */
export function createDrain(app: FastifyInstance, closeWaiting: () => void = () => {}): Drain {
  const { server } = app;
  const open = trackConnections(server);

  function closeIdle(): void {
    // A connection is idle as soon as its answer is out; without this it would be kept for the next request.
    server.closeIdleConnections();
    closeWaiting();
    // Browsers open connections to spare, which Node counts as busy until they have had a request.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }

  return async (graceMs) => {
    const closed = app.close();
    const look = setInterval(closeIdle, lookEveryMs);
    const deadline = setTimeout(() => {
      for (const socket of open) socket.destroy();
    }, graceMs);
    try {
      await closed;
    } finally {
      clearInterval(look);
      clearTimeout(deadline);
    }
  };
}

/** All that are open, those too that the server has given away for an upgrade. */
function trackConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}
