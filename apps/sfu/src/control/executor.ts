import type { MediaCommand, MediaCommandName, MediaResponses } from '@parley/contract/media-control';
import type { MediaClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import type { Controller } from './controllers.ts';
import type { Directory } from './directory.ts';
import type { Worker } from './workers.ts';

/** How long `room.open` waits for a media process that is restarting; less than the control plane waits for us. */
const READY_MS_MAX = 4_000;

interface ExecutorDeps {
  directory: Directory;
  workers: readonly Worker[];
  /** Rooms at most. */
  capacity: number;
  clock: MediaClock;
  isDraining(): boolean;
}

type Execute = (controller: Controller, command: MediaCommand) => Promise<MediaResponses[MediaCommandName]>;

/** Routes a command to the media process that holds its room. */
export function createExecutor({ directory, workers, capacity, clock, isDraining }: ExecutorDeps): Execute {
  const findWorker = (room: string): Worker | undefined => workers[directory.workerOf(room) ?? -1];

  function getWorker(room: string): Worker {
    const worker = findWorker(room);
    if (!worker) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    return worker;
  }

  async function openRoom(controller: Controller, command: MediaCommand<'room.open'>) {
    const { room } = command.data;
    directory.open(room, directory.workerOf(room) ?? (await placeRoom()), controller.id);
    const index = directory.workerOf(room) ?? -1;
    const answer = await getWorker(room).request(command);
    // The room may have closed just before the process read the command, which then opened it anew.
    directory.open(room, index, controller.id);
    return answer;
  }

  /** The media process for a new room. */
  async function placeRoom(): Promise<number> {
    if (isDraining()) throw new MediaError('DRAINING', 'This node takes no new rooms.');
    if (directory.roomCount >= capacity) throw new MediaError('FULL', 'This node holds as many rooms as it may.');
    // After a crash of the only process its rooms come back at once, while it restarts.
    if (!workers.some(({ isReady }) => isReady))
      await Promise.race(workers.map((worker) => worker.whenReady(READY_MS_MAX)));
    const index = leastLoaded(workers, directory);
    if (index === undefined) throw new MediaError('FULL', 'No media process is running.');
    return index;
  }

  async function snapshot({ seq }: Controller, command: MediaCommand<'snapshot'>) {
    const { room } = command.data;
    const asked = room === undefined ? workers.filter((worker) => worker.isReady) : [getWorker(room)];
    const answers = await Promise.all(asked.map((worker) => worker.request(command)));
    return { rooms: answers.flatMap(({ rooms }) => rooms), seq };
  }

  async function own(controller: Controller, command: MediaCommand<'participant.add' | 'participant.attach'>) {
    const { room, participant } = command.data;
    const worker = getWorker(room);
    const identity = command.type === 'participant.add' ? command.data.identity : undefined;
    const disown = directory.own(room, participant, identity, controller.id);
    try {
      return await worker.request(command);
    } catch (error) {
      disown();
      throw error;
    }
  }

  return async (controller, command) => {
    switch (command.type) {
      case 'ping':
        return { at: new Date(clock.wall()).toISOString() };
      case 'snapshot':
        return snapshot(controller, command);
      case 'room.open':
        return openRoom(controller, command);
      case 'room.close':
        return findWorker(command.data.room)?.request(command) ?? { closed: false };
      case 'participant.remove':
        return findWorker(command.data.room)?.request(command) ?? { removed: false };
      case 'participant.add':
      case 'participant.attach':
        return own(controller, command);
      default:
        return getWorker(command.data.room).request(command);
    }
  };
}

/** The running process with the fewest participants, then with the fewest rooms. */
function leastLoaded(workers: readonly Worker[], directory: Directory): number | undefined {
  const ranked = workers
    .map(({ isReady }, index) => ({ index, isReady }))
    .filter(({ isReady }) => isReady)
    .map(({ index }) => ({ index, people: directory.participantsOf(index), rooms: directory.roomsOf(index).length }))
    .sort((a, b) => a.people - b.people || a.rooms - b.rooms);
  return ranked[0]?.index;
}
