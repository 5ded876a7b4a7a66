import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { RoomBus, RoomEvent, RoomMessage } from '../rooms/index.ts';
import { createBroadcast } from './broadcast.ts';
import { createChanges } from './changes.ts';
import { createDelivery } from './delivery.ts';
import { type HubRoom, newHubRoom } from './hub-room.ts';
import type { Member } from './member.ts';
import { createTransient } from './transient.ts';

interface HubDeps {
  clock: Clock;
  log: Log;
  roomBus: RoomBus;
  frameBytesMax: number;
  /** A room with more than this is large: its events go together, to those who take them so. */
  usualSize: number;
  eventsAfter: (roomId: string, seq: number) => Promise<RoomEvent[]>;
  /** The number of the last event of each of these rooms. */
  lastSeqs: (roomIds: readonly string[]) => Promise<{ roomId: string; seq: number }[]>;
  /** Everything but events, which the hub itself delivers. */
  onMessage: (room: HubRoom, message: Exclude<RoomMessage, { is: 'event' }>) => void;
}

export type Hub = ReturnType<typeof createHub>;

/** The rooms of this process: their members here, and which events those have received. */
export function createHub(deps: HubDeps) {
  const { clock, log, roomBus, frameBytesMax, usualSize, lastSeqs, onMessage } = deps;
  const rooms = new Map<string, HubRoom>();
  const isLarge = ({ size }: HubRoom): boolean => size > usualSize;
  const broadcast = createBroadcast({ clock });
  const changes = createChanges<HubRoom>({
    clock,
    frameBytesMax,
    sendEvents: (room, frame) => broadcast(room, 'changes', frame, ({ takesChanges }) => takesChanges),
    sendQuality: (room, updates, audience) => transient.sendQuality(room, updates, audience),
  });
  const transient = createTransient({ clock, broadcast, addQuality: changes.addQuality, isLarge });
  const delivery = createDelivery({ ...deps, broadcast, changes, isLarge, onEvent: transient.followSpeakers });

  /** Holds the room and subscribes to its events; call `exit` in the end. */
  async function enter(roomId: string): Promise<HubRoom> {
    const room = rooms.get(roomId) ?? newHubRoom(roomId);
    rooms.set(roomId, room);
    room.holds += 1;
    if (!room.unsubscribe) {
      const unsubscribe = await roomBus.subscribe(roomId, (message) => receive(room, message));
      if (room.unsubscribe) unsubscribe();
      else room.unsubscribe = unsubscribe;
    }
    return room;
  }

  function exit(room: HubRoom): void {
    room.holds -= 1;
    releaseUnused(room);
  }

  function remove(room: HubRoom, member: Member): void {
    if (room.members.get(member.session.id) === member) room.members.delete(member.session.id);
    releaseUnused(room);
  }

  function releaseUnused(room: HubRoom): void {
    if (room.members.size > 0) return;
    transient.stopSpeakers(room);
    if (room.holds > 0) return;
    room.unsubscribe?.();
    room.unsubscribe = null;
    if (rooms.get(room.id) === room) rooms.delete(room.id);
  }

  function receive(room: HubRoom, message: RoomMessage): void {
    if (message.is !== 'event') onMessage(room, message);
    else delivery.arrive(room, message.event);
  }

  /** Delivers what the bus has lost: one query says which rooms are behind, and only those are read. */
  async function catchUp(): Promise<void> {
    const served = [...rooms.values()].filter(({ seq }) => seq !== null);
    if (served.length === 0) return;
    const last = new Map((await lastSeqs(served.map(({ id }) => id))).map(({ roomId, seq }) => [roomId, seq]));
    const behind = served.filter(({ id, seq }) => (last.get(id) ?? 0) > (seq ?? 0));
    await Promise.all(behind.map((room) => delivery.catchUp(room).catch(() => undefined)));
  }

  roomBus.onGap(() => void catchUp().catch((error) => log.warn({ error }, 'rooms not caught up yet')));

  return {
    enter,
    exit,
    remove,
    broadcast,
    announceQuality: transient.announceQuality,
    tellSpeakers: transient.tellSpeakers,
    welcome: delivery.welcome,
    catchUp,
    find: (roomId: string): HubRoom | undefined => rooms.get(roomId),
    rooms: (): IterableIterator<HubRoom> => rooms.values(),
    members: (): Member[] => [...rooms.values()].flatMap((room) => [...room.members.values()]),
  };
}
