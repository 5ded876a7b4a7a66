import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readLimits } from '@parley/contract';
import { Server as SocketIo } from 'socket.io';
import { systemClock } from '../apps/server/src/core/clock.ts';
import { createIds } from '../apps/server/src/core/ids.ts';
import { createLog } from '../apps/server/src/core/log.ts';
import { type Connection, frameText, type SocketSession, socket } from '../apps/server/src/core/socket.ts';
import { createSockets } from '../apps/server/src/sockets/index.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const socketCount = 1000;
const turns = 400;
const queued = 10;

/** What a chat message looks like on the wire, about 400 bytes. */
const event = {
  type: 'message',
  conversationId: 'conv_01jcm4x1m8c3t0v5m9q2w7e4',
  change: 4711,
  message: { id: 'msg_01jcm4x1m8c3t0v5m9q2w7e5', seq: 4700, text: 'x'.repeat(200), senderId: 'user-1', edited: false },
  ts: 1_731_600_000_000,
};

/** Something that can send one event to all its sockets. */
interface Sender {
  name: string;
  eventBytes: number;
  /** Sends `count` events in one event-loop turn. */
  send(count: number): void;
  close(): void;
}

const listen = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};

function readers(): ChildProcess {
  return fork(new URL('./socket-readers.ts', import.meta.url), { execArgv: ['--disable-warning=ExperimentalWarning'] });
}

async function ask(child: ChildProcess, message: object): Promise<void> {
  const answer = once(child, 'message');
  child.send(message);
  await answer;
}

/** The least that can be done: a prebuilt frame, one write a socket. */
async function bareSender(child: ChildProcess): Promise<Sender> {
  const sockets: Duplex[] = [];
  const server = createServer();
  server.on('upgrade', (_request, duplex: Duplex) => {
    duplex.on('error', () => undefined);
    duplex.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\nready');
    sockets.push(duplex);
  });
  const port = await listen(server);
  await ask(child, { open: { port, path: '/', count: socketCount, ready: 'ready' } });
  const frame = frameText(JSON.stringify(event));
  return {
    name: 'bare sockets',
    eventBytes: frame.length,
    send(count) {
      for (let at = 0; at < count; at++) for (const one of sockets) one.write(frame);
    },
    close: () => server.close(),
  };
}

/** Our sockets as the service runs them. */
async function ourSender(child: ChildProcess): Promise<Sender> {
  const connections: Connection<SocketSession>[] = [];
  const unlimited = async () => ({ isAllowed: true, remaining: 1, resetSeconds: 1 });
  const bench = socket({
    path: '/v1/bench',
    subprotocol: 'svc.bench.v1',
    frames: {},
    handlers: {},
    authFrame: 'auth' as never,
    replyType: 'ack',
    frameBytesMax: 65_536,
    heartbeatTimeoutMs: 600_000,
    authenticate: async () => ({
      projectId: 'bench',
      environment: 'DEVELOPMENT',
      userId: 'user',
      tokenId: 'token',
      keyId: null,
      issuedAt: 0,
      subject: 'user',
      expiresAt: Number.MAX_SAFE_INTEGER,
    }),
    opened(connection) {
      connections.push(connection);
      connection.send('hello', { isReady: true });
    },
    expiring: () => undefined,
    draining: () => undefined,
    closed: () => undefined,
  });
  const sockets = createSockets({
    clock: systemClock,
    log: createLog('silent'),
    limits: readLimits({ SOCKETS_MAX_PER_SUBJECT: '1000000' }).limits,
    rateLimiter: { take: unlimited, spend: unlimited, spendFor: unlimited, clear: async () => {} },
    ids: createIds(systemClock),
    random: Math.random,
    sockets: [bench],
    isOriginAllowed: async () => true,
    requestIdOf: () => 'req_bench',
    ipOf: () => '127.0.0.1',
    refuse: (error) => ({ status: 400, headers: {}, body: { code: error.code } }),
  });
  const server = createServer();
  server.on('upgrade', sockets.upgrade);
  const port = await listen(server);
  await ask(child, { open: { port, path: '/v1/bench?token=t', count: socketCount, ready: '"isReady":true' } });
  await settle();
  const text = JSON.stringify(event);
  return {
    name: 'ours',
    eventBytes: frameText(text).length,
    send(count) {
      // Encoding is part of the work: once an event, not once a socket.
      for (let at = 0; at < count; at++) {
        const frame = frameText(JSON.stringify(event));
        for (const connection of connections) connection.write(frame);
      }
    },
    close() {
      void sockets.stop();
      server.close();
    },
  };
}

