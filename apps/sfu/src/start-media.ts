import { randomBytes } from 'node:crypto';
import { type Announcer, candidatesOf } from './announce.ts';
import type { NodeConfig } from './config.ts';
import type { Directory } from './control/directory.ts';
import { FleetPipes } from './control/fleet-pipes.ts';
import { Spread } from './control/spread.ts';
import { Worker } from './control/workers.ts';
import type { MediaClock } from './media/clock.ts';
import { chooseMediaPorts, type MediaPorts } from './ports.ts';

const ICE_KEY_BYTES = 32;

interface MediaDeps {
  config: NodeConfig;
  clock: MediaClock;
  directory: Directory;
  announcer: Announcer;
  onError(error: unknown): void;
}

/** The media processes of a node, how rooms are spread over them, and their pipes to those of other nodes. */
export interface NodeMedia {
  readonly workers: readonly Worker[];
  readonly ports: readonly MediaPorts[];
  readonly iceKey: Buffer;
  readonly spread: Spread;
  readonly fleetPipes: FleetPipes;
  isReady(): boolean;
  /** From now on called each time a process has started again: its pipes are others. */
  onRestarted(listener: () => void): void;
  /** The node announces other addresses from now on. */
  announce(): void;
  stop(): Promise<void>;
}

/** All media processes or none: a node that can only carry a part does not start. */
export async function startMedia(deps: MediaDeps): Promise<NodeMedia> {
  const { config, directory, announcer } = deps;
  const ports = await chooseMediaPorts(config);
  const iceKey = randomBytes(ICE_KEY_BYTES);
  const workers: Worker[] = [];
  const spread = new Spread({ workers, directory, busyPercent: config.roomSpreadPercent });
  const fleetPipes = new FleetPipes({ workers, directory, secrets: config.secrets, host: config.pipes?.host ?? null });
  let restarted = (): void => {};
  const parts = { iceKey, spread, fleetPipes, onReady: () => restarted() };
  workers.push(...ports.map((port, index) => newWorker(deps, parts, port, index)));

  async function stop(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.stop()));
  }

  try {
    await Promise.all(workers.map((worker) => worker.started));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    workers,
    ports,
    iceKey,
    spread,
    fleetPipes,
    isReady: () => workers.every((worker) => worker.isReady),
    onRestarted(listener) {
      restarted = listener;
    },
    announce() {
      for (const [index, { announcedPort }] of ports.entries())
        workers[index]?.announce(candidatesOf(announcer.addresses, announcedPort));
    },
    stop,
  };
}

interface Parts extends Pick<NodeMedia, 'iceKey' | 'spread' | 'fleetPipes'> {
  onReady(): void;
}

function newWorker(
  { config, clock, directory, announcer, onError }: MediaDeps,
  { iceKey, spread, fleetPipes, onReady }: Parts,
  { udpPort, announcedPort }: MediaPorts,
  index: number,
): Worker {
  return new Worker({
    index,
    clock,
    iceKey,
    settings: {
      udpPort,
      bindAddress: config.bindAddress,
      candidates: candidatesOf(announcer.addresses, announcedPort),
      fleetPipes: fleetPipesOf(config, index),
    },
    onEvent: (event, worker) => directory.emit(event, worker),
    onLost: (lost) => {
      spread.lose(lost);
      fleetPipes.lose(lost);
      for (const room of directory.roomsOf(lost)) directory.lose(room, lost);
    },
    onReady(ready) {
      fleetPipes.restore(ready);
      onReady();
    },
    onSilence(own, peer, isSilent) {
      fleetPipes.onSilence(own, peer, isSilent);
      fleetPipes.tick(clock.now());
    },
    onError,
  });
}

const fleetPipesOf = ({ pipes }: NodeConfig, index: number) =>
  pipes ? { host: pipes.bindHost, port: pipes.port === 0 ? 0 : pipes.port + index } : undefined;
