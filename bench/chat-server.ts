/** Child process: the whole service as `npm start` has it in production mode, with its own delay and CPU on show. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdapters } from '../apps/server/src/adapters/open.ts';
import { compose } from '../apps/server/src/compose.ts';
import { readConfig } from '../apps/server/src/config.ts';
import { systemClock } from '../apps/server/src/core/clock.ts';
import type { Db, Queryable } from '../apps/server/src/core/db.ts';
import { createLog } from '../apps/server/src/core/log.ts';
import type { Locks } from '../apps/server/src/core/ports.ts';
import type { Sql } from '../apps/server/src/core/sql.ts';
import type { Spent } from './cpu-usage.ts';

type ServerOrder = {
  order: 'start' | 'watch' | 'watched' | 'queued' | 'index' | 'leaveChores' | 'takeChores' | 'hear' | 'heard';
};

/** Since `watch`. */
export interface Watched extends Spent {
  delayP99Ms: number;
  /** Statements that only read, by their text; counted where COUNT_READS is set. */
  reads: Record<string, number>;
  residentBytes: number;
}

/** What came over the bus since `hear`: messages that others published, by channel. */
export interface Received {
  envelopes: Record<string, number>;
  /** Of all connections to Redis, heartbeats and answers included. */
  bytes: number;
}

/** Chores that one process of a fleet does for all are left to the others while this is set. */
let leavesChores = false;
const toRedis = new Set<Socket>();
const redisPort = process.env['REDIS_URL'] ? Number(new URL(process.env['REDIS_URL']).port) : null;
// Node says so of each connection that is opened, before anything has come.
subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  socket.once('connect', () => socket.remotePort === redisPort && toRedis.add(socket));
  socket.once('close', () => toRedis.delete(socket));
});

const config = readConfig(process.env);
const log = createLog(config.logLevel);
const adapters = await openAdapters(config, { clock: systemClock, log });
const reads = new Map<string, number>();
const isCounting = process.env['COUNT_READS'] === 'true';
const db = isCounting ? countReads(adapters.db) : adapters.db;
const locks: Locks = {
  ...adapters.locks,
  acquire: async (name, ttlMs) =>
    leavesChores && name.startsWith('chore/') ? false : await adapters.locks.acquire(name, ttlMs),
};
const service = await compose({ config, adapters: { ...adapters, db, locks }, clock: systemClock, log });
// What the histogram says beyond its own tick is the delay.
const tickMs = 10;
let delay = monitorEventLoopDelay({ resolution: tickMs });
let cpu = process.cpuUsage();

/** Bytes that wait in this process for one WebSocket, the most that was seen; looked at only once somebody has asked. */
const upgraded = new Set<Duplex>();
let queuedBytes = 0;
let isLooking = false;
service.app.server.on('upgrade', (_request, socket: Duplex) => {
  upgraded.add(socket);
  socket.once('close', () => upgraded.delete(socket));
});

function look(): void {
  for (const socket of upgraded) queuedBytes = Math.max(queuedBytes, socket.writableLength);
}

/** How the names of the bus' channels begin (`adapters/bus/redis.ts`). */
const channelMark = 'bus2/';
const envelopes = new Map<string, number>();
let heardFrom = new Map<Socket, number>();

/** Looks for the channels of the bus in what comes from Redis: nothing else that it sends has them, heartbeats neither. */
function listenToRedis(): void {
  envelopes.clear();
  for (const socket of toRedis) {
    if (!heardFrom.has(socket))
      socket.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(channelMark); at >= 0; at = chunk.indexOf(channelMark, at + 1)) {
          const channel = chunk.toString('latin1', at, at + 60).split('\r')[0] ?? '';
          envelopes.set(channel, (envelopes.get(channel) ?? 0) + 1);
        }
      });
  }
  heardFrom = new Map([...toRedis].map((socket) => [socket, socket.bytesRead]));
}

function countReads(db: Db): Db {
  const note = (statement: Sql): Sql => {
    const { text } = statement;
    if (!/\b(insert|update|delete)\b/.test(text)) reads.set(text, (reads.get(text) ?? 0) + 1);
    return statement;
  };
  const noting = <Q extends Queryable>(inner: Q): Q => ({
    ...inner,
    query: (statement: Sql) => inner.query(note(statement)),
    execute: (statement: Sql) => inner.execute(note(statement)),
  });
  return {
    ...noting(db),
    transaction: (work) => db.transaction((tx) => work(noting(tx))),
    batch: (statements) => db.batch(statements.map(note)),
  };
}

const answers = {
  async queued() {
    if (!isLooking) setInterval(look, 5).unref();
    isLooking = true;
    return { queuedBytes };
  },
  async start() {
    await service.start();
    return { url: service.address().url };
  },
  /** What sends have left to do until later: it is not to fall on who is measured next. */
  async index() {
    // A moment after a crowd it still counts as one.
    await sleep(200);
    return { indexed: await service.chat.sweep.search() };
  },
  async leaveChores() {
    leavesChores = true;
    return {};
  },
  async takeChores() {
    leavesChores = false;
    return {};
  },
  async hear() {
    listenToRedis();
    return {};
  },
  async heard(): Promise<Received> {
    const bytes = [...heardFrom].reduce((sum, [socket, before]) => sum + socket.bytesRead - before, 0);
    return { envelopes: Object.fromEntries(envelopes), bytes };
  },
  async watch() {
    delay.disable();
    delay = monitorEventLoopDelay({ resolution: tickMs });
    delay.enable();
    cpu = process.cpuUsage();
    reads.clear();
    return {};
  },
  async watched(): Promise<Watched> {
    const { user, system } = process.cpuUsage(cpu);
    return {
      delayP99Ms: delay.percentile(99) / 1e6 - tickMs,
      cpuSeconds: (user + system) / 1e6,
      systemSeconds: system / 1e6,
      reads: Object.fromEntries(reads),
      residentBytes: process.memoryUsage.rss(),
    };
  },
};

process.on('message', ({ order }: ServerOrder) => {
  answers[order]().then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
