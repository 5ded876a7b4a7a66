/** Receives webhooks in a process of its own and reports how old each event was when it arrived. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Timed } from './stall-detector.ts';

let arrived: Timed[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const at = Date.parse(JSON.parse(Buffer.concat(chunks).toString()).createdAt);
    arrived.push({ at, ms: performance.timeOrigin + performance.now() - at });
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  process.send?.({ arrived });
  arrived = [];
});
process.on('disconnect', () => process.exit(0));
