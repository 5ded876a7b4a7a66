import type { FrameFields, Participant, RoomEventType, SignalingServerFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Unsubscribe } from '../../core/ports.ts';
import { frameText, type SocketFrame } from '../../core/socket.ts';
import type { RoomBus, RoomEvent, RoomFrame, RoomMessage } from '../rooms/index.ts';
import { type Audience, createChanges, inFrames } from './changes.ts';
import type { Member, QualityUpdate } from './member.ts';
import { createSpeakers, newSpeaking, type SpeakerUpdate, type Speaking } from './speakers.ts';

/** A room as far as this process serves it. */
export interface HubRoom {
  readonly id: string;
  readonly members: Map<string, Member>;
  /** How many are in the room, wherever: as the store said last, and as events have changed it since. */
  size: number;
  readonly speaking: Speaking;
  /** Identity → frames for a participant who is about to resume here, and is no member yet. */
  readonly arriving: Map<string, RoomFrame[]>;
  /** That the room was on when somebody last joined here. */
  nodes: ReadonlySet<string>;
  /** The last event given to this process's members; null while there is none of them. */
  seq: number | null;
  /** Events go out one after another, also while one of them is being read from the store. */
  delivering: Promise<void>;
  unsubscribe: Unsubscribe | null;
  /** Joins under way: the room is not released while there are any. */
  holds: number;
}

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
export function createHub({
  clock,
  log,
  roomBus,
  frameBytesMax,
  usualSize,
  eventsAfter,
  lastSeqs,
  onMessage,
}: HubDeps) {
  const rooms = new Map<string, HubRoom>();
  const changes = createChanges<HubRoom>({
    clock,
    frameBytesMax,
    sendEvents: (room, frame) => broadcast(room, 'changes', frame, takesChanges),
    sendQuality,
  });
  const speakers = createSpeakers<HubRoom>({ clock, send: sendSpeakers });

  /** Holds the room and subscribes to its events; call `exit` in the end. */
  async function enter(roomId: string): Promise<HubRoom> {
    const known = rooms.get(roomId);
    const room: HubRoom = known ?? {
      id: roomId,
      members: new Map(),
      size: 0,
      speaking: newSpeaking(),
      arriving: new Map(),
      nodes: new Set(),
      seq: null,
      delivering: Promise.resolve(),
      unsubscribe: null,
      holds: 0,
    };
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
    speakers.stop(room);
    if (room.holds > 0) return;
    room.unsubscribe?.();
    room.unsubscribe = null;
    if (rooms.get(room.id) === room) rooms.delete(room.id);
  }

  function receive(room: HubRoom, message: RoomMessage): void {
    if (message.is !== 'event') onMessage(room, message);
    else arrive(room, message.event);
  }

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
      followSpeakers(room, event);
      const isFor = (member: Member): boolean => !isOwnJoin(event, member) && !(isTogether && takesChanges(member));
      broadcast(room, event.type, fieldsOf(event), isFor);
    }
    if (isTogether && fresh.length > 0) changes.addEvents(room, fresh);
  }

  const isLarge = ({ size }: HubRoom): boolean => size > usualSize;

  /** Whose socket is lost or found, and what a node says of those on it: at once in a room of usual size. */
  function announceQuality(room: HubRoom, updates: readonly QualityUpdate[], node: string | null = null): void {
    const audience = node !== null && room.nodes.has(node) ? null : node;
    if (isLarge(room)) changes.addQuality(room, updates, audience);
    else for (const piece of inFrames(updates)) sendQuality(room, piece, audience);
  }

  /** Quality is no event of the room: who has not yet received `joined` gets the last of it after that. */
  function sendQuality(room: HubRoom, updates: QualityUpdate[], audience: Audience): void {
    const isFor = isAmong(audience);
    for (const member of room.members.values()) if (member.backlog && isFor(member)) holdQuality(member, updates);
    broadcast(room, 'quality', { updates }, isFor);
  }

  function followSpeakers(room: HubRoom, { type, data }: RoomEvent): void {
    const { identity, participant } = data as { identity?: string; participant?: Participant };
    if (type === 'participant.left' && identity !== undefined) speakers.left(room, identity);
    if (type === 'participant.joined' && participant) speakers.joined(room, participant.identity);
  }

  function sendSpeakers(room: HubRoom, updates: SpeakerUpdate[], audience: Audience): void {
    for (const some of inFrames(updates)) broadcast(room, 'speakers', { speakers: some }, isAmong(audience));
  }

  /** The same bytes for all members that have received `joined`. */
  function broadcast<K extends keyof SignalingServerFrames>(
    room: HubRoom,
    type: K,
    fields: FrameFields<SignalingServerFrames[K]>,
    isFor: (member: Member) => boolean = () => true,
  ): void {
    let frame: SocketFrame | undefined;
    for (const member of room.members.values()) {
      if (member.backlog || !member.connection || !isFor(member)) continue;
      frame ??= frameText(JSON.stringify({ type, ...fields, ts: clock.now() }));
      member.connection.write(frame);
    }
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
      const backlog = member.backlog ?? [];
      member.backlog = null;
      for (const send of backlog) send();
      for (const updates of inFrames([...member.heldQuality.values()])) member.connection?.send('quality', { updates });
      member.heldQuality.clear();
    });
  }

  /** Delivers what the bus has lost: one query says which rooms are behind, and only those are read. */
  async function catchUp(): Promise<void> {
    const served = [...rooms.values()].filter(({ seq }) => seq !== null);
    if (served.length === 0) return;
    const last = new Map((await lastSeqs(served.map(({ id }) => id))).map(({ roomId, seq }) => [roomId, seq]));
    const behind = served.filter(({ id, seq }) => (last.get(id) ?? 0) > (seq ?? 0));
    await Promise.all(behind.map((room) => inOrder(room, () => deliverMissed(room)).catch(() => undefined)));
  }

  roomBus.onGap(() => void catchUp().catch((error) => log.warn({ error }, 'rooms not caught up yet')));

  return {
    enter,
    exit,
    remove,
    broadcast,
    announceQuality,
    tellSpeakers: speakers.hear,
    welcome,
    catchUp,
    find: (roomId: string): HubRoom | undefined => rooms.get(roomId),
    rooms: (): IterableIterator<HubRoom> => rooms.values(),
    members: (): Member[] => [...rooms.values()].flatMap((room) => [...room.members.values()]),
  };
}

