import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../../core/clock.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import type { WireValue } from '../shared/values.ts';
import { loadEngine } from './engine.ts';
import type { Reply, Request, StatementResult, WireError, WireStatement, WorkerStart } from './messages.ts';
import { noResult } from './wire-reader.ts';

/** One life of the worker. When it crashes its session rejects everything, so that no transaction goes on in the next. */
export interface Session {
  statement(text: string, values: WireValue[]): Promise<StatementResult>;
  /** Several as one transaction. */
  batch(statements: WireStatement[]): Promise<StatementResult[]>;
  script(text: string): Promise<void>;
  dump(): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface ThreadOptions extends WorkerStart {
  clock?: Clock;
  /** A statement that runs longer is taken for a frozen database: the worker is replaced, as if it had crashed. */
  statementTimeoutMs?: number;
  /** Says why it stopped and when it is started again. */
  log?: Log | undefined;
}

/** Doubles with each crash in a row: a folder that cannot be opened is not tried twice a second for ever. */
const restartPausesMs = { first: 500, last: 30_000 };
/** One that ran this long starts the pauses anew. */
const stableMs = 60_000;

/** Starts the worker and, when it dies, starts it again: the data folder recovers from its log as after a power switch. */
export function startDatabaseWorker(options: ThreadOptions) {
  const { clock = systemClock, statementTimeoutMs = 60_000, log, ...start } = options;
  const isDurable = start.dataFolder !== null;
  let closing: Promise<void> | null = null;
  let session: Session | null = null;
  const stopping = new AbortController();
  let openedAt = clock.elapsed();
  let pauseMs = restartPausesMs.first;

  const open = () => openSession(start, statementTimeoutMs, onCrash);

  function onCrash(error: unknown): void {
    session = null;
    if (clock.elapsed() - openedAt >= stableMs) pauseMs = restartPausesMs.first;
    if (isDurable) opening = restart(error);
    else log?.error({ error }, 'the embedded database stopped, and what it held in memory is gone');
  }

  async function restart(cause: unknown): Promise<void> {
    let error = cause;
    while (!closing && !session) {
      log?.error({ error, restartInMs: pauseMs }, 'the embedded database stopped and is started again');
      await clock.sleep(pauseMs, stopping.signal);
      pauseMs = Math.min(pauseMs * 2, restartPausesMs.last);
      if (closing) return;
      try {
        session = await open();
        openedAt = clock.elapsed();
        log?.info({}, 'the embedded database runs again');
      } catch (failure) {
        error = failure;
      }
    }
  }

  async function close(): Promise<void> {
    stopping.abort();
    await opening.catch(() => {}); // reported to the caller that opened it
    await session?.close();
    session = null;
  }

  const opened = open().then((first) => {
    session = first;
  });
  /** The last attempt: what it opens is closed too. */
  let opening = opened;
  return {
    /** Resolves when the first session runs. */
    opened,
    /** The running session. Throws `DatabaseUnavailable` before the first, and between a crash and the restart. */
    session(): Session {
      if (!session) throw new DatabaseUnavailable('The embedded database is starting.');
      return session;
    },
    close: (): Promise<void> => (closing ??= close()),
  };
}

interface Pending {
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
  sentAt: number;
  isLimited: boolean;
}

type Unsent = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

async function openSession(
  start: WorkerStart,
  statementTimeoutMs: number,
  onCrash: (error: unknown) => void,
): Promise<Session> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start });
  // It loads its own code meanwhile.
  loadEngine().then(
    (engine) => worker.postMessage(engine),
    () => worker.terminate(),
  );
  const pending = new Map<number, Pending>();
  let outbox: Request[] = [];
  let lastId = 0;
  let lastReplyAt = 0;
  let state: 'open' | 'closing' | 'ended' = 'open';
  let lastError: unknown = null;

  function post(request: Unsent): Promise<Reply> {
    if (state === 'ended') return Promise.reject(new DatabaseUnavailable('The embedded database has stopped.'));
    const id = ++lastId;
    if (outbox.length === 0) queueMicrotask(flush);
    outbox.push({ ...request, id });
    return new Promise((resolve, reject) => {
      pending.set(id, {
        resolve,
        reject,
        sentAt: performance.now(),
        isLimited: request.kind === 'statement' || request.kind === 'batch',
      });
    });
  }

  function flush(): void {
    const requests = outbox;
    outbox = [];
    worker.postMessage(requests);
  }

  function onReply(reply: Reply): void {
    if (reply.status === 'ready') return;
    lastReplyAt = performance.now();
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.status === 'failed') waiting?.reject(vendorError(reply.error));
    else waiting?.resolve(reply);
  }

  function endFrozen(): void {
    const [oldest] = pending.values();
    if (!oldest?.isLimited) return;
    if (performance.now() - Math.max(oldest.sentAt, lastReplyAt) <= statementTimeoutMs) return;
    lastError = new Error(`A statement has run for more than ${statementTimeoutMs} ms.`);
    void worker.terminate();
  }

  function onExit(): void {
    clearInterval(watchdog);
    const wasClosing = state !== 'open';
    state = 'ended';
    for (const { reject } of pending.values())
      reject(new DatabaseUnavailable('The embedded database stopped meanwhile.'));
    pending.clear();
    if (!wasClosing) onCrash(lastError);
  }

  await started(worker);
  const watchdog = setInterval(endFrozen, 1_000).unref();
  worker.on('message', onReply);
  worker.on('error', (error) => {
    // 'exit' follows.
    lastError = error;
  });
  worker.on('exit', onExit);

  return {
    statement: async (text, values) => resultsOf(await post({ kind: 'statement', text, values }))[0] ?? noResult(),
    batch: async (statements) => resultsOf(await post({ kind: 'batch', statements })),
    async script(text) {
      await post({ kind: 'script', text });
    },
    async dump() {
      const reply = await post({ kind: 'dump' });
      if (reply.status !== 'dumped') throw new Error(`Unexpected reply ${reply.status}.`);
      return reply.tar;
    },
    async close() {
      state = 'closing';
      await post({ kind: 'close' }).catch(() => {});
      await worker.terminate();
    },
  };
}

function started(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new DatabaseUnavailable('The embedded database did not start.'));
    worker.once('message', () => {
      worker.off('error', reject);
      worker.off('exit', onExit);
      resolve();
    });
    worker.once('error', reject);
    worker.once('exit', onExit);
  });
}

function resultsOf(reply: Reply): StatementResult[] {
  if (reply.status !== 'done') throw new Error(`Unexpected reply ${reply.status}.`);
  reply.results.forEach(withBuffers);
  return reply.results;
}

function withBuffers({ rows, byteColumns }: StatementResult): void {
  for (const column of byteColumns) {
    for (const row of rows) {
      const value = row[column];
      if (value instanceof Uint8Array) row[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }
}

const vendorError = ({ message, ...fields }: WireError): Error => Object.assign(new Error(message), fields);
