import { iso } from '../../core/clock.ts';

/** A step as it is stored: when it happened by the clock of who saw it, and when we got it by ours. */
interface StoredStep {
  source: 'SERVER' | 'CLIENT';
  timestamp: string;
  receivedAt: string;
}

/** As long as reports are on their way for less than this, the clocks agree. */
const onTheWayMsMax = 5_000;
/** Reports that come closer together may be one burst after an outage, all late by the same. */
const burstMs = 1_000;

/** The steps in the order they happened, each with its time by our clock. */
export function orderTimeline<S extends StoredStep>(steps: readonly S[]): (S & { happenedAt: string })[] {
  const behindMs = clockBehindMs(steps);
  return steps
    .map((step) => ({ step, at: happenedAt(step, behindMs) }))
    .sort((a, b) => a.at - b.at)
    .map(({ step, at }) => ({ ...step, happenedAt: iso(at) }));
}

/** Nothing that a client reports happened after we heard of it. */
function happenedAt({ source, timestamp, receivedAt }: StoredStep, behindMs: number): number {
  const at = Date.parse(timestamp);
  return source === 'SERVER' ? at : Math.min(at + behindMs, Date.parse(receivedAt));
}

/**
 * How far the client's clock is behind ours: the least delay that two reports agree on. One alone may have been late,
 * or be stamped wrongly.
 */
function clockBehindMs(steps: readonly StoredStep[]): number {
  const reports = steps
    .filter(({ source }) => source === 'CLIENT')
    .map(({ timestamp, receivedAt }) => toReport(Date.parse(timestamp), Date.parse(receivedAt)))
    .sort((a, b) => a.delay - b.delay);
  const quickest = reports.find((one) => reports.some((other) => doAgree(one, other)));
  if (!quickest) return 0;
  // Before its time no report arrives: that is the clock. After it, one that was quick shows that the others were late.
  const isQuick = ({ delay }: Report): boolean => delay >= 0 && delay <= onTheWayMsMax;
  return quickest.delay >= 0 && reports.some(isQuick) ? 0 : quickest.delay;
}

interface Report {
  delay: number;
  received: number;
}

const toReport = (stamped: number, received: number): Report => ({ delay: received - stamped, received });

const doAgree = (one: Report, other: Report): boolean =>
  Math.abs(other.delay - one.delay) <= onTheWayMsMax && Math.abs(other.received - one.received) >= burstMs;
