import { type MediaAddress, type MediaEvent, mediaEventAudience } from '@parley/contract/media-control';
import { Controller } from './controllers.ts';

interface RoomRecord {
  /** Index of the process that holds the room. */
  worker: number;
  openedBy: Set<string>;
  /** Participant → its identity and the controller that owns it. */
  participants: Map<string, { identity: string; owner: string }>;
}

/** Which process holds which room, and which controllers get its events. */
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
      for (const [participant, { owner }] of record.participants)
        if (owner === controller.id) orphans.push({ room, participant });
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

  workerOf(room: string): number | undefined {
    return this.#rooms.get(room)?.worker;
  }

  roomsOf(worker: number): string[] {
    return [...this.#rooms].flatMap(([room, record]) => (record.worker === worker ? [room] : []));
  }

  participantsOf(worker: number): number {
    let count = 0;
    for (const record of this.#rooms.values()) if (record.worker === worker) count += record.participants.size;
    return count;
  }

  open(room: string, worker: number, controller: string): void {
    const record = this.#rooms.get(room);
    if (record) record.openedBy.add(controller);
    else this.#rooms.set(room, { worker, openedBy: new Set([controller]), participants: new Map() });
  }

  /** Called before the command is sent, since its first events may precede its answer; the result undoes it. */
  own(room: string, participant: string, identity: string | undefined, controller: string): () => void {
    const record = this.#rooms.get(room);
    const before = record?.participants.get(participant);
    record?.participants.set(participant, { identity: identity ?? before?.identity ?? '', owner: controller });
    return () => {
      if (before) record?.participants.set(participant, before);
      else record?.participants.delete(participant);
    };
  }

  /** `worker` emitted it. A late event about a room that is open elsewhere by now is discarded. */
  emit(event: MediaEvent, worker: number): void {
    const { room } = event.data;
    const record = this.#rooms.get(room);
    if (record?.worker !== worker) return;
    for (const id of audienceOf(record, event)) this.#controllers.get(id)?.emit(event);
    if (event.type === 'participant.closed') record.participants.delete(event.data.participant);
    if (event.type === 'room.closed') this.#rooms.delete(room);
  }

  /** The process with this room exited: its participants and the room are closed for all controllers. */
  lose(room: string, worker: number): void {
    const reason = 'MEDIA_FAILURE';
    for (const [participant, { identity }] of [...(this.#rooms.get(room)?.participants ?? [])])
      this.emit({ type: 'participant.closed', data: { room, participant, identity, reason } }, worker);
    this.emit({ type: 'room.closed', data: { room, reason } }, worker);
  }
}

/** Ids of the controllers that get an event. */
function audienceOf(record: RoomRecord, { type, data }: MediaEvent): Set<string> {
  if (mediaEventAudience[type] === 'room')
    return new Set([...record.openedBy, ...[...record.participants.values()].map(({ owner }) => owner)]);
  const owner = 'participant' in data && record.participants.get(data.participant)?.owner;
  return new Set(owner ? [owner] : []);
}
