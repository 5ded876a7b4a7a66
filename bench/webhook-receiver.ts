/** Receives webhooks in a process of its own and tells how old each event was when it arrived. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let agesMs: number[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    agesMs.push(Date.now() - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).createdAt));
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  process.send?.({ agesMs });
  agesMs = [];
});
process.on('disconnect', () => process.exit(0));
