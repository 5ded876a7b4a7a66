import { randomBytes, randomUUID } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPublic } from './addresses.ts';
import { Announcer, candidatesOf, machine, type Sources } from './announce.ts';
import { ConfigError, EVERY_ADDRESS, type NodeConfig, urlHost } from './config.ts';
import { Directory } from './control/directory.ts';
import { createExecutor } from './control/executor.ts';
import { FleetPipes } from './control/fleet-pipes.ts';
import { startControlServer } from './control/server.ts';
import { Spread } from './control/spread.ts';
import type { Worker } from './control/workers.ts';
import { createLoadMeter } from './load-meter.ts';
import type { MediaClock } from './media/clock.ts';
import { renderMetrics } from './metrics.ts';
import { chooseMediaPorts } from './ports.ts';
import { type Registration, startRegistration } from './registration.ts';
import { startWorkers } from './start-workers.ts';
import { startNodeRelay } from './turn/node-relay.ts';

/** The participants of a controller that stays disconnected this long are removed. */
const ORPHAN_MS = 60_000;
const SWEEP_MS = 1000;
const ICE_KEY_BYTES = 32;
const EMPTY_LOOK_MS = 250;

export interface MediaNode {
  readonly internalUrl: string;
  readonly instanceId: string;
  turnUrls(): readonly string[];
  readonly udpPorts: readonly number[];
  /** Process ids of the media processes, for tests that kill one. */
  pids(): number[];
  isReady(): boolean;
  /** Takes no new room, waits for those it has up to SFU_DRAIN_SECONDS, then has the rest moved and deregisters. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

interface NodeDeps {
  config: NodeConfig;
  clock: MediaClock;
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /** False in tests that have no control plane. */
  registers?: boolean;
  sources?: Sources;
  /** Each time the node is registered, or is not: then why. */
  onRegistration?(problem: string | null): void;
}

/** A media node: media processes, the control server in front of them, and the node's registration in the fleet. */
export async function startNode(deps: NodeDeps): Promise<MediaNode> {
  const { config, clock, log, registers = true, sources = machine } = deps;
  const directory = new Directory();
  const instanceId = randomUUID();
  const announcer = new Announcer(config, sources);
  await announcer.look(null);
  const drain = createDrain(log);
  const onError = (error: unknown) =>
    log('error', error instanceof Error ? (error.stack ?? error.message) : String(error));

  const ports = await chooseMediaPorts(config);
  const iceKey = randomBytes(ICE_KEY_BYTES);
  const workers: Worker[] = [];
  const spread = new Spread({ workers, directory, busyPercent: config.roomSpreadPercent });
  const fleetPipes = new FleetPipes({ workers, directory, secrets: config.secrets, host: config.pipes?.host ?? null });
  const lifecycle: { ready(): unknown } = { ready: () => {} };
  const onReady = (index: number): void => {
    fleetPipes.restore(index);
    lifecycle.ready();
  };
  await startWorkers({
    config,
    clock,
    directory,
    announcer,
    ports,
    iceKey,
    workers,
    spread,
    fleetPipes,
    onReady,
    onError,
  });
  const stopWorkers = async (error: unknown): Promise<never> => {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw error;
  };
  const turn = await startNodeRelay({ config, clock, announcer, ports, iceKey, onError }).catch(stopWorkers);
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
    execute: createExecutor({ directory, workers, spread, fleetPipes, capacity: config.capacity, clock, isDraining }),
    isDraining,
    isReady,
    metrics: { token: config.metricsToken, render: () => renderMetrics(workers) },
    turn,
    pipes: () => fleetPipes.describe(),
    onError,
  }).catch(async (error: unknown) => {
    await turn?.relay.close();
    return stopWorkers(notListening(error, config));
  });
  const internalUrl = config.internalUrl ?? `http://${urlHost(config.internalHost)}:${server.port}`;
  // A process that restarted has other pipes: servers learn of them by the greeting.
  lifecycle.ready = () => fleetPipes.hasMet && server.greetAgain();
  const sweep = setInterval(() => {
    evictLostControllers(directory, workers, clock.now());
    fleetPipes.tick(clock.now());
  }, SWEEP_MS);
  const tellAddresses = () => {
    for (const [index, { announcedPort }] of ports.entries())
      workers[index]?.announce(candidatesOf(announcer.addresses, announcedPort));
    turn?.announce();
    // Servers learn the relay's URLs from the greeting.
    server.greetAgain();
    log('info', `clients are told ${announcer.addresses.join(', ')}`);
  };
  const registration = registers
    ? register(deps, workers, { announcer, internalUrl, drain, tellAddresses })
    : undefined;

  return {
    internalUrl,
    instanceId,
    turnUrls: () => turn?.urls() ?? [],
    udpPorts: ports.map(({ udpPort }) => udpPort),
    pids: () => workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    isReady,
    async drain() {
      drain.leave();
      if (config.drainSeconds > 0) {
        await registration?.leave();
        await emptied(directory, config.drainSeconds * 1000, clock);
      }
      await registration?.deregister();
    },
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

/** Whether this node takes no new rooms: the control plane drains it, or it is about to end. */
function createDrain(log: NodeDeps['log']) {
  let isDrained = false;
  let isLeaving = false;
  return {
    isDraining: () => isDrained || isLeaving,
    set(draining: boolean): void {
      if (draining !== isDrained && !isLeaving) log('info', draining ? 'draining: no new rooms' : 'back in the pool');
      isDrained = draining;
    },
    leave(): void {
      isLeaving = true;
      log('info', 'ending: no new rooms');
    },
  };
}

/** Resolves when nobody is left, or when this time has passed. */
async function emptied(directory: Directory, patienceMs: number, clock: MediaClock): Promise<void> {
  const until = clock.now() + patienceMs;
  while (directory.participantCount > 0 && clock.now() < until) await sleep(EMPTY_LOOK_MS);
}

interface RegisterDeps {
  announcer: Announcer;
  internalUrl: string;
  drain: ReturnType<typeof createDrain>;
  /** Called when they have changed. */
  tellAddresses: () => void;
}

/** Registers with the control plane and heartbeats from then on. */
function register(
  { config, clock, log, onRegistration }: NodeDeps,
  workers: readonly Worker[],
  { announcer, internalUrl, drain, tellAddresses }: RegisterDeps,
): Registration {
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
    record: () => ({
      name,
      region,
      publicHost: announcer.publicHost,
      internalUrl,
      capacity,
      ...(version && { version }),
    }),
    load: () => meter.read(),
    async onAnswer({ isDraining, observedAddress }) {
      drain.set(isDraining);
      if (await announcer.look(observedAddress)) tellAddresses();
    },
    onRegistered() {
      onRegistration?.(null);
      if (config.publicAddresses === 'auto' && !announcer.addresses.some(isPublic))
        log('warn', 'no public address was found, so only clients on this network have media: set SFU_PUBLIC_IP');
    },
    onProblem(problem) {
      log('warn', `control plane: ${problem}`);
      onRegistration?.(problem);
    },
  });
}

function evictLostControllers(directory: Directory, workers: readonly Worker[], now: number): void {
  for (const controller of [...directory.controllers]) {
    if (controller.lostAt === null || now - controller.lostAt < ORPHAN_MS) continue;
    for (const address of directory.evict(controller)) {
      const worker = workers[directory.workerOf(address.room, address.participant) ?? -1];
      const removal = worker?.request({ type: 'participant.remove', data: { ...address, reason: 'SIGNAL_CLOSED' } });
      // The process may have exited by now, and the participant with it.
      removal?.catch(() => {});
    }
  }
}
