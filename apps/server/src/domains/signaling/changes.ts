import type { FrameFields, Participant, SignalingServerFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { RoomEvent } from '../rooms/index.ts';
import { frameOverhead } from './joined-frames.ts';
import type { QualityUpdate } from './member.ts';
import { createEntryWriter, packFrames } from './roster.ts';

type ChangesFrame = FrameFields<SignalingServerFrames['changes']>;

/** Who is told: everybody, or only who has their media on this node. */
export type Audience = string | null;

/** What a large room has not yet been told. */
export interface Pending {
  events: RoomEvent[];
  /** By identity: only the last counts, for whom it is. */
  quality: Map<string, { update: QualityUpdate; audience: Audience }>;
  flushedAt: number;
  isWaiting: boolean;
}

export const newPending = (): Pending => ({
  events: [],
  quality: new Map(),
  flushedAt: Number.NEGATIVE_INFINITY,
  isWaiting: false,
});

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

/** Gathers what happens in large rooms: the first of it goes at once, what follows at most twice a second. */
export function createChanges<R extends { readonly pending: Pending }>({
  clock,
  frameBytesMax,
  sendEvents,
  sendQuality,
}: ChangesDeps<R>) {
  /** Events, which are numbered without gaps, as frames. */
  function framesOf(events: readonly RoomEvent[]): ChangesFrame[] {
    const pieces = packFrames(events, frameBytesMax - frameOverhead, createEventWriter);
    return pieces.map(({ items, written }) => ({ from: items[0]?.seq ?? 0, events: written }));
  }

  function flush(room: R): void {
    const { pending } = room;
    pending.flushedAt = clock.elapsed();
    for (const frame of framesOf(pending.events.splice(0))) sendEvents(room, frame);
    const told = Map.groupBy(pending.quality.values(), ({ audience }) => audience);
    pending.quality.clear();
    for (const [audience, some] of told)
      for (const piece of inFrames(some.map(({ update }) => update))) sendQuality(room, piece, audience);
  }

  function flushSoon(room: R): void {
    const { pending } = room;
    if (pending.isWaiting) return;
    const waitMs = pending.flushedAt + everyMs - clock.elapsed();
    if (waitMs <= 0) {
      flush(room);
      return;
    }
    pending.isWaiting = true;
    void clock.sleep(waitMs).then(() => {
      pending.isWaiting = false;
      flush(room);
    });
  }

  return {
    framesOf,
    addEvents(room: R, events: readonly RoomEvent[]): void {
      room.pending.events.push(...events);
      flushSoon(room);
    },
    addQuality(room: R, updates: readonly QualityUpdate[], audience: Audience): void {
      for (const update of updates) room.pending.quality.set(update.identity, { update, audience });
      flushSoon(room);
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
