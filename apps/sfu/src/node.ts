import { randomBytes, randomUUID } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { announcedAddresses, candidatesOf } from './announce.ts';
import { ConfigError, EVERY_ADDRESS, type NodeConfig, urlHost } from './config.ts';
import { Directory } from './control/directory.ts';
import { createExecutor } from './control/executor.ts';
import { startControlServer } from './control/server.ts';
import { Worker } from './control/workers.ts';
import { createLoadMeter } from './load-meter.ts';
import type { MediaClock } from './media/clock.ts';
import { chooseMediaPorts, type MediaPorts } from './ports.ts';
import { startRegistration } from './registration.ts';
import { startNodeRelay } from './turn/node-relay.ts';

/** The participants of a controller that stays disconnected this long are removed. */
const ORPHAN_MS = 60_000;
const SWEEP_MS = 1000;
const ICE_KEY_BYTES = 32;

export interface MediaNode {
  readonly internalUrl: string;
  readonly instanceId: string;
  readonly turnUrls: readonly string[];
  /** Process ids of the media processes, for tests that kill one. */
  pids(): number[];
  isReady(): boolean;
  stop(): Promise<void>;
}

interface NodeDeps {
  config: NodeConfig;
  clock: MediaClock;
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /** False in tests that have no control plane. */
  registers?: boolean;
}

/** A media node: media processes, the control server in front of them, and the node's registration in the fleet. */
export async function startNode(deps: NodeDeps): Promise<MediaNode> {
  const { config, clock, log, registers = true } = deps;
  const directory = new Directory();
  const instanceId = randomUUID();
  const addresses = await announcedAddresses(config.announcedHost);
  const drain = createDrain(log);
  const onError = (error: unknown) =>
    log('error', error instanceof Error ? (error.stack ?? error.message) : String(error));

  const ports = await chooseMediaPorts(config);
  const publicHost = config.announcedHost ?? addresses[0] ?? '127.0.0.1';
  const iceKey = randomBytes(ICE_KEY_BYTES);
  const workers = await startWorkers({ config, clock, directory, addresses, ports, iceKey, onError });
  const stopWorkers = async (error: unknown): Promise<never> => {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw error;
  };
  const turn = await startNodeRelay({ config, clock, addresses, publicHost, ports, iceKey, onError }).catch(
    stopWorkers,
  );
  const isReady = () => workers.every((worker) => worker.isReady);
  const { isDraining } = drain;
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
    execute: createExecutor({ directory, workers, capacity: config.capacity, clock, isDraining }),
    isDraining,
    isReady,
    turn,
    onError,
  }).catch(async (error: unknown) => {
    await turn?.relay.close();
    return stopWorkers(notListening(error, config));
  });
  const internalUrl = config.internalUrl ?? `http://${urlHost(config.internalHost)}:${server.port}`;
  const sweep = setInterval(() => evictLostControllers(directory, workers, clock.now()), SWEEP_MS);
  const registration = registers ? register(deps, workers, { publicHost, internalUrl }, drain.set) : undefined;

  return {
    internalUrl,
    instanceId,
    turnUrls: turn?.urls ?? [],
    pids: () => workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    isReady,
    async stop() {
      registration?.stop();
      clearInterval(sweep);
      await turn?.relay.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      await server.close();
    },
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

/** Whether the control plane drains this node, as its heartbeats are answered. */
function createDrain(log: NodeDeps['log']) {
  let isDraining = false;
  return {
    isDraining: () => isDraining,
    set(draining: boolean): void {
      if (draining !== isDraining) log('info', draining ? 'draining: no new rooms' : 'back in the pool');
      isDraining = draining;
    },
  };
}

interface WorkersDeps {
  config: NodeConfig;
  clock: MediaClock;
  directory: Directory;
  addresses: readonly string[];
  ports: readonly MediaPorts[];
  iceKey: Buffer;
  onError(error: unknown): void;
}

/** All media processes or none: a node that can only carry a part does not start. */
async function startWorkers(deps: WorkersDeps): Promise<Worker[]> {
  const { config, clock, directory, addresses, ports, iceKey, onError } = deps;
  const workers = ports.map(
    ({ udpPort, announcedPort }, index) =>
      new Worker({
        index,
        clock,
        iceKey,
        settings: { udpPort, bindAddress: config.bindAddress, candidates: candidatesOf(addresses, announcedPort) },
        onEvent: (event) => directory.emit(event),
        onLost: (lost) => {
          for (const room of directory.roomsOf(lost)) directory.lose(room);
        },
        onError,
      }),
  );
  try {
    await Promise.all(workers.map((worker) => worker.started));
    return workers;
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw error;
  }
}

/** Registers with the control plane and heartbeats from then on. */
function register(
  { config, clock, log }: NodeDeps,
  workers: readonly Worker[],
  addresses: { publicHost: string; internalUrl: string },
  onDraining: (isDraining: boolean) => void,
) {
  const meter = createLoadMeter({
    workers,
    clock,
    cores: availableParallelism(),
    memory: () => ({ free: process.availableMemory(), total: totalmem() }),
  });
  const { name, region, capacity, version } = config;
  return startRegistration({
    controlUrl: config.controlUrl,
    secret: config.secrets[0] ?? '',
    clock,
    record: { name, region, ...addresses, capacity, ...(version && { version }) },
    load: () => meter.read(),
    onDraining,
    onProblem: (problem) => log('warn', `control plane: ${problem}`),
  });
}

function evictLostControllers(directory: Directory, workers: readonly Worker[], now: number): void {
  for (const controller of [...directory.controllers]) {
    if (controller.lostAt === null || now - controller.lostAt < ORPHAN_MS) continue;
    for (const address of directory.evict(controller)) {
      const worker = workers[directory.workerOf(address.room) ?? -1];
      const removal = worker?.request({ type: 'participant.remove', data: { ...address, reason: 'SIGNAL_CLOSED' } });
      // The process may have exited by now, and the participant with it.
      removal?.catch(() => {});
    }
  }
}