/**
 * Resumes a session here. The process that had its socket hands over what it held as soon as it hears of that: maybe
 * before the participant is a member here.
 */
export async function whileArriving<T>(room: HubRoom, identity: string, resume: () => Promise<T>) {
  const handedOver: RoomFrame[] = [];
  room.arriving.set(identity, handedOver);
  try {
    return { resumed: await resume(), handedOver };
  } finally {
    room.arriving.delete(identity);
  }
}

const takesChanges = (member: Member): boolean => member.takesChanges;

const isAmong =
  (audience: Audience) =>
  ({ serverName }: Member): boolean =>
    audience === null || serverName === audience;

const sizeChanges: Partial<Record<RoomEventType, number>> = { 'participant.joined': 1, 'participant.left': -1 };

const sizeAfter = ({ seq, size }: { seq: number; size: number }, events: readonly RoomEvent[]): number =>
  events.reduce((sum, event) => sum + (event.seq > seq ? (sizeChanges[event.type] ?? 0) : 0), size);

/** As many as a room may have. */
const heldQualityMax = 1_000;

function holdQuality({ heldQuality }: Member, updates: readonly QualityUpdate[]): void {
  for (const update of updates)
    if (heldQuality.size < heldQualityMax || heldQuality.has(update.identity)) heldQuality.set(update.identity, update);
}

/** A participant gets no event of their own join. */
function isOwnJoin(event: RoomEvent, { session }: Member): boolean {
  const { participant } = event.data as { participant?: { sessionId?: string } };
  return event.type === 'participant.joined' && participant?.sessionId === session.id;
}

/** The data of a room event is written by the code of its type, and stored and published as it is. */
const fieldsOf = ({ seq, data }: RoomEvent): FrameFields<SignalingServerFrames[RoomEventType]> =>
  ({ seq, ...data }) as FrameFields<SignalingServerFrames[RoomEventType]>;
