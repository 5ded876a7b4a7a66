import { iso } from '../../core/clock.ts';

/** A step as it is stored: when it happened by the clock of who saw it, and when we got it by ours. */
export interface StoredStep {
  source: 'SERVER' | 'CLIENT';
  timestamp: string;
  receivedAt: string;
}

/** As long as reports are on their way for less than this, the clocks agree. */
const onTheWayMsMax = 5_000;

/** The steps in the order they happened, each with its time by our clock. */
export function orderTimeline<S extends StoredStep>(steps: readonly S[]): (S & { happenedAt: string })[] {
  const behindMs = clockBehindMs(steps);
  return steps
    .map((step) => ({ step, at: Date.parse(step.timestamp) + (step.source === 'CLIENT' ? behindMs : 0) }))
    .sort((a, b) => a.at - b.at)
    .map(({ step, at }) => ({ ...step, happenedAt: iso(at) }));
}

/** How far the client's clock is behind ours. Its quickest report was hardly on its way: what is left is the clock. */
function clockBehindMs(steps: readonly StoredStep[]): number {
  const delays = steps
    .filter(({ source }) => source === 'CLIENT')
    .map(({ timestamp, receivedAt }) => Date.parse(receivedAt) - Date.parse(timestamp));
  const quickest = delays.reduce((least, delay) => Math.min(least, delay), Infinity);
  return Number.isFinite(quickest) && (quickest < 0 || quickest > onTheWayMsMax) ? quickest : 0;
}
