import { ConfigError, EVERY_ADDRESS, type NodeConfig, urlHost } from './config.ts';
import type { Directory } from './control/directory.ts';
import { createExecutor } from './control/executor.ts';
import { startControlServer } from './control/server.ts';
import type { MediaClock } from './media/clock.ts';
import { renderMetrics } from './metrics.ts';
import type { NodeMedia } from './start-media.ts';
import type { NodeRelay } from './turn/node-relay.ts';

interface ControlDeps {
  config: NodeConfig;
  clock: MediaClock;
  instanceId: string;
  directory: Directory;
  media: NodeMedia;
  turn: NodeRelay | null;
  isDraining(): boolean;
  log(level: 'warn', message: string): void;
  onError(error: unknown): void;
}

/** Where servers reach a node, and what they tell its media processes. */
export interface NodeControl {
  readonly internalUrl: string;
  /** What the greeting says has changed. */
  sendHelloAgain(): void;
  close(): Promise<void>;
}

export async function startControl(deps: ControlDeps): Promise<NodeControl> {
  const { config, clock, instanceId, directory, media, turn, isDraining, log, onError } = deps;
  const { workers, spread, fleetPipes, isReady } = media;
  if (EVERY_ADDRESS.includes(config.internalHost))
    log('warn', 'the control port listens on every address: set SFU_INTERNAL_HOST to the one that servers reach');
  const server = await startControlServer({
    node: config.name,
    instanceId,
    secrets: config.secrets,
    host: config.internalHost,
    port: config.internalPort,
    mayMovePort: config.mayMoveInternalPort,
    clock,
    controller: (id) => directory.controller(id),
    execute: createExecutor({ directory, workers, spread, fleetPipes, capacity: config.capacity, clock, isDraining }),
    isDraining,
    isReady,
    metrics: { token: config.metricsToken, render: () => renderMetrics(workers) },
    turn,
    pipes: () => fleetPipes.describe(),
    onError,
  }).catch((error: unknown) => {
    throw notListening(error, config);
  });
  return {
    internalUrl: config.internalUrl ?? `http://${urlHost(config.internalHost)}:${server.port}`,
    sendHelloAgain: () => server.sendHelloAgain(),
    close: () => server.close(),
  };
}

/** What to do about it, for an operator. */
function notListening(error: unknown, { internalHost, internalPort }: NodeConfig): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new ConfigError(`SFU_INTERNAL_PORT ${internalPort} is taken: stop its program or choose another port.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConfigError(`SFU_INTERNAL_HOST must be an address of this machine; ${internalHost} is not.`);
  return error;
}
