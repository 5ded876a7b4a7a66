/** Child process: a bare `ws` server that greets, takes a subscription for granted and answers heartbeats; nothing else. */
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Spent } from './cpu-usage.ts';

type BareOrder = { order: 'start' | 'watch' | 'watched' };

const subscribed = JSON.stringify({ type: 'ack', ref: 's', data: { conversations: [] } });
let cpu = process.cpuUsage();

async function start(): Promise<{ port: number }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (ws) => {
    ws.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'ping') ws.send(`{"type":"pong","serverTime":${Date.now()},"ts":${Date.now()}}`);
      else ws.send(subscribed);
    });
    ws.send('{"type":"hello"}');
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { port: (server.address() as AddressInfo).port };
}

function watched(): Spent & { residentBytes: number } {
  const { user, system } = process.cpuUsage(cpu);
  return {
    cpuSeconds: (user + system) / 1e6,
    systemSeconds: system / 1e6,
    residentBytes: process.memoryUsage.rss(),
  };
}

async function answer({ order }: BareOrder): Promise<object> {
  if (order === 'start') return start();
  const result = watched();
  if (order === 'watch') cpu = process.cpuUsage();
  return result;
}

process.on('message', (order: BareOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
