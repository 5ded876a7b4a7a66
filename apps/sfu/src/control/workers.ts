import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { MediaCommand, MediaCommandName, MediaEvent, MediaResponses } from '@parley/contract/media-control';
import type { MediaClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import type { PipeOrder } from '../pipes/legs.ts';
import {
  ICE_KEY_VARIABLE,
  type WorkerAddresses,
  type WorkerLoad,
  type WorkerMessage,
  type WorkerPipes,
  type WorkerRequest,
  type WorkerSettings,
} from './worker-protocol.ts';

const RESTART_MS_MIN = 500;
const RESTART_MS_MAX = 30_000;
/** After this long a process counts as stable. */
const STABLE_MS = 30_000;
const ANSWER_MS_MAX = 10_000;
/** Load comes every second: a process that is silent this long hangs. */
const SILENT_MS_MAX = 15_000;
const STOP_MS_MAX = 3000;
const TICKET_BYTES = 16;

export interface WorkerDeps {
  index: number;
  settings: WorkerSettings;
  iceKey: Buffer;
  clock: MediaClock;
  onEvent(event: MediaEvent, index: number): void;
  /** The process exited; its rooms are gone. */
  onLost(index: number): void;
  /** Each time the process has started. */
  onReady?(index: number): void;
  /** Another node is not heard on one of its pipes, or again. */
  onSilence?(index: number, peer: string, isSilent: boolean): void;
  onError(error: unknown): void;
  /** The system's, unless a test says when a process exits and what is read of it. */
  fork?(...process: Parameters<typeof fork>): ChildProcess;
}

/** A media process could not start; the message is a sentence. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

interface PendingRequest {
  resolve(data: MediaResponses[MediaCommandName]): void;
  reject(error: MediaError): void;
  timer: NodeJS.Timeout;
}

/** One media process, restarted whenever it exits. */
export class Worker {
  readonly #deps: WorkerDeps;
  #settings: WorkerSettings;
  readonly #pending = new Map<number, PendingRequest>();
  #child: ChildProcess | undefined;
  #isReady = false;
  #isStopping = false;
  #nextId = 1;
  #startedAt = 0;
  #heardAt = 0;
  #restartMs = RESTART_MS_MIN;
  #restart: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #failure = 'it ended before it was ready';
  readonly #readyWaiters = new Set<() => void>();
  readonly #firstStart = Promise.withResolvers<void>();
  load: WorkerLoad | undefined;
  /** How often it came. */
  reports = 0;
  #loadAt = 0;
  /** Of one core, over the last second. */
  busyPercent = 0;
  /** The UDP ports of its pipes, within the node and to others. */
  pipePort = 0;
  fleetPort: number | null = null;
  /** New at each start: no key of a pipe is used by two processes. */
  ticket = '';

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#settings = deps.settings;
    this.#start();
  }

  /** Resolves once the process is ready; rejects when its very first start fails. */
  get started(): Promise<void> {
    return this.#firstStart.promise;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when the process is ready, or when it was not in this time. */
  whenReady(timeoutMs: number): Promise<void> {
    if (this.#isReady) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#readyWaiters.delete(done);
        resolve();
      }, timeoutMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#readyWaiters.add(done);
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  #start(): void {
    const { fork: start = fork, iceKey } = this.#deps;
    const child = start(new URL('../worker.ts', import.meta.url), [JSON.stringify(this.#settings)], {
      env: { ...process.env, [ICE_KEY_VARIABLE]: iceKey.toString('hex') },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    this.ticket = randomBytes(TICKET_BYTES).toString('hex');
    this.#startedAt = this.#deps.clock.now();
    this.#heardAt = this.#startedAt;
    // Only `WorkerMessage`s are sent by worker.ts.
    child.on('message', (message) => {
      // What a process said before it exited may be read after that, and after its rooms were opened elsewhere.
      if (this.#child === child) this.#onMessage(message as WorkerMessage);
    });
    child.on('error', (error) => this.#deps.onError(error));
    child.on('exit', () => this.#onExit(child));
    this.#watch = setInterval(() => {
      if (this.#deps.clock.now() - this.#heardAt > SILENT_MS_MAX) child.kill('SIGKILL');
    }, 1000);
  }

  #onMessage(message: WorkerMessage): void {
    this.#heardAt = this.#deps.clock.now();
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        this.pipePort = message.pipePort;
        this.fleetPort = message.fleetPort;
        this.#firstStart.resolve();
        this.#deps.onReady?.(this.#deps.index);
        for (const done of this.#readyWaiters) done();
        this.#readyWaiters.clear();
        break;
      case 'failed':
        this.#failure = message.message;
        break;
      case 'load':
        this.#onLoad(message.load);
        break;
      case 'silence':
        this.#deps.onSilence?.(this.#deps.index, message.peer, message.isSilent);
        break;
      case 'error':
        this.#deps.onError(message.message);
        break;
      case 'event':
        this.#deps.onEvent(message.event, this.#deps.index);
        break;
      case 'answer':
        this.#settle(message.ref)?.resolve(message.data);
        break;
      case 'refusal':
        this.#settle(message.ref)?.reject(new MediaError(message.code, message.message));
        break;
    }
  }

  #onLoad(load: WorkerLoad): void {
    const now = this.#deps.clock.now();
    const elapsed = now - this.#loadAt;
    if (this.load && elapsed > 0) this.busyPercent = (load.cpuMicros - this.load.cpuMicros) / 10 / elapsed;
    this.load = load;
    this.reports += 1;
    this.#loadAt = now;
  }

  #settle(ref: number): PendingRequest | undefined {
    const pending = this.#pending.get(ref);
    if (pending) clearTimeout(pending.timer);
    this.#pending.delete(ref);
    return pending;
  }

  #onExit(child: ChildProcess): void {
    if (this.#child !== child) return;
    clearInterval(this.#watch);
    this.#child = undefined;
    this.#isReady = false;
    this.load = undefined;
    this.busyPercent = 0;
    for (const ref of [...this.#pending.keys()])
      this.#settle(ref)?.reject(new MediaError('INTERNAL', 'The media process ended.'));
    this.#deps.onLost(this.#deps.index);
    // A promise that was resolved when the process got ready stays so.
    this.#firstStart.reject(new StartFailure(`A media process could not start: ${this.#failure}.`));
    if (this.#isStopping) return;
    const wasStable = this.#deps.clock.now() - this.#startedAt > STABLE_MS;
    // Without backoff after a stable run; with it for a process that keeps crashing.
    this.#restartMs = wasStable ? RESTART_MS_MIN : Math.min(RESTART_MS_MAX, this.#restartMs * 2);
    this.#restart = setTimeout(() => this.#start(), wasStable ? 0 : this.#restartMs);
  }

  request<Name extends MediaCommandName>(command: MediaCommand<Name>): Promise<MediaResponses[Name]> {
    const child = this.#child;
    if (!child?.connected || !this.#isReady)
      return Promise.reject(new MediaError('INTERNAL', 'The media process is not running.'));
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#settle(id)?.reject(new MediaError('INTERNAL', 'The media process did not answer in time.'));
      }, ANSWER_MS_MAX);
      // An answer carries only the number of its command, whose name is known here.
      this.#pending.set(id, { resolve: (data) => resolve(data as MediaResponses[Name]), reject, timer });
      child.send({ id, command } satisfies WorkerRequest<Name>);
    });
  }

  get udpPort(): number {
    return this.#settings.udpPort;
  }

  /** For descriptions from now on; connections that exist keep the addresses that they have. */
  announce(candidates: string[]): void {
    this.#settings = { ...this.#settings, candidates };
    if (this.#child?.connected) this.#child.send({ candidates } satisfies WorkerAddresses);
  }

  /** Orders are executed in turn with commands. */
  order(pipes: PipeOrder): void {
    if (this.#child?.connected) this.#child.send({ pipes } satisfies WorkerPipes);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      child.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }
}
