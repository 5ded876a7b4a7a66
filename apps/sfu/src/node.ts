import { randomUUID } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPublic } from './addresses.ts';
import { Announcer, machine, type Sources } from './announce.ts';
import type { NodeConfig } from './config.ts';
import { Directory } from './control/directory.ts';
import type { Worker } from './control/workers.ts';
import { createLoadMeter } from './load-meter.ts';
import type { MediaClock } from './media/clock.ts';
import { type Registration, startRegistration } from './registration.ts';
import { startControl } from './start-control.ts';
import { type NodeMedia, startMedia } from './start-media.ts';
import { startNodeRelay } from './turn/node-relay.ts';

/** The participants of a controller that stays disconnected this long are removed. */
const ORPHAN_MS = 60_000;
const SWEEP_MS = 1000;
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

  const { isDraining } = drain;
  const media = await startMedia({ config, clock, directory, announcer, onError });
  const { ports, iceKey } = media;
  const turn = await startNodeRelay({ config, clock, announcer, ports, iceKey, onError }).catch(after(media.stop));
  const stopMedia = async (): Promise<void> => {
    await turn?.relay.close();
    await media.stop();
  };
  const control = await startControl({
    config,
    clock,
    instanceId,
    directory,
    media,
    turn,
    isDraining,
    log,
    onError,
  }).catch(after(stopMedia));
  // A process that restarted has other pipes: servers learn of them by the greeting.
  media.onRestarted(() => {
    if (media.fleetPipes.hasOthers) control.sendHelloAgain();
  });
  const sweep = startSweep(directory, media, clock);
  const announceAnew = (): void => {
    media.announce();
    turn?.announce();
    // Servers learn the relay's URLs from the greeting.
    control.sendHelloAgain();
    log('info', `clients are told ${announcer.addresses.join(', ')}`);
  };
  const { internalUrl } = control;
  const registration = registers
    ? register(deps, media.workers, { announcer, internalUrl, drain, announceAnew })
    : undefined;

  return {
    internalUrl,
    instanceId,
    turnUrls: () => turn?.urls() ?? [],
    udpPorts: ports.map(({ udpPort }) => udpPort),
    pids: () => media.workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    isReady: media.isReady,
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
      await stopMedia();
      await control.close();
    },
  };
}

/** A part did not start: those before it end. */
const after =
  (stop: () => Promise<void>) =>
  async (error: unknown): Promise<never> => {
    await stop();
    throw error;
  };

function startSweep(directory: Directory, { workers, fleetPipes }: NodeMedia, clock: MediaClock): NodeJS.Timeout {
  return setInterval(() => {
    evictLostControllers(directory, workers, clock.now());
    fleetPipes.tick(clock.now());
  }, SWEEP_MS);
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
  announceAnew: () => void;
}

/** Registers with the control plane and heartbeats from then on. */
function register(
  { config, clock, log, onRegistration }: NodeDeps,
  workers: readonly Worker[],
  { announcer, internalUrl, drain, announceAnew }: RegisterDeps,
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
      if (await announcer.look(observedAddress)) announceAnew();
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
