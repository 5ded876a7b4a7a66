import { randomUUID } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import type { MediaCommandFrame, MediaRoomSnapshot } from '@parley/contract/media-control';
import { announcedAddresses, candidatesOf } from './announce.ts';
import type { NodeConfig } from './config.ts';
import type { Controller } from './control/controllers.ts';
import { Directory } from './control/directory.ts';
import { startControlServer } from './control/server.ts';
import { Worker } from './control/workers.ts';
import { createLoadMeter } from './load-meter.ts';
import type { MediaClock } from './media/clock.ts';
import { MediaError } from './media/errors.ts';
import { freeUdpPorts } from './ports.ts';
import { startRegistration } from './registration.ts';

/** Participants of a controller that stays away this long end. */
const ORPHAN_MS = 60_000;
/** So long a room waits for a media process that is being started again; less than its asker waits for us. */
const READY_MS_MAX = 4_000;

export interface MediaNode {
  readonly internalUrl: string;
  readonly instanceId: string;
  /** Processes that carry media, for tests that kill one. */
  pids(): number[];
  isReady(): boolean;
  stop(): Promise<void>;
}

export interface NodeDeps {
  config: NodeConfig;
  clock: MediaClock;
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /** False in tests that have no control plane. */
  registers?: boolean;
}

/** A media node: processes that carry media, the control channel in front of them, and its place in the fleet. */
export async function startNode({ config, clock, log, registers = true }: NodeDeps): Promise<MediaNode> {
  const directory = new Directory();
  const instanceId = randomUUID();
  let isDraining = false;
  const addresses = await announcedAddresses(config.announcedHost);
  const onError = (error: unknown) =>
    log('error', error instanceof Error ? (error.stack ?? error.message) : String(error));
  const processes = config.processes === 0 ? availableParallelism() : config.processes;
  const udpPorts = config.mayMoveUdpPort ? await freeUdpPorts(config.udpPort, processes) : undefined;
  const workers = Array.from({ length: processes }, (_, index) => {
    const udpPort = udpPorts?.[index] ?? config.udpPort + index;
    const announcedPort = udpPorts?.[index] ?? config.announcedUdpPort + index;
    const candidates = candidatesOf(addresses, announcedPort);
    return new Worker({
      index,
      clock,
      settings: { udpPort, bindAddress: config.bindAddress, candidates },
      onEvent: (type, data) => directory.event(type, data),
      onLost: (lost) => {
        for (const room of directory.roomsOf(lost)) directory.lose(room);
      },
      onError,
    });
  });

  await startedOrStopped(workers);
  const execute = createExecutor({
    directory,
    workers,
    capacity: config.capacity,
    clock,
    isDraining: () => isDraining,
  });
  const server = await startControlServer({
    node: config.name,
    instanceId,
    secrets: config.secrets,
    host: config.internalHost,
    port: config.internalPort,
    mayMovePort: config.mayMoveInternalPort,
    clock,
    controller: (id) => directory.controller(id),
    execute,
    isDraining: () => isDraining,
    isReady: () => workers.every((worker) => worker.isReady),
    onError,
  });
  const internalUrl = config.internalUrl ?? `http://${config.internalHost}:${server.port}`;
  const sweep = setInterval(() => sweepControllers(directory, workers, clock.now()), 1000);
  const meter = createLoadMeter({
    workers,
    clock,
    cores: availableParallelism(),
    memory: () => ({ free: process.availableMemory(), total: totalmem() }),
  });
  const registration = registers
    ? startRegistration({
        controlUrl: config.controlUrl,
        secret: config.secrets[0] ?? '',
        clock,
        record: {
          name: config.name,
          region: config.region,
          publicHost: config.announcedHost ?? addresses[0] ?? '127.0.0.1',
          internalUrl,
          capacity: config.capacity,
          ...(config.version && { version: config.version }),
        },
        load: () => meter.read(),
        onDraining: (draining) => {
          if (draining !== isDraining) log('info', draining ? 'draining: no new rooms' : 'back in the pool');
          isDraining = draining;
        },
        onProblem: (problem) => log('warn', `control plane: ${problem}`),
      })
    : undefined;

  return {
    internalUrl,
    instanceId,
    pids: () => workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    isReady: () => workers.every((worker) => worker.isReady),
    async stop() {
      registration?.stop();
      clearInterval(sweep);
      await Promise.all(workers.map((worker) => worker.stop()));
      await server.close();
    },
  };
}

