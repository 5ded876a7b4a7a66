/** Child process: the least that stores a message and tells ten: one `pg` insert, one answer, a frame to each socket. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Spent } from './cpu-usage.ts';

type BareOrder = { databaseUrl: string } | { order: 'watch' | 'watched' };

interface Sent {
  type: string;
  id: string;
  conversation: string;
  text: string;
}

const sockets = new Set<WebSocket>();
let cpu = process.cpuUsage();

async function start(databaseUrl: string): Promise<{ port: number }> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  await pool.query(
    'create table bare_messages (id text primary key, conversation text, text text, created_at timestamptz)',
  );
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (ws) => {
    sockets.add(ws);
    ws.on('close', () => sockets.delete(ws));
    ws.on('message', (data: Buffer) => void receive(pool, ws, JSON.parse(data.toString()) as Sent));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { port: (server.address() as AddressInfo).port };
}

async function receive(pool: pg.Pool, ws: WebSocket, { type, id: ref, conversation, text }: Sent): Promise<void> {
  if (type !== 'message.send') return;
  const message = { id: randomUUID(), conversation, text, createdAt: new Date().toISOString() };
  await pool.query('insert into bare_messages values ($1, $2, $3, $4)', Object.values(message));
  // As long as ours: 868 bytes.
  const frame = JSON.stringify({ type: 'message', message, rest: 'x'.repeat(520) });
  for (const socket of sockets) socket.send(frame);
  ws.send(JSON.stringify({ type: 'ack', ref, message }));
}

async function answer(order: BareOrder): Promise<object> {
  if ('databaseUrl' in order) return start(order.databaseUrl);
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, systemSeconds: system / 1e6 } satisfies Spent;
}

process.on('message', (order: BareOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
