import { type Announcer, candidatesOf } from './announce.ts';
import type { NodeConfig } from './config.ts';
import type { Directory } from './control/directory.ts';
import type { FleetPipes } from './control/fleet-pipes.ts';
import type { Spread } from './control/spread.ts';
import { Worker } from './control/workers.ts';
import type { MediaClock } from './media/clock.ts';
import type { MediaPorts } from './ports.ts';

interface WorkersDeps {
  config: NodeConfig;
  clock: MediaClock;
  directory: Directory;
  announcer: Announcer;
  ports: readonly MediaPorts[];
  iceKey: Buffer;
  /** They are put here. */
  workers: Worker[];
  spread: Spread;
  fleetPipes: FleetPipes;
  onReady(index: number): void;
  onError(error: unknown): void;
}

const fleetPipesOf = ({ pipes }: NodeConfig, index: number) =>
  pipes ? { host: pipes.bindHost, port: pipes.port === 0 ? 0 : pipes.port + index } : undefined;

/** All media processes or none: a node that can only carry a part does not start. */
export async function startWorkers(deps: WorkersDeps): Promise<void> {
  const { config, clock, directory, announcer, ports, iceKey, workers, spread, fleetPipes, onReady, onError } = deps;
  const started = ports.map(
    ({ udpPort, announcedPort }, index) =>
      new Worker({
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
        onReady,
        onSilence(own, peer, isSilent) {
          fleetPipes.onSilence(own, peer, isSilent);
          fleetPipes.tick(clock.now());
        },
        onError,
      }),
  );
  workers.push(...started);
  try {
    await Promise.all(workers.map((worker) => worker.started));
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.stop()));
    throw error;
  }
}
