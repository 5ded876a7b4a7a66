import type { MediaEventName, MediaEvents } from '@parley/contract/media-control';
import { Controller } from './controllers.ts';

/** Events that only the owner of the participant hears; all others are heard by everybody who watches the room. */
const OWNED: readonly MediaEventName[] = ['sub.offer', 'transport.state', 'stream.state', 'publish.quality', 'data'];

interface RoomRecord {
  /** Index of the process that holds the room. */
  worker: number;
  openedBy: Set<string>;
  /** Participant → its identity and the controller that owns it. */
  participants: Map<string, { identity: string; owner: string }>;
}

/** Which process holds which room, and which controller hears of it. */
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

  forget(controller: Controller): { room: string; participant: string }[] {
    this.#controllers.delete(controller.id);
    const orphans: { room: string; participant: string }[] = [];
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

  /** Before the command goes out: its first events may come before its answer. Undoes itself when the command fails. */
  own(room: string, participant: string, identity: string | undefined, controller: string): () => void {
    const record = this.#rooms.get(room);
    const before = record?.participants.get(participant);
    record?.participants.set(participant, { identity: identity ?? before?.identity ?? '', owner: controller });
    return () => {
      if (before) record?.participants.set(participant, before);
      else record?.participants.delete(participant);
    };
  }

  event<Name extends MediaEventName>(type: Name, data: MediaEvents[Name]): void {
    const { room, participant } = data as { room: string; participant?: string };
    const record = this.#rooms.get(room);
    if (!record) return;
    for (const id of this.#listeners(record, type, participant)) this.#controllers.get(id)?.event(type, data);
    if (type === 'participant.closed' && participant) record.participants.delete(participant);
    if (type === 'room.closed') this.#rooms.delete(room);
  }

  #listeners(record: RoomRecord, type: MediaEventName, participant: string | undefined): Set<string> {
    if (OWNED.includes(type)) {
      const owner = participant && record.participants.get(participant)?.owner;
      return new Set(owner ? [owner] : []);
    }
    return new Set([...record.openedBy, ...[...record.participants.values()].map(({ owner }) => owner)]);
  }

  /** The process with this room died: everybody hears that it and its participants are gone. */
  lose(room: string): void {
    for (const [participant, { identity }] of [...(this.#rooms.get(room)?.participants ?? [])])
      this.event('participant.closed', { room, participant, identity, reason: 'MEDIA_FAILURE' });
    this.event('room.closed', { room, reason: 'MEDIA_FAILURE' });
  }
}
