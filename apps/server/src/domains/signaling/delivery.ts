import type { FrameFields, RoomEventType, SignalingServerFrames } from '@parley/contract';
import type { Log } from '../../core/log.ts';
import type { RoomEvent } from '../rooms/index.ts';
import type { Broadcast } from './broadcast.ts';
import { type Changes, inFrames } from './changes.ts';
import type { HubRoom } from './hub-room.ts';
import type { Member } from './member.ts';

interface DeliveryDeps {
  log: Log;
  broadcast: Broadcast;
  changes: Pick<Changes<HubRoom>, 'addEvents' | 'framesOf' | 'hasEvents'>;
  isLarge: (room: HubRoom) => boolean;
  eventsAfter: (roomId: string, seq: number) => Promise<RoomEvent[]>;
  /** Before the members of the room get the event. */
  onEvent: (room: HubRoom, event: RoomEvent) => void;
}

/** The events of a room, to its members here: each once, and in the order of their numbers. */
export function createDelivery({ log, broadcast, changes, isLarge, eventsAfter, onEvent }: DeliveryDeps) {
  function arrive(room: HubRoom, event: RoomEvent): void {
    void inOrder(room, async () => {
      if (room.seq === null || event.seq <= room.seq) return;
      // The bus keeps no order between processes and may lose messages: the store has all of them.
      if (event.seq === room.seq + 1) deliver(room, [event]);
      else await deliverMissed(room);
    }).catch(() => undefined);
  }

  function inOrder(room: HubRoom, work: () => Promise<void>): Promise<void> {
    const done = room.delivering.then(work);
    room.delivering = done.catch((error) => {
      log.warn({ error, roomId: room.id }, 'room events not delivered; catching up will');
    });
    return done;
  }

  async function deliverMissed(room: HubRoom): Promise<void> {
    if (room.seq !== null) deliver(room, await eventsAfter(room.id, room.seq));
  }

  function deliver(room: HubRoom, events: readonly RoomEvent[]): void {
    const fresh = events.filter(({ seq }) => room.seq === null || seq > room.seq);
    const isTogether = isLarge(room) || changes.hasEvents(room);
    for (const event of fresh) {
      room.seq = event.seq;
      room.size += sizeChanges[event.type] ?? 0;
      onEvent(room, event);
      const isFor = (member: Member): boolean => !isOwnJoin(event, member) && !(isTogether && member.takesChanges);
      broadcast(room, event.type, fieldsOf(event), isFor);
    }
    if (isTogether && fresh.length > 0) changes.addEvents(room, fresh);
  }

  /** Sends a member `joined`, then everything after `since`, then the frames queued for them. */
  function welcome(
    room: HubRoom,
    member: Member,
    since: number,
    counted: { seq: number; size: number },
    answerJoin: () => void,
  ): Promise<void> {
    return inOrder(room, async () => {
      const missed = await eventsAfter(room.id, since);
      deliver(room, missed);
      // After that: the count has in it what is missed up to its `seq`.
      room.size = sizeAfter(counted, missed);
      answerJoin();
      if (member.takesChanges && isLarge(room))
        for (const frame of changes.framesOf(missed)) member.connection?.send('changes', frame);
      else
        for (const event of missed) if (!isOwnJoin(event, member)) member.connection?.send(event.type, fieldsOf(event));
      room.seq = Math.max(room.seq ?? since, missed.at(-1)?.seq ?? since);
      sendHeld(member);
    });
  }

  return {
    arrive,
    welcome,
    /** Reads from the store what the bus has lost. */
    catchUp: (room: HubRoom): Promise<void> => inOrder(room, () => deliverMissed(room)),
  };
}

/** What was queued for a member that had not yet received `joined`. */
function sendHeld(member: Member): void {
  const backlog = member.backlog ?? [];
  member.backlog = null;
  for (const send of backlog) send();
  for (const updates of inFrames([...member.heldQuality.values()])) member.connection?.send('quality', { updates });
  member.heldQuality.clear();
}

const sizeChanges: Partial<Record<RoomEventType, number>> = { 'participant.joined': 1, 'participant.left': -1 };

const sizeAfter = ({ seq, size }: { seq: number; size: number }, events: readonly RoomEvent[]): number =>
  events.reduce((sum, event) => sum + (event.seq > seq ? (sizeChanges[event.type] ?? 0) : 0), size);

/** A participant gets no event of their own join. */
function isOwnJoin(event: RoomEvent, { session }: Member): boolean {
  const { participant } = event.data as { participant?: { sessionId?: string } };
  return event.type === 'participant.joined' && participant?.sessionId === session.id;
}

/** The data of a room event is written by the code of its type, and stored and published as it is. */
const fieldsOf = ({ seq, data }: RoomEvent): FrameFields<SignalingServerFrames[RoomEventType]> =>
  ({ seq, ...data }) as FrameFields<SignalingServerFrames[RoomEventType]>;
