/** Child process: one insert a message into PGlite in a folder, at an even rate. */
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import type { Spent } from './cpu-usage.ts';
import { percentile } from './ratio.ts';

type InsertOrder = { folder: string } | { run: { perSecond: number; ms: number } };

export interface Inserted extends Spent {
  sent: number;
  p50Ms: number;
}

let pg: PGlite | undefined;

async function open(folder: string): Promise<object> {
  pg = await PGlite.create({ dataDir: folder });
  await pg.exec(
    'create table bare_messages (id text primary key, conversation text, text text, created_at timestamptz)',
  );
  return {};
}

async function run({ perSecond, ms }: { perSecond: number; ms: number }): Promise<Inserted> {
  const cpu = process.cpuUsage();
  const tookMs: number[] = [];
  const start = performance.now();
  const sending: Promise<void>[] = [];
  const insert = async (): Promise<void> => {
    const at = performance.now();
    const values = [crypto.randomUUID(), 'room', 'x'.repeat(200), new Date().toISOString()];
    await pg?.query('insert into bare_messages values ($1, $2, $3, $4)', values);
    tookMs.push(performance.now() - at);
  };
  while (performance.now() - start < ms) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    while (sending.length < due) sending.push(insert());
    await wait(1);
  }
  await Promise.all(sending);
  const { user, system } = process.cpuUsage(cpu);
  const p50Ms = percentile(tookMs, 0.5);
  return { sent: tookMs.length, p50Ms, cpuSeconds: (user + system) / 1e6, systemSeconds: system / 1e6 };
}

process.on('message', (order: InsertOrder) => {
  const answer: Promise<object> = 'run' in order ? run(order.run) : open(order.folder);
  answer.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
