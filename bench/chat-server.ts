/** Child process: the whole service as `npm start` has it in production mode, with its own delay and CPU on show. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdapters } from '../apps/server/src/adapters/open.ts';
import { compose } from '../apps/server/src/compose.ts';
import { readConfig } from '../apps/server/src/config.ts';
import { systemClock } from '../apps/server/src/core/clock.ts';
import type { Db, Queryable } from '../apps/server/src/core/db.ts';
import { createLog } from '../apps/server/src/core/log.ts';
import type { Sql } from '../apps/server/src/core/sql.ts';

type ServerOrder = { order: 'start' | 'watch' | 'watched' | 'queued' | 'index' };

/** Since `watch`. */
export interface Watched {
  delayP99Ms: number;
  cpuSeconds: number;
  /** Statements that only read, by their text; counted where COUNT_READS is set. */
  reads: Record<string, number>;
  residentBytes: number;
}

const config = readConfig(process.env);
const log = createLog(config.logLevel);
const adapters = await openAdapters(config, { clock: systemClock, log });
const reads = new Map<string, number>();
const isCounting = process.env['COUNT_READS'] === 'true';
const db = isCounting ? countReads(adapters.db) : adapters.db;
const service = await compose({ config, adapters: { ...adapters, db }, clock: systemClock, log });
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
