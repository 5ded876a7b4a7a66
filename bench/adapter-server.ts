/** Child process: one of several socket.io servers that share a Redis. Messages come over HTTP, as to ours, and are not stored. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShardedAdapter } from '@socket.io/redis-adapter';
import { createClient } from 'redis';
import { Server as SocketIo } from 'socket.io';
import type { Spent } from './cpu-usage.ts';

type AdapterOrder =
  /** Everybody who connects is in all of these rooms. */
  { start: { redisUrl: string; rooms: number } } | { frameBytes: number } | { order: 'watch' | 'watched' };

let cpu = process.cpuUsage();
let filling = '';
/** Of a WebSocket frame of this size. */
const headBytes = 4;

async function start({ redisUrl, rooms }: { redisUrl: string; rooms: number }): Promise<{ port: number }> {
  const [publishing, subscribed] = [createClient({ url: redisUrl }), createClient({ url: redisUrl })];
  await Promise.all([publishing.connect(), subscribed.connect()]);
  const server = createServer();
  const io = new SocketIo(server, {
    transports: ['websocket'],
    pingInterval: 600_000,
    perMessageDeflate: false,
    // Its default: a channel a room, heard where somebody is in it, as ours are.
    adapter: createShardedAdapter(publishing, subscribed, { subscriptionMode: 'dynamic' }),
  });
  const names = Array.from({ length: rooms }, (_, at) => `room-${at}`);
  io.on('connection', (one) => void one.join(names));
  server.on('request', (request, response) => void take(io, request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port };
}

/** `POST /room-7`: to everybody there, in whichever process. */
async function take(io: SocketIo, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { clientMessageId } = JSON.parse(body) as { clientMessageId: string };
  const message = { clientMessageId, text: filling };
  io.to((request.url ?? '').slice(1)).emit('message', message);
  const text = JSON.stringify(message);
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

async function answer(order: AdapterOrder): Promise<object> {
  if ('start' in order) return start(order.start);
  if ('frameBytes' in order) {
    const withoutText = `42["message",{"clientMessageId":"c0-${Date.now() * 1000}","text":""}]`;
    filling = 'x'.repeat(Math.max(0, order.frameBytes - headBytes - withoutText.length));
    return {};
  }
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, systemSeconds: system / 1e6 } satisfies Spent;
}

process.on('message', (order: AdapterOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
