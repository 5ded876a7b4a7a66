import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { addMembers, adminUrl, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import type { FanOut } from './fan-out-readers.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const listeners = 500;
const runMs = 4_000;
const warmUpMs = 3_000;
const text = 'x'.repeat(200);

/** A server with everybody in one conversation, and how a message is sent to it. */
interface Side {
  server: Child;
  readers: Child;
  send: string;
  framesPerMessage: number;
}

/** One message at a time to everybody in a large conversation, through the whole product. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const children: Child[] = [];
  const child = (file: string): Child => {
    const made = startChild(file);
    children.push(made);
    return made;
  };

  async function ours(): Promise<Side> {
    const env = { DATABASE_URL: database.url ?? '', CHAT_SEND_RATE_LIMIT: '100000000' };
    const stage = await startStage({ dataDir, env, conversations: 1, users: 1 });
    children.push(stage.child);
    const [room = ''] = stage.rooms;
    const users = Array.from({ length: listeners }, (_, at) => `user-${at}`);
    await addMembers(database, room, users);
    const greeting = JSON.stringify({ type: 'subscribe', id: 's', conversations: [{ ref: room, presence: false }] });
    const paths = tokensOf(stage, users).map((token) => `/v1/chat/ws?token=${token}`);
    const readers = child('./fan-out-readers.ts');
    await readers.ask({ open: { port: stage.port, paths, greeting, ready: '"conversations":[{' } });
    const send = JSON.stringify({ type: 'message.send', id: 'm', conversation: room, text });
    // Everybody gets the message, the sender its answer too.
    return { server: stage.child, readers, send, framesPerMessage: listeners + 1 };
  }

  async function peer(start: 'bare' | 'socket.io', frameBytes: number): Promise<Side> {
    const server = child('./fan-out-peers.ts');
    const { port } = await server.ask<{ port: number }>({ start, frameBytes });
    const readers = child('./fan-out-readers.ts');
    const isBare = start === 'bare';
    const path = isBare ? '/' : '/socket.io/?EIO=4&transport=websocket';
    const greeting = isBare ? null : '40';
    const ready = isBare ? 'ready' : '40{"sid"';
    await readers.ask({ open: { port, paths: Array(listeners).fill(path), greeting, ready } });
    return { server, readers, send: '42["send"]', framesPerMessage: listeners };
  }

  try {
    const product = await ours();
    const { frameBytes } = await run(product, warmUpMs);
    const bare = await peer('bare', frameBytes);
    const io = await peer('socket.io', frameBytes);
    for (const side of [bare, io]) await run(side, warmUpMs);
    const perCpuSecond = (side: Side) => async () => (await run(side, runMs)).perCpuSecond;
    return rowsOf(
      frameBytes,
      await bestOf({ ours: perCpuSecond(product), bare: perCpuSecond(bare), io: perCpuSecond(io) }),
    );
  } finally {
    for (const made of children) await made.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Deliveries a second of the server's CPU. */
async function run({ server, readers, send, framesPerMessage }: Side, ms: number) {
  await server.ask({ order: 'watch' });
  const { messages, frameBytes } = await readers.ask<FanOut>({ run: { send, framesPerMessage, ms } });
  const { cpuSeconds } = await server.ask<{ cpuSeconds: number }>({ order: 'watched' });
  return { frameBytes, perCpuSecond: (messages * listeners) / cpuSeconds };
}

function rowsOf(frameBytes: number, best: Record<'ours' | 'bare' | 'io', number>): Row[] {
  const unit = 'deliveries per CPU-second';
  const micros = (perSecond: number): string => `${(1e6 / perSecond).toFixed(1)} µs`;
  return [
    {
      question: `CPU of a delivery in a conversation of ${listeners}, one message at a time / bare sockets`,
      floor: { atMost: 1.2 },
      ratio: best.bare / best.ours,
      detail: `${micros(best.ours)} against ${micros(best.bare)}, frames of ${frameBytes} bytes; the message is stored and answered in ours`,
      bars: { unit, sides: { Parley: best.ours, 'bare sockets': best.bare } },
    },
    {
      question: `Deliveries in a conversation of ${listeners}, one message at a time / socket.io`,
      floor: { atLeast: 1.3 },
      ratio: best.ours / best.io,
      detail: `ours ${thousands(best.ours)}, socket.io ${thousands(best.io)} of a CPU-second`,
      bars: { unit, sides: { Parley: best.ours, 'socket.io': best.io } },
    },
  ];
}
