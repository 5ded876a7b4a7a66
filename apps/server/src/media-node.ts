import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type NodeMessage, type ServerMessage, waitsForServer } from '@parley/sfu/node-message';
import { defaultNodeName } from '@parley/sfu/node-name';
import type { Config, Variables } from './config.ts';
import type { Log } from './core/log.ts';

const restartMsMin = 1_000;
const restartMsMax = 30_000;
/** Beyond the time that it may drain. */
const stopMsMax = 4_000;
/** A node that has not registered by then does not keep the server waiting any longer. */
const settledMsMax = 20_000;

interface MediaNodeOptions {
  config: Pick<Config, 'sfuSecrets' | 'isProduction'>;
  /** Where the node finds this server, once it listens. */
  url: Promise<string>;
  /** What the process was given; the node reads its own settings of it. */
  variables: Variables;
  log: Log;
}

/** How the node is, in words for a person when it is not well. */
export type MediaState =
  | { status: 'STARTING' }
  | { status: 'OK'; udpPorts: readonly number[] }
  /** `name`: what the fleet lists it under. */
  | { status: 'DOWN'; name: string; problem: string };

export interface MediaNode {
  /** Resolves when the node takes rooms, or when it failed to within its time. */
  readonly settled: Promise<void>;
  state(): MediaState;
  /** The sentence with which it refused to start at all, if it did. */
  refusal(): string | null;
  /** Lets it drain, and ends it. */
  stop(): Promise<void>;
}

/** What the node beside the server is given. */
export const nodeVariables = ({ config, variables }: Pick<MediaNodeOptions, 'config' | 'variables'>) => ({
  ...variables,
  SFU_REGISTRATION_SECRET: config.sfuSecrets.join(','),
  // Its calls cannot go on without this server: unless it is told to, it does not wait for them to end.
  SFU_DRAIN_SECONDS: variables['SFU_DRAIN_SECONDS']?.trim() || '0',
});

/**
 * The media node that `npm start` runs beside the server: a process of its own, started again when it ends. It is loaded
 * while the server starts, and begins when that listens.
 */
export function startMediaNode({ config, url, variables, log }: MediaNodeOptions): MediaNode {
  const main = fileURLToPath(import.meta.resolve('@parley/sfu/main'));
  const env = nodeVariables({ config, variables });
  const name = variables['SFU_NAME']?.trim() || defaultNodeName();
  let child: ChildProcess | null = null;
  let restart: NodeJS.Timeout | undefined;
  let isStopping = false;
  let restartMs = restartMsMin;
  let state: MediaState = { status: 'STARTING' };
  let refusal: string | null = null;
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  let late: NodeJS.Timeout | undefined;
  const whenListening = (use: (url: string) => void): void => void url.then(use, () => {});

  function onDown(problem: string): void {
    state = { status: 'DOWN', name, problem };
    settle();
  }

  function start(): void {
    // The channel is how the node learns that this process is gone, even after kill -9.
    const started = fork(main, [waitsForServer], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    whenListening((controlUrl) => {
      if (started.connected) started.send({ controlUrl } satisfies ServerMessage);
    });
    child = started;
    let output = '';
    let udpPorts: readonly number[] = [];
    let failure = 'it ended by itself, see the log';
    started.stderr?.on('data', (text: Buffer) => {
      output = `${output}${text}`.slice(-4_000);
    });
    // Only `NodeMessage`s are sent by its main.ts.
    started.on('message', (message) => {
      const said = message as NodeMessage;
      if (said.kind === 'started') {
        restartMs = restartMsMin;
        ({ udpPorts } = said);
      } else if (said.kind === 'failed') {
        failure = said.problem ?? failure;
        if (state.status === 'STARTING') refusal = said.problem;
      } else if (said.problem === null) {
        state = { status: 'OK', udpPorts };
        settle();
      } else onDown(`it could not register, ${said.problem}`);
    });
    started.on('error', (error) => {
      log.error({ error }, 'the media node could not be started');
      onDown('its process could not be started, see the log');
    });
    started.on('exit', (code) => {
      child = null;
      onDown(failure);
      if (isStopping) return;
      log.error({ code, output: output.trim() }, 'the media node ended and is started again');
      restart = setTimeout(start, restartMs);
      restartMs = Math.min(restartMsMax, restartMs * 2);
    });
  }

  start();
  whenListening(() => {
    late = setTimeout(settle, settledMsMax);
  });
  void settled.then(() => clearTimeout(late));
  return {
    settled,
    state: () => state,
    refusal: () => refusal,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      settle();
      const running = child;
      if (!running) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => running.kill('SIGKILL'), stopMsMax + Number(env.SFU_DRAIN_SECONDS) * 1_000);
        running.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
        running.kill('SIGTERM');
      });
    },
  };
}
