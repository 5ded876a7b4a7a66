import type { MediaEvents } from '@parley/contract/media-control';

/** What was counted of a track since it began: on its way to the node (`out` of the participant), or from it (`in`). */
export interface TrackTotals {
  id: string;
  way: 'out' | 'in';
  kind: 'audio' | 'video';
  bytes: number;
  /** Packets that should have come, and those that did not at first. */
  expected: number;
  lost: number;
}

type TrackColumns = MediaEvents['track.samples']['tracks'][number];
type Sample = Record<'kbps' | 'loss', number | null>;

/** A large room has more; of one participant these say enough. */
const TRACKS_MAX = 16;
/** Samples that are sent together. */
const BATCH = 9;
/** Between two samples. */
export const SAMPLE_EVERY_MS = 5000;

/** Samples of the tracks of one participant, as the node sees them. */
export class TrackSampler {
  #before = new Map<string, TrackTotals>();
  #sampledAt = 0;
  /** By track: a value for each sample so far, null before it began. */
  #tracks = new Map<string, { totals: TrackTotals; samples: (Sample | null)[] }>();
  #count = 0;

  /** Every 5 s. Gives a batch when there are enough. */
  sample(totals: readonly TrackTotals[], now: number): TrackColumns[] | null {
    const elapsed = now - this.#sampledAt;
    const seen = new Map(totals.slice(0, TRACKS_MAX).map((one) => [`${one.way}/${one.id}`, one]));
    if (this.#sampledAt > 0 && elapsed > 0) {
      for (const [key, one] of seen) this.#add(key, one, elapsed);
      this.#count += 1;
    }
    this.#before = seen;
    this.#sampledAt = now;
    return this.#count >= BATCH ? this.#flush() : null;
  }

  #add(key: string, now: TrackTotals, elapsed: number): void {
    const before = this.#before.get(key);
    // A new transport or encoding counts from zero.
    if (!before || now.bytes < before.bytes) return;
    const track = this.#tracks.get(key) ?? { totals: now, samples: [] };
    this.#tracks.set(key, track);
    const expected = now.expected - before.expected;
    const lost = Math.max(0, now.lost - before.lost);
    track.samples[this.#count] = {
      kbps: Math.round(((now.bytes - before.bytes) * 8) / elapsed),
      loss: expected > 0 ? Math.min(100, Math.round((lost * 100) / expected)) : null,
    };
  }

  /** What was gathered since the last time, by column; null when nothing was. */
  #flush(): TrackColumns[] | null {
    const [tracks, count] = [this.#tracks, this.#count];
    this.#tracks = new Map();
    this.#count = 0;
    if (tracks.size === 0) return null;
    return [...tracks.values()].map(({ totals: { id, way, kind }, samples }) => {
      const column = (name: keyof Sample) => Array.from({ length: count }, (_, at) => samples[at]?.[name] ?? null);
      return { id, way, kind, kbps: column('kbps'), loss: column('loss') };
    });
  }
}
