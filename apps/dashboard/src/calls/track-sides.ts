import type { CallDetail, CallPoint, CallTrack } from '@parley/contract';

export interface TrackSide {
  name: string;
  direction: CallTrack['direction'];
  measuredBy: CallTrack['measuredBy'];
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

/** Sent and arrived at the node stand together; of everybody who receives, what arrived, then what the node sent. */
const stageOf = ({ direction, measuredBy }: TrackSide): number =>
  (direction === 'in' ? 2 : 0) + (measuredBy === 'node' ? 1 : 0);

/** Every side of a track over one time, in the order of its way: who sent it, the media node, who received it. */
export function sidesOf(
  { participants }: Pick<CallDetail, 'participants'>,
  trackId: string,
): { series: TrackSide[]; rows: SideRow[] } {
  const sides = participants
    .flatMap(({ name, tracks }) =>
      tracks
        .filter(({ id }) => id === trackId)
        .map(({ direction, measuredBy, points }) => ({ name, direction, measuredBy, points })),
    )
    .sort((a, b) => stageOf(a) - stageOf(b))
    .slice(0, sidesMax);
  const stepOf = ({ at }: CallPoint): number => Math.floor(Date.parse(at) / stepMs);
  const byStep = sides.map(({ points }) => new Map(points.map((point) => [stepOf(point), point])));
  const steps = [...new Set(byStep.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  return {
    series: sides.map(({ name, direction, measuredBy }) => ({ name, direction, measuredBy })),
    rows: steps.map((step) => ({
      at: new Date(step * stepMs).toISOString(),
      points: byStep.map((points) => points.get(step) ?? null),
    })),
  };
}
