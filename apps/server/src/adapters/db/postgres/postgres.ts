import pg from 'pg';
import { type Clock, systemClock } from '../../../core/clock.ts';
import { DatabaseUnavailable, type Db, type Row, type Tx } from '../../../core/db.ts';
import { Lock, type Sql } from '../../../core/sql.ts';
import { isStalePlan, isUnavailable, translateError } from '../shared/errors.ts';
import { planner } from '../shared/planner.ts';
import { createStatementNames } from '../shared/statement-names.ts';
import { createTransactionScope } from '../shared/transaction-scope.ts';
import { decoderOf, encodeValue, type WireValue } from '../shared/values.ts';
import { attemptStatement, isRetryable, type Outcome } from './attempts.ts';
import { BatchQuery, type Descriptions } from './batch-query.ts';
import { createSilenceGuard } from './silence-guard.ts';

interface PostgresOptions {
  url: string;
  poolSize?: number;
  clock?: Clock;
  random?: () => number;
  statementTimeoutMs?: number;
}

// Below the 2 s within which a caller must get the error that the database is gone.
const connectTimeoutMs = 1_500;
/** Nobody waits for these any more: what is left of them is closed. */
const abandonedMs = 3_000;
const waitingMax = 1_000;
const attemptsMax = 4;

/** A statement whose values are as the wire takes them. */
interface Encoded {
  text: string;
  values: readonly WireValue[];
  isLock: boolean;
}

const encode = (statement: Sql): Encoded => ({
  text: statement.text,
  values: statement.values.map(encodeValue),
  isLock: statement instanceof Lock,
});

/** Sends one statement on a connection. */
type Send = (client: pg.PoolClient, text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>;

export function createPostgres(options: PostgresOptions): Db {
  const { clock = systemClock, random = Math.random } = options;
  const pool = createPool(options);
  const scope = createTransactionScope();
  const guard = createSilenceGuard((signal) => isAnswering(options.url, signal));
  const names = createStatementNames();
  const descriptions: Descriptions = new WeakMap();

  const send: Send = async (client, text, values = []) => {
    const query = { name: names.nameOf(text), text, values: values.map(encodeValue) };
    try {
      return await guard.watch(() => client.query(query));
    } catch (error) {
      if (isStalePlan(error)) names.forget();
      throw error;
    }
  };

  const batchOf = (statements: readonly Encoded[]): BatchQuery =>
    new BatchQuery(
      statements.map((statement) => ({ ...statement, name: names.nameOf(statement.text) })),
      { getTypeParser },
      descriptions,
    );

  async function sendBatch(client: pg.PoolClient, query: BatchQuery): Promise<Outcome<pg.QueryResult[]>> {
    const outcome = await attemptStatement(() => guard.watch(() => client.query(query).answer));
    if (outcome.status === 'done') return outcome;
    if (isStalePlan(outcome.error)) names.forget();
    return { ...outcome, broken: outcome.broken ?? (query.fresh.length > 0 ? outcome.error : undefined) };
  }

  async function connect(): Promise<pg.PoolClient> {
    if (pool.waitingCount >= waitingMax) throw new DatabaseUnavailable('Too many queries wait for the database.');
    try {
      const client = await take();
      client.on('error', ignore);
      return client;
    } catch (error) {
      throw translateError(error);
    }
  }

  async function take(): Promise<pg.PoolClient> {
    let taken: Promise<pg.PoolClient> | undefined;
    const ask = () => {
      taken = pool.connect();
      return taken;
    };
    try {
      return await guard.watch(ask, connectTimeoutMs);
    } catch (error) {
      // One that comes after all goes back.
      taken?.then((client) => client.release(), ignore);
      throw error;
    }
  }

  function release(client: pg.PoolClient, isBroken: boolean): void {
    client.off('error', ignore);
    client.release(isBroken);
  }

  /** Gives the connection to `attempt`, again and again while the database asks for it. */
  async function withConnection<T>(attempt: (client: pg.PoolClient) => Promise<Outcome<T>>): Promise<T> {
    scope.assertOutside();
    for (let count = 1; ; count += 1) {
      const client = await connect();
      const outcome = await attempt(client);
      release(client, outcome.broken !== undefined);
      if (outcome.status === 'done') return outcome.value;
      if (outcome.status === 'failed') throw translateError(outcome.error);
      if (count === attemptsMax)
        throw new DatabaseUnavailable('Too many conflicting writes.', { cause: outcome.error });
      await clock.sleep(5 * 2 ** count * (0.5 + random()));
    }
  }

  const run = (text: string, values?: readonly unknown[]) =>
    withConnection((client) => attemptStatement(() => send(client, text, values)));

  return {
    dialect: 'postgres',
    query: async <T extends object>({ text, values }: Sql) => rowsOf<T>(await run(text, values)),
    execute: async ({ text, values }) => (await run(text, values)).rowCount ?? 0,
    transaction: (work) =>
      withConnection((client) => attemptTransaction(client, send, (tx) => scope.run(() => work(tx)))),
    async batch(statements) {
      // Before a connection is taken: a value may be refused.
      const encoded = statements.map(encode);
      const results = await withConnection((client) => sendBatch(client, batchOf(encoded)));
      return results.map((result, at) => (statements[at] instanceof Lock ? [] : rowsOf<Row>(result)));
    },
    async script(...texts) {
      await withConnection((client) =>
        attemptStatement(() => runScript((part) => guard.watch(() => client.query(part)), texts)),
      );
      names.forget();
    },
    async ping() {
      const start = performance.now();
      await run('select 1');
      return performance.now() - start;
    },
    async close() {
      guard.stop();
      if (!pool.ending) await pool.end();
    },
  };
}

function createPool({ url, poolSize = 10, statementTimeoutMs = 15_000 }: PostgresOptions): pg.Pool {
  const settings = {
    // The decoders read ISO dates in UTC and hex bytes, whatever the server's own defaults are.
    timezone: 'UTC',
    datestyle: 'ISO',
    bytea_output: 'hex',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    ...planner,
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: abandonedMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'parley',
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    types: { getTypeParser },
  });
  // An idle connection that dies is dropped by the pool; without a listener Node would end the process.
  pool.on('error', ignore);
  return pool;
}

