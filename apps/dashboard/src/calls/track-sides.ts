import type { CallDetail, CallPoint } from '@parley/contract';

export interface TrackSide {
  name: string;
  direction: 'out' | 'in';
}

interface SideRow {
  at: string;
  /** One for each side; null where it said nothing at that time. */
  points: readonly (CallPoint | null)[];
}

/** Samples of different people that are closer together are of one time. */
const stepMs = 5_000;
/** More lines than this nobody tells apart. */
const sidesMax = 6;

/** Every side of a track over one time: who sent it first, then who received it. */
export function sidesOf(
  { participants }: Pick<CallDetail, 'participants'>,
  trackId: string,
): { series: TrackSide[]; rows: SideRow[] } {
  const sides = participants
    .flatMap(({ name, tracks }) =>
      tracks.filter(({ id }) => id === trackId).map(({ direction, points }) => ({ name, direction, points })),
    )
    .sort((a, b) => Number(a.direction === 'in') - Number(b.direction === 'in'))
    .slice(0, sidesMax);
  const stepOf = ({ at }: CallPoint): number => Math.floor(Date.parse(at) / stepMs);
  const byStep = sides.map(({ points }) => new Map(points.map((point) => [stepOf(point), point])));
  const steps = [...new Set(byStep.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  return {
    series: sides.map(({ name, direction }) => ({ name, direction })),
    rows: steps.map((step) => ({
      at: new Date(step * stepMs).toISOString(),
      points: byStep.map((points) => points.get(step) ?? null),
    })),
  };
}
