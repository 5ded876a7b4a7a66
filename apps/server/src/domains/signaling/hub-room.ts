import type { Unsubscribe } from '../../core/ports.ts';
import type { RoomFrame } from '../rooms/index.ts';
import type { Member } from './member.ts';
import { newSpeaking, type Speaking } from './speakers.ts';

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

export const newHubRoom = (id: string): HubRoom => ({
  id,
  members: new Map(),
  size: 0,
  speaking: newSpeaking(),
  arriving: new Map(),
  nodes: new Set(),
  seq: null,
  delivering: Promise.resolve(),
  unsubscribe: null,
  holds: 0,
});

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
