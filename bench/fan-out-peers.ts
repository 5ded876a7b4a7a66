/** Child process: what a message to everybody costs a server that does nothing else: bare sockets, or socket.io. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as SocketIo } from 'socket.io';
import { frameText } from '../apps/server/src/core/socket.ts';
import type { Spent } from './cpu-usage.ts';

type PeerOrder = { start: 'bare' | 'socket.io'; frameBytes: number } | { order: 'watch' | 'watched' };

let cpu = process.cpuUsage();

/** Takes whatever a client says for a message, and writes one frame to each socket: no reading, no queue, no accounting. */
function startBare(server: Server, frameBytes: number): void {
  const sockets: Duplex[] = [];
  const filling = 'x'.repeat(frameBytes - frameText('{"type":"message","text":""}').length - 2);
  server.on('upgrade', (_request, duplex: Duplex) => {
    duplex.on('error', () => undefined);
    duplex.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\nready');
    sockets.push(duplex);
    duplex.on('data', (chunk: Buffer) => {
      // Those that came together are a message each: a short head with its mask, and less than 126 bytes.
      for (let at = 0; at < chunk.length; at += 6 + ((chunk[at + 1] ?? 0) & 127)) {
        const frame = frameText(JSON.stringify({ type: 'message', text: filling }));
        for (const one of sockets) one.write(frame);
      }
    });
  });
}

function startSocketIo(server: Server, frameBytes: number): void {
  const io = new SocketIo(server, { transports: ['websocket'], pingInterval: 600_000, perMessageDeflate: false });
  const text = 'x'.repeat(frameBytes - frameText('42["message",{"text":""}]').length - 2);
  io.on('connection', (one) => {
    void one.join('room');
    one.on('send', () => io.to('room').emit('message', { text }));
  });
}

async function answer(order: PeerOrder): Promise<object> {
  if ('start' in order) {
    const server = createServer();
    (order.start === 'bare' ? startBare : startSocketIo)(server, order.frameBytes);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { port: (server.address() as AddressInfo).port };
  }
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, systemSeconds: system / 1e6 } satisfies Spent;
}

process.on('message', (order: PeerOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