async function socketIoSender(child: ChildProcess): Promise<Sender> {
  const server = createServer();
  const io = new SocketIo(server, { transports: ['websocket'], pingInterval: 600_000, perMessageDeflate: false });
  io.on('connection', (one) => void one.join('room'));
  const port = await listen(server);
  const path = '/socket.io/?EIO=4&transport=websocket';
  await ask(child, { open: { port, path, count: socketCount, greeting: '40', ready: '40{"sid"' } });
  await settle();
  return {
    name: 'socket.io',
    eventBytes: frameText(`42${JSON.stringify(['message', event])}`).length,
    send(count) {
      for (let at = 0; at < count; at++) io.to('room').emit('message', event);
    },
    close: () => void io.close(),
  };
}

/** Lets the last bytes of the greeting arrive before anything is counted. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

/** Deliveries per second of the sender's CPU, until the last byte has arrived: what the readers spend is not ours. */
async function deliveries(sender: Sender, child: ChildProcess, perTurn: number, rounds: number): Promise<number> {
  await ask(child, { expect: sender.eventBytes * socketCount * perTurn * rounds });
  const done = once(child, 'message');
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    sender.send(perTurn);
    await nextTurn();
    await nextTurn();
  }
  await done;
  const { user, system } = process.cpuUsage(start);
  return (perTurn * rounds * socketCount * 1e6) / (user + system);
}

async function withSenders<T>(
  makers: ((child: ChildProcess) => Promise<Sender>)[],
  work: (sides: { sender: Sender; child: ChildProcess }[]) => Promise<T>,
): Promise<T> {
  const sides: { sender: Sender; child: ChildProcess }[] = [];
  for (const make of makers) {
    const child = readers();
    sides.push({ child, sender: await make(child) });
  }
  try {
    return await work(sides);
  } finally {
    for (const { child, sender } of sides) {
      await ask(child, { close: true });
      child.kill();
      sender.close();
    }
  }
}

const unit = 'per CPU-second';

export async function rows(): Promise<Row[]> {
  return withSenders([bareSender, ourSender, socketIoSender], async ([bare, ours, io]): Promise<Row[]> => {
    if (!bare || !ours || !io) throw new Error('a side is missing');
    const at = (side: typeof bare, perTurn: number) => () =>
      deliveries(side.sender, side.child, perTurn, Math.ceil(turns / perTurn));
    const single = await bestOf({ bare: at(bare, 1), ours: at(ours, 1), io: at(io, 1) });
    const joined = await bestOf({ bare: at(bare, queued), ours: at(ours, queued), io: at(io, queued) });
    return [
      {
        question: `WS fan-out to ${socketCount} sockets / bare sockets`,
        floor: { atLeast: 0.85 },
        ratio: single.ours / single.bare,
        detail: `ours ${thousands(single.ours)}, bare ${thousands(single.bare)}`,
        bars: { unit, sides: { Parley: single.ours, 'bare sockets': single.bare } },
      },
      {
        question: `WS fan-out, ${queued} queued / bare single writes`,
        floor: { atLeast: 2.5 },
        ratio: joined.ours / joined.bare,
        detail: `ours ${thousands(joined.ours)}, bare ${thousands(joined.bare)}`,
        bars: { unit, sides: { Parley: joined.ours, 'bare sockets': joined.bare } },
      },
      {
        question: `WS fan-out / socket.io room emit, both with ${queued} events a turn`,
        floor: { atLeast: 3 },
        ratio: joined.ours / joined.io,
        detail: `ours ${thousands(joined.ours)}, socket.io ${thousands(joined.io)}`,
        bars: { unit, sides: { Parley: joined.ours, 'socket.io': joined.io } },
      },
      {
        // No floor: with nothing to join, bare sockets are the most that can be had, and they do not reach it either.
        question: 'WS fan-out / socket.io room emit, one event a turn',
        floor: null,
        ratio: single.ours / single.io,
        detail: `ours ${thousands(single.ours)}, socket.io ${thousands(single.io)}; bare sockets would be ${(single.bare / single.io).toFixed(2)}`,
        bars: { unit, sides: { Parley: single.ours, 'socket.io': single.io, 'bare sockets': single.bare } },
      },
    ];
  });
}
