import type { FrameFields, Participant, SignalingServerFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import { createCoalescer } from '../../core/coalescer.ts';
import type { RoomEvent } from '../rooms/index.ts';
import { frameOverhead } from './joined-frames.ts';
import type { QualityUpdate } from './member.ts';
import { createEntryWriter, packFrames } from './roster.ts';

type ChangesFrame = FrameFields<SignalingServerFrames['changes']>;

/** Who is told: everybody, or only who has their media on this node. */
export type Audience = string | null;

/** What a large room has not yet been told. */
interface Pending {
  events: RoomEvent[];
  /** By identity: only the last counts, for whom it is. */
  quality: Map<string, { update: QualityUpdate; audience: Audience }>;
}

const everyMs = 500;
/** Entries of one `quality` or `speakers` frame: more would not fit. */
const entriesMax = 60;

export const inFrames = <T>(entries: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(entries.length / entriesMax) }, (_, index) =>
    entries.slice(index * entriesMax, (index + 1) * entriesMax),
  );

interface ChangesDeps<R> {
  clock: Clock;
  frameBytesMax: number;
  sendEvents: (room: R, frame: ChangesFrame) => void;
  sendQuality: (room: R, updates: QualityUpdate[], audience: Audience) => void;
}

export interface Changes<R> {
  framesOf(events: readonly RoomEvent[]): ChangesFrame[];
  hasEvents(room: R): boolean;
  addEvents(room: R, events: readonly RoomEvent[]): void;
  addQuality(room: R, updates: readonly QualityUpdate[], audience: Audience): void;
}

/** Gathers what happens in large rooms: the first of it goes at once, what follows at most twice a second. */
export function createChanges<R>({ clock, frameBytesMax, sendEvents, sendQuality }: ChangesDeps<R>): Changes<R> {
  /** Events, which are numbered without gaps, as frames. */
  function framesOf(events: readonly RoomEvent[]): ChangesFrame[] {
    const pieces = packFrames(events, frameBytesMax - frameOverhead, createEventWriter);
    return pieces.map(({ items, written }) => ({ from: items[0]?.seq ?? 0, events: written }));
  }

  const coalescer = createCoalescer<R, Pending>({
    newPending: () => ({ events: [], quality: new Map() }),
    publish(room, { events, quality }) {
      for (const frame of framesOf(events)) sendEvents(room, frame);
      for (const [audience, some] of Map.groupBy(quality.values(), (one) => one.audience))
        for (const piece of inFrames(some.map(({ update }) => update))) sendQuality(room, piece, audience);
    },
    rest: () => clock.sleep(everyMs),
    first: 'now',
  });

  return {
    framesOf,
    hasEvents: (room) => (coalescer.pendingOf(room)?.events.length ?? 0) > 0,
    addEvents(room, events) {
      coalescer.note(room, (pending) => pending.events.push(...events));
    },
    addQuality(room, updates, audience) {
      coalescer.note(room, ({ quality }) => {
        for (const update of updates) quality.set(update.identity, { update, audience });
      });
    },
  };
}

function createEventWriter(): (event: RoomEvent) => ChangesFrame['events'][number] {
  const writeParticipant = createEntryWriter();
  return ({ type, data }) => {
    const { participant } = data as { participant?: Participant };
    return { type, ...data, ...(participant && { participant: writeParticipant(participant) }) };
  };
}