/** All of the processes, or none: a node that can only carry a part does not start. */
async function startedOrStopped(workers: readonly Worker[]): Promise<void> {
  try {
    await Promise.all(workers.map((worker) => worker.started));
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw error;
  }
}

interface ExecutorDeps {
  directory: Directory;
  workers: readonly Worker[];
  capacity: number;
  clock: MediaClock;
  isDraining(): boolean;
}

/** Sends a command to the process that holds its room. */
function createExecutor({ directory, workers, capacity, clock, isDraining }: ExecutorDeps) {
  const workerOf = (room: string): Worker => {
    const worker = workers[directory.workerOf(room) ?? -1];
    if (!worker) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    return worker;
  };

  async function openRoom(controller: Controller, frame: MediaCommandFrame & { type: 'room.open' }): Promise<unknown> {
    const { room } = frame.data;
    if (directory.workerOf(room) === undefined) {
      if (isDraining()) throw new MediaError('DRAINING', 'This node takes no new rooms.');
      if (directory.roomCount >= capacity) throw new MediaError('FULL', 'This node holds as many rooms as it may.');
      // All of them may have ended a moment ago: whoever comes back now shall not have to come twice.
      if (!workers.some(({ isReady }) => isReady))
        await Promise.race(workers.map((worker) => worker.whenReady(READY_MS_MAX)));
      const index = leastLoaded(workers, directory);
      if (index < 0) throw new MediaError('FULL', 'No media process is running.');
      directory.open(room, index, controller.id);
    } else directory.open(room, 0, controller.id);
    return workerOf(room).request(frame.type, frame.data);
  }

  async function snapshot(controller: Controller, frame: MediaCommandFrame & { type: 'snapshot' }): Promise<unknown> {
    const { room } = frame.data;
    const asked = room === undefined ? workers.filter((worker) => worker.isReady) : [workerOf(room)];
    const answers = await Promise.all(asked.map((worker) => worker.request('snapshot', frame.data)));
    return { rooms: (answers as { rooms: MediaRoomSnapshot[] }[]).flatMap(({ rooms }) => rooms), seq: controller.seq };
  }

  return async (controller: Controller, frame: MediaCommandFrame): Promise<unknown> => {
    switch (frame.type) {
      case 'ping':
        return { at: new Date(clock.wall()).toISOString() };
      case 'room.open':
        return openRoom(controller, frame);
      case 'snapshot':
        return snapshot(controller, frame);
      case 'room.close':
        return directory.workerOf(frame.data.room) === undefined
          ? { closed: false }
          : workerOf(frame.data.room).request(frame.type, frame.data);
      case 'participant.remove':
        return directory.workerOf(frame.data.room) === undefined
          ? { removed: false }
          : workerOf(frame.data.room).request(frame.type, frame.data);
      case 'participant.add':
      case 'participant.attach': {
        const worker = workerOf(frame.data.room);
        const identity = frame.type === 'participant.add' ? frame.data.identity : undefined;
        const disown = directory.own(frame.data.room, frame.data.participant, identity, controller.id);
        return worker.request(frame.type, frame.data).catch((error: unknown) => {
          disown();
          throw error;
        });
      }
      default:
        return workerOf(frame.data.room).request(frame.type, frame.data);
    }
  };
}

/** The running process with the fewest participants, then with the fewest rooms. */
function leastLoaded(workers: readonly Worker[], directory: Directory): number {
  const ranked = workers
    .map(({ isReady }, index) => ({ index, isReady }))
    .filter(({ isReady }) => isReady)
    .map(({ index }) => ({ index, people: directory.participantsOf(index), rooms: directory.roomsOf(index).length }))
    .sort((a, b) => a.people - b.people || a.rooms - b.rooms);
  return ranked[0]?.index ?? -1;
}

function sweepControllers(directory: Directory, workers: readonly Worker[], now: number): void {
  for (const controller of [...directory.controllers]) {
    if (controller.lostAt === null || now - controller.lostAt < ORPHAN_MS) continue;
    for (const { room, participant } of directory.forget(controller)) {
      const worker = workers[directory.workerOf(room) ?? -1];
      worker?.request('participant.remove', { room, participant, reason: 'SIGNAL_CLOSED' }).catch(() => {
        // The process ended in between, and the participant with it.
      });
    }
  }
}
