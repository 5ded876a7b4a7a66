import type { CallParticipant, CallPoint, CallTrack } from '@parley/contract';

/** A time in which a picture came in one height. */
export interface LayerSpan {
  from: number;
  until: number;
  height: number;
}

export interface ReceivedLayers {
  track: CallTrack;
  spans: readonly LayerSpan[];
}

/** More strips than this nobody tells apart. */
const videosMax = 4;
/** How far samples are apart, unless they say so themselves. */
const everyMs = 5_000;
/** So many samples may be missing before it is a gap. */
const missedMax = 2;

/** What a participant received of each picture over time; those that changed most come first. */
export const receivedLayersOf = ({ tracks }: Pick<CallParticipant, 'tracks'>): ReceivedLayers[] =>
  tracks
    .filter(({ direction, kind }) => direction === 'in' && kind === 'video')
    .map((track) => ({ track, spans: spansOf(track.points) }))
    .filter(({ spans }) => spans.length > 0)
    .sort((a, b) => b.spans.length - a.spans.length)
    .slice(0, videosMax);

/** Neighbours of one height are one span; a sample without a height, or too long without one, ends it. */
function spansOf(points: readonly CallPoint[]): LayerSpan[] {
  const times = points.map(({ at }) => Date.parse(at));
  const stepMs = usualStep(times);
  const spans: LayerSpan[] = [];
  points.forEach(({ height }, index) => {
    if (height === null || height === 0) return;
    const from = times[index] ?? 0;
    const next = times[index + 1];
    const until = next === undefined || next - from > stepMs * (missedMax + 1) ? from + stepMs : next;
    const last = spans.at(-1);
    if (last?.height === height && last.until === from) last.until = until;
    else spans.push({ from, until, height });
  });
  return spans;
}

/** The middle of all: of a long call points are further apart, and at an outage two of them are. */
function usualStep(times: readonly number[]): number {
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] || everyMs;
}

/** How long each height came, in the order they first did. */
export function timeByHeight(spans: readonly LayerSpan[]): [height: number, ms: number][] {
  const times = new Map<number, number>();
  for (const { from, until, height } of spans) times.set(height, (times.get(height) ?? 0) + until - from);
  return [...times];
}