/** Any answer counts, a refusal too. */
async function isAnswering(url: string, signal: AbortSignal): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: abandonedMs });
  client.on('error', ignore);
  signal.addEventListener('abort', () => void client.end().catch(ignore));
  try {
    await client.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  } finally {
    client.end().catch(ignore);
  }
}

async function attemptTransaction<T>(
  client: pg.PoolClient,
  send: Send,
  work: (tx: Tx) => Promise<T>,
): Promise<Outcome<T>> {
  let isOpen = true;
  let conflict: unknown;
  const run = async ({ text, values }: Sql) => {
    if (!isOpen) throw new Error('This transaction has ended.');
    try {
      return await send(client, text, values);
    } catch (error) {
      // The work may wrap the error; that the transaction must run again does not depend on it.
      if (isRetryable(error)) conflict = error;
      throw translateError(error);
    }
  };
  const tx: Tx = {
    isTransaction: true,
    query: async <R extends object>(statement: Sql) => rowsOf<R>(await run(statement)),
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
  };
  try {
    await send(client, 'begin');
    const value = await work(tx);
    isOpen = false;
    const { command } = await send(client, 'commit');
    // COMMIT of a transaction in which a statement failed answers ROLLBACK and no error.
    if (command === 'ROLLBACK') throw new Error('A statement of this transaction failed: it was rolled back.');
    return { status: 'done', value };
  } catch (error) {
    isOpen = false;
    const broken = isUnavailable(error) ? error : await rollback(() => send(client, 'rollback'));
    const cause = conflict ?? (isRetryable(error) ? error : undefined);
    return cause ? { status: 'conflict', error: cause, broken } : { status: 'failed', error, broken };
  }
}

async function runScript(ask: (text: string) => Promise<unknown>, texts: readonly string[]): Promise<void> {
  try {
    for (const text of texts) await ask(text);
  } catch (error) {
    // A text with its own BEGIN leaves the connection inside it when it fails.
    await rollback(() => ask('rollback'));
    // And what an earlier text set would be in force for the next user of the connection.
    await rollback(() => ask('reset all'));
    throw error;
  }
}

async function rollback(ask: () => Promise<unknown>): Promise<unknown> {
  try {
    await ask();
    return undefined;
  } catch (error) {
    return error;
  }
}

// The caller names the row's type next to its SQL: this is the boundary where the database's answer becomes it.
const rowsOf = <T>(result: pg.QueryResult): T[] => result.rows as T[];

const getTypeParser = (oid: number, format?: string) =>
  format === 'binary' ? (value: unknown) => value : decoderOf(oid);

const ignore = (): void => {};
