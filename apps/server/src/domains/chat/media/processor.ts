import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../core/clock.ts';
import type { MediaKind } from './kinds.ts';
import type { MediaReply, MediaRequest } from './messages.ts';

/** `failed`: the process ended over it, or took too long. */
type MediaOutcome = MediaReply | { is: 'failed'; why: string };

export interface MediaProcessor {
  /** One at a time; never rejects but for what the content does. */
  read(file: { kind: MediaKind; mimeType: string }, content: Readable): Promise<MediaOutcome>;
  /** Whether a process runs now. */
  isRunning(): boolean;
  stop(): void;
}

const readMsMax = 30_000;
const idleMs = 30_000;
const heapMegabytes = 256;

/**
 * A process of its own rather than a thread: a crash in the library's C code would end a thread's whole process, and
 * only a process can be stopped in the middle of such code (ADR 0215). It starts with the first file and ends when idle.
 */
export function createMediaProcessor({ clock, path }: { clock: Clock; path?: string }): MediaProcessor {
  const entry = path ?? fileURLToPath(new URL('./media-process.ts', import.meta.url));
  let child: ChildProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let resting: AbortController | null = null;
  let isStopped = false;

  function start(): ChildProcess {
    const made = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [`--max-old-space-size=${heapMegabytes}`, '--disable-warning=ExperimentalWarning'],
      // It opens files of strangers: no key and no address of ours is known to it.
      env: {},
    });
    made.on('error', () => forget(made));
    made.on('exit', () => forget(made));
    // Work that nobody waits for does not keep the service from ending.
    made.unref();
    made.channel?.unref();
    return made;
  }

  function forget(made: ChildProcess): void {
    if (child === made) child = null;
  }

  function end(): void {
    child?.kill('SIGKILL');
    child = null;
  }

  function rest(): void {
    const waiting = new AbortController();
    resting = waiting;
    clock.sleep(idleMs, waiting.signal).then(() => waiting.signal.aborted || end());
  }

  async function exchange(file: { kind: MediaKind; mimeType: string }, content: Readable): Promise<MediaOutcome> {
    if (isStopped) return { is: 'failed', why: 'stopping' };
    resting?.abort();
    child ??= start();
    const worker = child;
    const finished = new AbortController();
    const { signal } = finished;
    const ended = once(worker, 'exit', { signal }).then(() => ({ is: 'failed', why: 'the process ended' }) as const);
    const answered = once(worker, 'message', { signal }).then(([reply]) => reply as MediaReply);
    const late = clock.sleep(readMsMax, signal).then(() => ({ is: 'failed', why: 'it took too long' }) as const);
    const given = give(worker, file, content).then(() => answered);
    try {
      const outcome = await Promise.race([given, ended, late]);
      if (outcome.is === 'failed') end();
      return outcome;
    } finally {
      finished.abort();
      for (const one of [ended, answered, given]) one.catch(() => {});
      content.destroy();
      rest();
    }
  }

  return {
    isRunning: () => child !== null,
    read(file, content) {
      const mine = last.then(() => exchange(file, content));
      last = mine.catch(() => {});
      return mine;
    },
    stop() {
      isStopped = true;
      resting?.abort();
      end();
    },
  };
}

/** A piece at a time: nothing waits for a large file to be handed over. */
async function give(
  worker: ChildProcess,
  { kind, mimeType }: { kind: MediaKind; mimeType: string },
  content: Readable,
): Promise<void> {
  await tell(worker, { is: 'begin', kind, mimeType });
  for await (const bytes of content) await tell(worker, { is: 'bytes', bytes });
  await tell(worker, { is: 'end' });
}

const tell = (worker: ChildProcess, request: MediaRequest): Promise<void> =>
  new Promise((resolve) => {
    // That it is gone is told by its end.
    if (worker.connected) worker.send(request, () => resolve());
  });
