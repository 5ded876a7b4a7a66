import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../../core/clock.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';
import type { WireValue } from '../shared/values.ts';
import type { Reply, Request, StatementResult, WireError, WorkerStart } from './messages.ts';

/** One life of the worker. When it crashes its session rejects everything, so that no transaction goes on in the next. */
export interface Session {
  statement(text: string, values: WireValue[]): Promise<StatementResult>;
  script(text: string): Promise<StatementResult>;
  dump(): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface ThreadOptions extends WorkerStart {
  clock?: Clock;
  /** A statement that runs longer is taken for a frozen database: the worker is replaced, as if it had crashed. */
  statementTimeoutMs?: number;
}

const restartPauseMs = 500;

/** Starts the worker and, when it dies, starts it again: the data folder recovers from its log as after a power switch. */
export function startDatabaseWorker(options: ThreadOptions) {
  const { clock = systemClock, statementTimeoutMs = 60_000, ...start } = options;
  const isDurable = start.dataFolder !== null;
  let closing: Promise<void> | null = null;
  let session: Session | null = null;

  const open = () => openSession(start, statementTimeoutMs, onCrash);

  function onCrash(): void {
    session = null;
    if (isDurable) opening = restart();
  }

  async function restart(): Promise<void> {
    while (!closing && !session) {
      await clock.sleep(restartPauseMs);
      if (!closing) session = await open().catch(() => null);
    }
  }

  async function close(): Promise<void> {
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

async function openSession(start: WorkerStart, statementTimeoutMs: number, onCrash: () => void): Promise<Session> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start });
  const pending = new Map<number, Pending>();
  let outbox: Request[] = [];
  let lastId = 0;
  let lastReplyAt = 0;
  let state: 'open' | 'closing' | 'ended' = 'open';

  function post(request: Unsent): Promise<Reply> {
    if (state === 'ended') return Promise.reject(new DatabaseUnavailable('The embedded database has stopped.'));
    const id = ++lastId;
    if (outbox.length === 0) queueMicrotask(flush);
    outbox.push({ ...request, id });
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject, sentAt: performance.now(), isLimited: request.kind === 'statement' });
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
    if (performance.now() - Math.max(oldest.sentAt, lastReplyAt) > statementTimeoutMs) void worker.terminate();
  }

  function onExit(): void {
    clearInterval(watchdog);
    const wasClosing = state !== 'open';
    state = 'ended';
    for (const { reject } of pending.values())
      reject(new DatabaseUnavailable('The embedded database stopped meanwhile.'));
    pending.clear();
    if (!wasClosing) onCrash();
  }

  await started(worker);
  const watchdog = setInterval(endFrozen, 1_000).unref();
  worker.on('message', onReply);
  worker.on('error', () => {}); // 'exit' follows
  worker.on('exit', onExit);

  return {
    statement: async (text, values) => resultOf(await post({ kind: 'statement', text, values })),
    script: async (text) => resultOf(await post({ kind: 'script', text })),
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

function resultOf(reply: Reply): StatementResult {
  if (reply.status !== 'done') throw new Error(`Unexpected reply ${reply.status}.`);
  const { result } = reply;
  for (const column of result.byteColumns) {
    for (const row of result.rows) {
      const value = row[column];
      if (value instanceof Uint8Array) row[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }
  return result;
}

const vendorError = ({ message, ...fields }: WireError): Error => Object.assign(new Error(message), fields);
