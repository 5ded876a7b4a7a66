import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Config, Variables } from './config.ts';
import type { Log } from './core/log.ts';

const restartMsMin = 1_000;
const restartMsMax = 30_000;
const stopMsMax = 4_000;
/** A node that has not registered by then does not keep the server waiting any longer. */
const settledMsMax = 20_000;

interface MediaNodeOptions {
  config: Pick<Config, 'sfuSecrets' | 'isProduction'>;
  /** Where the node finds this server. */
  url: string;
  /** What the process was given; the node reads its own settings of it. */
  variables: Variables;
  log: Log;
  /** Resolves once a node with this address has registered at this server. */
  whenRegistered: (internalUrl: string) => Promise<void>;
}

export interface MediaNode {
  /** Resolves when the node takes rooms, or when it failed to within its time. */
  readonly settled: Promise<void>;
  stop(): Promise<void>;
}

/** The media node that `npm start` runs beside the server: a process of its own, started again when it ends. */
export function startMediaNode({ config, url, variables, log, whenRegistered }: MediaNodeOptions): MediaNode {
  const main = fileURLToPath(import.meta.resolve('@parley/sfu/main'));
  const env = { ...variables, CONTROL_URL: url, SFU_REGISTRATION_SECRET: config.sfuSecrets.join(',') };
  let child: ChildProcess | null = null;
  let restart: NodeJS.Timeout | undefined;
  let isStopping = false;
  let restartMs = restartMsMin;
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const late = setTimeout(settle, settledMsMax);

  function start(): void {
    // The channel is how the node learns that this process is gone, even after kill -9.
    const started = fork(main, [], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    child = started;
    let output = '';
    started.stderr?.on('data', (text: Buffer) => {
      output = `${output}${text}`.slice(-4_000);
    });
    started.on('message', (message) => {
      restartMs = restartMsMin;
      const internalUrl = internalUrlOf(message);
      if (internalUrl !== null) void whenRegistered(internalUrl).then(settle);
    });
    started.on('error', (error) => {
      log.error({ error }, 'the media node could not be started');
      settle();
    });
    started.on('exit', (code) => {
      child = null;
      settle();
      if (isStopping) return;
      log.error({ code, output: output.trim() }, 'the media node ended and is started again');
      restart = setTimeout(start, restartMs);
      restartMs = Math.min(restartMsMax, restartMs * 2);
    });
  }

  start();
  void settled.then(() => clearTimeout(late));
  return {
    settled,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      settle();
      const running = child;
      if (!running) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => running.kill('SIGKILL'), stopMsMax);
        running.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
        running.kill('SIGTERM');
      });
    },
  };
}

/** Where the node listens for commands, of what it sends when it has started. */
function internalUrlOf(message: unknown): string | null {
  const { internalUrl } = Object(message) as { internalUrl?: unknown };
  return typeof internalUrl === 'string' ? internalUrl : null;
}
