import { cpSync, existsSync, openAsBlob, renameSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, protocol } from '@electric-sql/pglite';
import { planner } from '../shared/planner.ts';
import { createStatementNames } from '../shared/statement-names.ts';
import { createMaintenance } from './maintenance.ts';
import type { Engine, Reply, Request, WireError, WireStatement, WorkerStart } from './messages.ts';
import { initDbStartParams } from './template.ts';
import { warmUp } from './warm-up.ts';
import { type Answer, readAnswer } from './wire-reader.ts';

// PGlite blocks its thread while a statement runs; here it blocks nobody but the next statement.

const port = parentPort;
if (!port) throw new Error('This file runs as a worker thread of embedded.ts.');
const start: WorkerStart = workerData;

const { serialize } = protocol;
const names = createStatementNames();
const prepared = new Set<string>();
let lastRequestAt = 0;
let isClosing = false;

const engine = await new Promise<Engine>((resolve) => port.once('message', resolve));
const pg = await open(start);
for (const [name, value] of Object.entries(planner)) exchange(serialize.query(`set ${name} = ${value}`));
port.on('message', (requests: Request[]) => {
  for (const request of requests) answer(request);
  lastRequestAt = performance.now();
});
const isFree = () => !isClosing && !pg.isInTransaction();
const isIdle = () => isFree() && performance.now() - lastRequestAt > 200;
const maintain = createMaintenance({ run: (text) => exchange(serialize.query(text)), isFree, isIdle });
scheduleMaintenance();
if (start.dataFolder !== null) guardDiskSpace(start.dataFolder, start.freeBytesMin);
reply({ status: 'ready' });
// Tests start hundreds of databases in memory, each for a few statements; and what is never optimised stays as it is.
const isNeverOptimised = process.execArgv.includes('--liftoff-only');
if (start.dataFolder !== null && !isNeverOptimised) await warmUp((text, values) => once({ text, values }), isIdle);

async function open({ dataFolder, templates, snapshotFile }: WorkerStart): Promise<PGlite> {
  if (dataFolder === null) {
    return await PGlite.create({
      ...engine,
      ...(snapshotFile ? { loadDataDir: await openAsBlob(snapshotFile) } : { initDbStartParams }),
    });
  }
  if (existsSync(dataFolder)) return await PGlite.create({ ...engine, dataDir: dataFolder });
  // In what is no data folder PGlite would run initdb first, for seconds.
  for (const template of templates.filter((folder) => existsSync(join(folder, 'PG_VERSION')))) {
    const copy = await openNew(dataFolder, async (half) => cpSync(template, half, { recursive: true })).catch(
      () => null,
    );
    // One that cannot be read or does not open only costs its time: the next may, and an empty one always can be made.
    if (copy) return copy;
  }
  return await openNew(dataFolder, async (half) => {
    await (await PGlite.create({ ...engine, dataDir: half, initDbStartParams })).close();
  });
}

/** Filled beside and renamed: a process killed meanwhile must not leave half a database behind. */
async function openNew(dataFolder: string, fill: (half: string) => Promise<void>): Promise<PGlite> {
  const half = `${dataFolder}.new`;
  rmSync(half, { recursive: true, force: true });
  await fill(half);
  renameSync(half, dataFolder);
  try {
    return await PGlite.create({ ...engine, dataDir: dataFolder });
  } catch (error) {
    // Nothing is in it yet; left there, every later start would take it for the database.
    rmSync(dataFolder, { recursive: true, force: true });
    throw error;
  }
}

/** Jittered: in step with a client that asks every second it would always find the database busy. */
function scheduleMaintenance(): void {
  const run = () => {
    maintain();
    scheduleMaintenance();
  };
  setTimeout(run, 4_000 + 2_000 * Math.random()).unref();
}

// PostgreSQL panics when its log finds the disk full, and cannot start again until there is room: stop writing earlier.
function guardDiskSpace(folder: string, freeBytesMin: number): void {
  let isReadOnly = false;
  const check = () => {
    const { bavail, bsize } = statfsSync(folder);
    const mustBeReadOnly = bavail * bsize < (isReadOnly ? 1.5 : 1) * freeBytesMin;
    if (mustBeReadOnly === isReadOnly || !isFree()) return;
    exchange(serialize.query(`set default_transaction_read_only = ${mustBeReadOnly ? 'on' : 'off'}`));
    isReadOnly = mustBeReadOnly;
  };
  check();
  setInterval(check, 500).unref();
}

function answer(request: Request): void {
  if (request.kind === 'close') return void close(request.id);
  if (request.kind === 'dump') return void dump(request.id);
  const { results, error } = request.kind === 'script' ? script(request.text) : carryOut(statementsOf(request));
  reply(error ? { id: request.id, status: 'failed', error } : { id: request.id, status: 'done', results });
}

function statementsOf(request: Extract<Request, { kind: 'statement' | 'batch' }>): readonly WireStatement[] {
  return request.kind === 'batch' ? request.statements : [request];
}

function script(text: string): Answer {
  // It may change the schema, and a plan made before would then fail.
  exchange(serialize.query('deallocate all'));
  names.forget();
  prepared.clear();
  return exchange(serialize.query(text));
}

/**
 * One message for the whole exchange: PGlite's own `query` crosses into WebAssembly six times. What is before one Sync is
 * one transaction.
 */
function carryOut(statements: readonly WireStatement[]): Answer {
  const parts: Uint8Array[] = [];
  const fresh = new Set<string>();
  for (const { text, values } of statements) {
    const name = names.nameOf(text) ?? '';
    if (!prepared.has(name) && !fresh.has(name)) parts.push(serialize.parse({ text, name }));
    if (name && !prepared.has(name)) fresh.add(name);
    parts.push(...executing(name, values));
  }
  const answered = exchange(Buffer.concat([...parts, serialize.sync()]));
  // After an error it is unknown whether a statement was stored: deallocating it is allowed either way.
  for (const name of fresh) {
    if (!answered.error) prepared.add(name);
    else exchange(Buffer.concat([serialize.close({ type: 'S', name }), serialize.sync()]));
  }
  return answered;
}

function executing(name: string, values: WireStatement['values']): Uint8Array[] {
  return [serialize.bind({ statement: name, values }), serialize.describe({ type: 'P' }), serialize.execute()];
}

/** Without a name, of which nothing is kept. */
function once({ text, values }: WireStatement): Answer {
  return exchange(Buffer.concat([serialize.parse({ text }), ...executing('', values), serialize.sync()]));
}

function exchange(message: Uint8Array): Answer {
  const answered = readAnswer(pg.execProtocolRawSync(message));
  // No end of answer: PostgreSQL inside has crashed. The parent starts a new worker, which recovers from the log.
  if (!answered.isWhole) process.exit(1);
  return answered;
}

async function dump(id: number): Promise<void> {
  try {
    exchange(serialize.query('checkpoint'));
    const tar = new Uint8Array(await (await pg.dumpDataDir('none')).arrayBuffer());
    reply({ id, status: 'dumped', tar });
  } catch (error) {
    reply({ id, status: 'failed', error: wireError(error) });
  }
}

async function close(id: number): Promise<void> {
  isClosing = true;
  try {
    await pg.close();
    reply({ id, status: 'done', results: [] });
  } catch (error) {
    reply({ id, status: 'failed', error: wireError(error) });
  }
}

function reply(message: Reply): void {
  port?.postMessage(message);
}

function wireError(error: unknown): WireError {
  const message = error instanceof Error ? error.message : String(error);
  return { message, code: undefined, constraint: undefined, table: undefined, column: undefined };
}
