import type { Participant } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { RoomEvent } from '../rooms/index.ts';
import type { Broadcast } from './broadcast.ts';
import { type Audience, type Changes, inFrames } from './changes.ts';
import type { HubRoom } from './hub-room.ts';
import type { Member, QualityUpdate } from './member.ts';
import { createSpeakers } from './speakers.ts';

interface TransientDeps {
  clock: Clock;
  broadcast: Broadcast;
  addQuality: Changes<HubRoom>['addQuality'];
  isLarge: (room: HubRoom) => boolean;
}

/** What is no event of the room and stored nowhere: the quality of connections, and who speaks. */
export function createTransient({ clock, broadcast, addQuality, isLarge }: TransientDeps) {
  const speakers = createSpeakers<HubRoom>({
    clock,
    send(room, updates, audience) {
      for (const some of inFrames(updates)) broadcast(room, 'speakers', { speakers: some }, isAmong(audience));
    },
  });

  /** Whose socket is lost or found, and what a node says of those on it: at once in a room of usual size. */
  function announceQuality(room: HubRoom, updates: readonly QualityUpdate[], node: string | null = null): void {
    const audience = node !== null && room.nodes.has(node) ? null : node;
    if (isLarge(room)) addQuality(room, updates, audience);
    else for (const piece of inFrames(updates)) sendQuality(room, piece, audience);
  }

  /** Who has not yet received `joined` gets the last of it after that. */
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

  return {
    announceQuality,
    sendQuality,
    followSpeakers,
    tellSpeakers: speakers.hear,
    stopSpeakers: speakers.stop,
  };
}

const isAmong =
  (audience: Audience) =>
  ({ serverName }: Member): boolean =>
    audience === null || serverName === audience;

/** As many as a room may have. */
const heldQualityMax = 1_000;

function holdQuality({ heldQuality }: Member, updates: readonly QualityUpdate[]): void {
  for (const update of updates)
    if (heldQuality.size < heldQualityMax || heldQuality.has(update.identity)) heldQuality.set(update.identity, update);
}
