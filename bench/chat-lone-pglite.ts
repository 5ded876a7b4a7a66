/** Child process: one insert a message into PGlite in a folder, at an even rate. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';

interface InsertRun {
  perSecond: number;
  warmUpMs: number;
  runMs: number;
}

async function insertAt(pg: PGlite, perSecond: number, ms: number): Promise<number[]> {
  const tookMs: number[] = [];
  const start = performance.now();
  const sending: Promise<void>[] = [];
  const insert = async (): Promise<void> => {
    const at = performance.now();
    const values = [crypto.randomUUID(), 'room', 'x'.repeat(200), new Date().toISOString()];
    await pg.query('insert into bare_messages values ($1, $2, $3, $4)', values);
    tookMs.push(performance.now() - at);
  };
  while (performance.now() - start < ms) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    while (sending.length < due) sending.push(insert());
    await wait(1);
  }
  await Promise.all(sending);
  return tookMs;
}

async function run({ perSecond, warmUpMs, runMs }: InsertRun): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const pg = await PGlite.create({ dataDir: folder });
  try {
    await pg.exec(
      'create table bare_messages (id text primary key, conversation text, text text, created_at timestamptz)',
    );
    await insertAt(pg, perSecond, warmUpMs);
    const cpu = process.cpuUsage();
    const tookMs = await insertAt(pg, perSecond, runMs);
    const { user, system } = process.cpuUsage(cpu);
    const sorted = tookMs.toSorted((a, b) => a - b);
    return { cpuMicros: (user + system) / tookMs.length, p50Ms: sorted[Math.floor(sorted.length / 2)] ?? 0 };
  } finally {
    await pg.close();
    await rm(folder, { recursive: true, force: true });
  }
}

process.on('message', (order: InsertRun) => {
  run(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
