import {
  type MediaAddress,
  type MediaEvent,
  type MediaRequests,
  mediaEventAudience,
} from '@parley/contract/media-control';
import { Controller } from './controllers.ts';
import { RoomPeople } from './room-people.ts';

/** The other nodes that a room is on, and which pipes each of its processes was told of: ticket → peer. */
export interface RoomLinks {
  nodes: Set<string>;
  readonly done: Map<number, Map<string, string>>;
}

interface RoomRecord {
  /** Indices of the processes that the room is in, the first one first. */
  legs: Set<number>;
  settings: MediaRequests['room.open'];
  openedBy: Set<string>;
  links: RoomLinks;
  participants: RoomPeople;
}

/** Which processes have which room and participant, and which controllers get its events. */
export class Directory {
  readonly #rooms = new Map<string, RoomRecord>();
  readonly #controllers = new Map<string, Controller>();

  controller(id: string): Controller {
    let controller = this.#controllers.get(id);
    if (!controller) {
      controller = new Controller(id);
      this.#controllers.set(id, controller);
    }
    return controller;
  }

  get controllers(): IterableIterator<Controller> {
    return this.#controllers.values();
  }

  /** Evicts a controller; the participants that it owned. */
  evict(controller: Controller): MediaAddress[] {
    this.#controllers.delete(controller.id);
    const orphans: MediaAddress[] = [];
    for (const [room, record] of this.#rooms) {
      record.openedBy.delete(controller.id);
      for (const participant of record.participants.ofOwner(controller.id)) orphans.push({ room, participant });
    }
    return orphans;
  }

  get roomCount(): number {
    return this.#rooms.size;
  }

  get participantCount(): number {
    let count = 0;
    for (const { participants } of this.#rooms.values()) count += participants.size;
    return count;
  }

  /** The process that has this participant; without one, the room's first. */
  workerOf(room: string, participant?: string): number | undefined {
    const record = this.#rooms.get(room);
    const own = participant === undefined ? undefined : record?.participants.get(participant)?.worker;
    return own ?? record?.legs.values().next().value;
  }

  /** The process of a participant that is there already. */
  legOf({ room, participant }: MediaAddress): number | undefined {
    return this.#rooms.get(room)?.participants.get(participant)?.worker;
  }

  /** The processes that the room is in, the first one first. */
  legsOf(room: string): number[] {
    return [...(this.#rooms.get(room)?.legs ?? [])];
  }

  /** The process that has somebody of this identity. */
  workerOfIdentity(room: string, identity: string): number | undefined {
    return this.#rooms.get(room)?.participants.ofIdentity(identity)?.worker;
  }

  roomsOf(worker: number): string[] {
    return [...this.#rooms].flatMap(([room, record]) => (record.legs.has(worker) ? [room] : []));
  }

  participantsOf(worker: number): number {
    let count = 0;
    for (const { participants } of this.#rooms.values())
      for (const one of participants.values()) if (one.worker === worker) count += 1;
    return count;
  }

  open(settings: MediaRequests['room.open'], worker: number, controller: string): void {
    const { room } = settings;
    const record = this.#rooms.get(room) ?? newRecord(settings);
    record.legs.add(worker);
    record.openedBy.add(controller);
    this.#rooms.set(room, record);
  }

  /** As the room was opened, to open it in another process. */
  settingsOf(room: string): MediaRequests['room.open'] | undefined {
    return this.#rooms.get(room)?.settings;
  }

  linksOf(room: string): RoomLinks | undefined {
    return this.#rooms.get(room)?.links;
  }

  roomsLinkedTo(node: string): string[] {
    return [...this.#rooms].flatMap(([room, { links }]) => (links.nodes.has(node) ? [room] : []));
  }

  /** The controller hears of the room from now on. */
  hear(room: string, controller: string): void {
    this.#rooms.get(room)?.openedBy.add(controller);
  }

  /** Called before the command is sent, since its first events may precede its answer; the result undoes it. */
  own({ room, participant }: MediaAddress, identity: string | undefined, controller: string, worker: number) {
    const record = this.#rooms.get(room);
    const before = record?.participants.get(participant);
    record?.participants.set(participant, { identity: identity ?? before?.identity ?? '', owner: controller, worker });
    return (): void => {
      if (before) record?.participants.set(participant, before);
      else record?.participants.delete(participant);
    };
  }

  /** `worker` emitted it. A late event about a room that is open elsewhere by now is discarded. */
  emit(event: MediaEvent, worker: number): void {
    const { room } = event.data;
    const record = this.#rooms.get(room);
    if (!record?.legs.has(worker)) return;
    if (event.type === 'room.closed' && record.legs.size > 1) {
      // The room goes on in other processes.
      record.legs.delete(worker);
      record.links.done.delete(worker);
      return;
    }
    this.emitToRoom(event);
    if (event.type === 'participant.closed') record.participants.delete(event.data.participant);
    if (event.type === 'room.closed') this.#rooms.delete(room);
  }

  /** An event of the node itself. */
  emitToRoom(event: MediaEvent): void {
    const record = this.#rooms.get(event.data.room);
    if (record) for (const id of audienceOf(record, event)) this.#controllers.get(id)?.emit(event);
  }

  participantsIn(room: string): number {
    return this.#rooms.get(room)?.participants.size ?? 0;
  }

  /** A process with this room exited: its participants are closed for all controllers, and the room if it was its last. */
  lose(room: string, worker: number): void {
    const reason = 'MEDIA_FAILURE';
    for (const [participant, { identity, worker: own }] of [...(this.#rooms.get(room)?.participants ?? [])])
      if (own === worker)
        this.emit({ type: 'participant.closed', data: { room, participant, identity, reason } }, worker);
    this.emit({ type: 'room.closed', data: { room, reason } }, worker);
  }
}

const newRecord = (settings: MediaRequests['room.open']): RoomRecord => ({
  legs: new Set(),
  settings,
  openedBy: new Set(),
  links: { nodes: new Set(), done: new Map() },
  participants: new RoomPeople(),
});

/** Ids of the controllers that get an event. */
function audienceOf(record: RoomRecord, { type, data }: MediaEvent): Set<string> {
  if (mediaEventAudience[type] === 'room') return new Set([...record.openedBy, ...record.participants.owners()]);
  const owner = 'participant' in data && record.participants.get(data.participant)?.owner;
  return new Set(owner ? [owner] : []);
}
