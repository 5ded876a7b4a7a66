import type {
  MediaAddress,
  MediaCommand,
  MediaCommandName,
  MediaRequests,
  MediaResponses,
  MediaRoomSnapshot,
} from '@parley/contract/media-control';
import type { MediaClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import type { Controller } from './controllers.ts';
import type { Directory } from './directory.ts';
import type { FleetPipes } from './fleet-pipes.ts';
import type { Spread } from './spread.ts';
import type { Worker } from './workers.ts';

/** How long `room.open` waits for a media process that is restarting; less than the control plane waits for us. */
const READY_MS_MAX = 4_000;

type RoutedWorker = Pick<Worker, 'isReady' | 'whenReady' | 'request'>;

interface ExecutorDeps {
  directory: Directory;
  workers: readonly RoutedWorker[];
  spread: Pick<Spread, 'place' | 'link' | 'isBusy'>;
  fleetPipes: Pick<FleetPipes, 'meet' | 'link' | 'sync'>;
  /** Rooms at most. */
  capacity: number;
  clock: MediaClock;
  isDraining(): boolean;
}

type RoomOpen = MediaRequests['room.open'];
type Execute = (controller: Controller, command: MediaCommand) => Promise<MediaResponses[MediaCommandName]>;

/** Routes a command to the media process that has its participant, or to all that have its room. */
export function createExecutor(deps: ExecutorDeps): Execute {
  const { directory, workers, spread, fleetPipes, capacity, clock, isDraining } = deps;
  const legsOf = (room: string): RoutedWorker[] => directory.legsOf(room).flatMap((index) => workers[index] ?? []);
  const findWorker = (room: string, participant?: string): RoutedWorker | undefined =>
    workers[directory.workerOf(room, participant) ?? -1];

  function getWorker(room: string, participant?: string): RoutedWorker {
    const worker = findWorker(room, participant);
    if (!worker) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    return worker;
  }

  async function openRoom(controller: Controller, command: MediaCommand<'room.open'>) {
    const { room } = command.data;
    const index = directory.workerOf(room) ?? (await placeRoom());
    directory.open(command.data, directory.workerOf(room) ?? index, controller.id);
    const answer = await openLeg(controller, directory.workerOf(room) ?? index, command.data);
    return { ...answer, ...(spread.isBusy && directory.participantsIn(room) > 0 && { busy: true }) };
  }

  /** Opens the room in a process; where it is in others too, they hear of each other. */
  async function openLeg({ id }: Controller, index: number, data: RoomOpen) {
    const worker = workers[index];
    if (!worker) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    const answer = await worker.request({ type: 'room.open', data });
    // The room may have closed just before the process read the command, which then opened it anew.
    directory.open(data, index, id);
    if (answer.created) {
      spread.link(data.room, index);
      fleetPipes.sync(data.room);
    }
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
    if (room !== undefined) getWorker(room);
    const asked = room === undefined ? workers.filter((worker) => worker.isReady) : legsOf(room);
    const answers = await Promise.all(asked.map((worker) => worker.request(command)));
    return { rooms: joinLegs(answers.flatMap(({ rooms }) => rooms)), seq };
  }

  async function add(controller: Controller, command: MediaCommand<'participant.add'>) {
    const { room, participant, identity } = command.data;
    const first = getWorker(room);
    const known = directory.legOf(command.data);
    const index = known ?? spread.place(room, identity) ?? -1;
    const worker = workers[index] ?? first;
    const settings = directory.settingsOf(room);
    // Not awaited: a command that follows this one must not overtake it.
    const opened = worker !== first && settings ? openLeg(controller, index, settings) : undefined;
    if (opened && settings) directory.open(settings, index, controller.id);
    const releaseOwnership = directory.own({ room, participant }, identity, controller.id, index);
    const added = worker.request(command);
    try {
      const [answer] = await Promise.all([added, opened]);
      const elsewhere = command.data.brief ? [] : await othersOf(room, worker);
      return { ...answer, participants: [...answer.participants, ...elsewhere] };
    } catch (error) {
      // The process may have let in whom the control plane will hear no more of.
      if (known === undefined) await added.then(() => remove(worker, { room, participant })).catch(() => {});
      releaseOwnership();
      throw error;
    }
  }

  const remove = (worker: RoutedWorker, address: MediaAddress) =>
    worker.request({ type: 'participant.remove', data: { ...address, reason: 'MEDIA_FAILURE' } });

  /** Who is in the room's other processes, but for viewers. One that ends just now has nobody any more. */
  async function othersOf(room: string, worker: RoutedWorker) {
    const elsewhere = legsOf(room).filter((leg) => leg !== worker);
    const answers = await Promise.all(
      elsewhere.map((leg) =>
        leg.request({ type: 'snapshot', data: { room, withoutViewers: true } }).catch(() => ({ rooms: [] })),
      ),
    );
    return answers.flatMap(({ rooms }) => rooms).flatMap(({ participants }) => participants);
  }

  async function attach(controller: Controller, command: MediaCommand<'participant.attach'>) {
    const { room, participant } = command.data;
    const worker = getWorker(room, participant);
    const releaseOwnership = directory.own(
      command.data,
      undefined,
      controller.id,
      directory.workerOf(room, participant) ?? -1,
    );
    try {
      return await worker.request(command);
    } catch (error) {
      releaseOwnership();
      throw error;
    }
  }

  /** Of all processes that have the room. One that ends just now has nobody any more, unless none is left to answer. */
  async function askLegs<Name extends 'stats' | 'data.send' | 'room.close'>(command: MediaCommand<Name>) {
    const outcomes = await Promise.allSettled(legsOf(command.data.room).map((leg) => leg.request(command)));
    const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    const failure = answers.length > 0 ? failures.find((reason) => !isEnded(reason)) : failures[0];
    if (failure) throw failure;
    return answers;
  }

  async function stats(command: MediaCommand<'stats'>) {
    const { room, participant } = command.data;
    const worker = getWorker(room, participant);
    const answers = participant === undefined ? await askLegs(command) : [await worker.request(command)];
    return { participants: answers.flatMap(({ participants }) => participants) };
  }

  /** What a participant sends goes by pipes from its process to the others; what the server sends goes to each of them. */
  async function sendData(command: MediaCommand<'data.send'>) {
    const { room, participant } = command.data;
    const worker = getWorker(room, participant);
    const answers = participant === undefined ? await askLegs(command) : [await worker.request(command)];
    return { delivered: answers.reduce((sum, { delivered }) => sum + delivered, 0) };
  }

  async function closeRoom(command: MediaCommand<'room.close'>) {
    const answers = await askLegs(command);
    return { closed: answers.some(({ closed }) => closed) };
  }

  return async (controller, command) => {
    switch (command.type) {
      case 'ping':
        return { at: new Date(clock.wall()).toISOString() };
      case 'snapshot':
        return snapshot(controller, command);
      case 'room.open':
        return openRoom(controller, command);
      case 'node.meet':
        fleetPipes.meet(command.data.node, command.data.pipes);
        return {};
      case 'room.link':
        directory.hear(command.data.room, controller.id);
        return fleetPipes.link(command.data);
      case 'room.close':
        return closeRoom(command);
      case 'participant.remove':
        return findWorker(command.data.room, command.data.participant)?.request(command) ?? { removed: false };
      case 'participant.add':
        return add(controller, command);
      case 'participant.attach':
        return attach(controller, command);
      case 'stats':
        return stats(command);
      case 'data.send':
        return sendData(command);
      default:
        return getWorker(command.data.room, command.data.participant).request(command);
    }
  };
}

const isEnded = (reason: unknown): boolean => reason instanceof MediaError && reason.code === 'INTERNAL';

/** A room of several processes as the one room that it is. */
function joinLegs(legs: readonly MediaRoomSnapshot[]): MediaRoomSnapshot[] {
  const rooms = new Map<string, MediaRoomSnapshot>();
  for (const leg of legs) {
    const known = rooms.get(leg.room);
    if (!known) rooms.set(leg.room, leg);
    else
      rooms.set(leg.room, {
        room: leg.room,
        openedAt: known.openedAt < leg.openedAt ? known.openedAt : leg.openedAt,
        participants: [...known.participants, ...leg.participants],
      });
  }
  return [...rooms.values()];
}

/** The running process with the fewest participants, then with the fewest rooms. */
function leastLoaded(workers: readonly RoutedWorker[], directory: Directory): number | undefined {
  const ranked = workers
    .map(({ isReady }, index) => ({ index, isReady }))
    .filter(({ isReady }) => isReady)
    .map(({ index }) => ({ index, people: directory.participantsOf(index), rooms: directory.roomsOf(index).length }))
    .sort((a, b) => a.people - b.people || a.rooms - b.rooms);
  return ranked[0]?.index;
}
