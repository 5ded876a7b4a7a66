import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db, Row, Tx } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { Lock, type Sql } from '../../../core/sql.ts';
import { StartRefused } from '../../../core/start-refused.ts';
import { translateError } from '../shared/errors.ts';
import { createTransactionScope } from '../shared/transaction-scope.ts';
import { encodeValue } from '../shared/values.ts';
import { engineMajor } from './engine.ts';
import { lockFolder } from './folder-lock.ts';
import type { StatementResult } from './messages.ts';
import { createSessionQueue } from './session-queue.ts';
import { emptyTemplate } from './template.ts';
import { type Session, startDatabaseWorker } from './thread.ts';

interface EmbeddedDb extends Db {
  /** Resolves when it answers; before that every statement is unavailable. */
  readonly opened: Promise<void>;
  /** Everything as a tar that `openEmbedded({ snapshotFile })` starts from. */
  dump(): Promise<Uint8Array>;
}

/** Where the data is: a folder of our own (locked for this process), or memory, filled from a snapshot if there is one. */
type EmbeddedOptions = ({ folder: string } | { folder: null; snapshotFile?: string }) & {
  /** Templates of a new folder: the first that exists is copied. Default: an empty database. */
  templates?: readonly string[];
  /** After it a statement is taken for frozen and the engine is started again. */
  statementTimeoutMs?: number;
  freeBytesMin?: number;
  log?: Log;
};

/** PGlite in a worker thread behind the same `Db` as PostgreSQL. Throws `DataFolderLocked`. */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDb> {
  const db = beginEmbedded(options);
  try {
    await db.opened;
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** The same, opening while its owner does something else; who begins it closes it, even when it did not open. */
export function beginEmbedded(options: EmbeddedOptions): EmbeddedDb {
  if (options.folder !== null) refuseOtherMajor(options.folder);
  const lock = options.folder === null ? null : lockFolder(options.folder);
  const thread = startDatabaseWorker({
    dataFolder: options.folder === null ? null : join(options.folder, 'postgres'),
    templates: options.templates ?? [emptyTemplate()],
    snapshotFile: options.folder === null ? (options.snapshotFile ?? null) : null,
    freeBytesMin: options.freeBytesMin ?? 64 * 1024 * 1024,
    log: options.log,
    ...(options.statementTimeoutMs && { statementTimeoutMs: options.statementTimeoutMs }),
  });
  return createEmbedded(thread, () => lock?.release());
}

/** What another PostgreSQL wrote is moved by a backup, not opened. */
function refuseOtherMajor(folder: string): void {
  const file = join(folder, 'postgres', 'PG_VERSION');
  const major = existsSync(file) ? readFileSync(file, 'utf8').trim() : engineMajor;
  if (major === engineMajor) return;
  throw new StartRefused(
    `The data folder ${folder} was written by PostgreSQL ${major} and this version has ${engineMajor}: back it up with the Parley that wrote it, and restore that here.`,
  );
}

type Thread = ReturnType<typeof startDatabaseWorker>;

function createEmbedded(thread: Thread, onClosed: () => void): EmbeddedDb {
  const scope = createTransactionScope();
  const turns = createSessionQueue();
  let closing: Promise<void> | null = null;

  async function close(): Promise<void> {
    await thread.close();
    onClosed();
  }

  async function run(statement: Sql): Promise<StatementResult> {
    scope.assertOutside();
    return await translated(turns.ofStatement(() => send(thread.session(), statement)));
  }

  async function transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    scope.assertOutside();
    const end = await turns.ofTransaction();
    try {
      return await runTransaction(thread.session(), (tx) => scope.run(() => work(tx)));
    } finally {
      end();
    }
  }

  /** One message to the worker, which carries it out whole and alone: it needs no turn of a transaction, and no locks. */
  async function batch(statements: readonly Sql[]): Promise<Row[][]> {
    scope.assertOutside();
    const sent = statements.filter((statement) => !(statement instanceof Lock));
    const wire = sent.map(({ text, values }) => ({ text, values: values.map(encodeValue) }));
    const results = await translated(turns.ofStatement(() => thread.session().batch(wire)));
    let next = 0;
    return statements.map((statement) => (statement instanceof Lock ? [] : (results[next++]?.rows ?? [])));
  }

  async function script(...texts: readonly string[]): Promise<void> {
    scope.assertOutside();
    const end = await turns.ofTransaction();
    try {
      const session = thread.session();
      // A text with its own BEGIN leaves the one session inside it when it fails.
      for (const text of texts)
        await translated(session.script(text)).catch((error) => rollBackAndThrow(session, error));
    } finally {
      end();
    }
  }

  return {
    dialect: 'embedded',
    opened: thread.opened,
    transaction,
    batch,
    script,
    query: async <T extends object>(statement: Sql) => rowsOf<T>(await run(statement)),
    execute: async (statement) => (await run(statement)).count,
    async ping() {
      scope.assertOutside();
      const start = performance.now();
      await translated(turns.ofStatement(() => thread.session().statement('select 1', [])));
      return performance.now() - start;
    },
    async dump() {
      const end = await turns.ofTransaction();
      try {
        return await translated(thread.session().dump());
      } finally {
        end();
      }
    },
    close: () => (closing ??= close()),
  };
}

const send = (session: Session, statement: Sql): Promise<StatementResult> =>
  session.statement(statement.text, statement.values.map(encodeValue));

async function runTransaction<T>(session: Session, work: (tx: Tx) => Promise<T>): Promise<T> {
  let isOpen = true;
  const runInside = async (statement: Sql) => {
    if (!isOpen) throw new Error('This transaction has ended.');
    return await translated(send(session, statement));
  };
  const tx: Tx = {
    isTransaction: true,
    query: async <R extends object>(statement: Sql) => rowsOf<R>(await runInside(statement)),
    execute: async (statement) => (await runInside(statement)).count,
  };
  try {
    const begun = session.statement('begin', []);
    // Not awaited first: the worker keeps the order, and a failed BEGIN fails the statements after it too.
    const [value] = await Promise.all([work(tx), translated(begun)]);
    isOpen = false;
    const { command } = await translated(session.statement('commit', []));
    // COMMIT of a transaction in which a statement failed answers ROLLBACK and no error.
    if (command === 'ROLLBACK') throw new Error('A statement of this transaction failed: it was rolled back.');
    return value;
  } catch (error) {
    isOpen = false;
    return await rollBackAndThrow(session, error);
  }
}

async function rollBackAndThrow(session: Session, error: unknown): Promise<never> {
  // Without a session there is nothing to roll back: the crash did it.
  await session.statement('rollback', []).catch(() => {});
  throw error;
}

async function translated<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw translateError(error);
  }
}

// The caller names the row's type next to its SQL: this is the boundary where the database's answer becomes it.
const rowsOf = <T>(result: StatementResult): T[] => result.rows as T[];
