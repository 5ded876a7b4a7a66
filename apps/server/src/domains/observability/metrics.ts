import { type ConnectionMetrics, type Environment, liveConnectionStates, type MetricsPoint } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Reader } from '../../core/db.ts';
import { countLive } from './connection-store.ts';
import { qualityNames } from './lifecycle.ts';
import { percentile } from './percentiles.ts';
import { type Grain, grainMs, listRollups, startOf, sumRollups } from './rollup-store.ts';

const steps = { minute: 60, hour: 24 } as const;

/** When each step of the window begins, oldest first. */
function startsOf(grain: Grain, now: number): number[] {
  const last = startOf(grain, now);
  return Array.from({ length: steps[grain] }, (_, index) => last - (steps[grain] - 1 - index) * grainMs[grain]);
}

/** Counters of one step or of a whole window, by metric. */
type Counts = ReadonlyMap<string, number>;

export function createMetricsReader({ db, clock }: { db: Reader; clock: Clock }) {
  async function read(
    projectId: string,
    environment: Environment,
    grain: Grain,
    now: number,
  ): Promise<{ starts: number[]; byStart: Map<number, Map<string, number>> }> {
    const starts = startsOf(grain, now);
    const rows = await listRollups(db, projectId, environment, grain, iso(starts[0] ?? now));
    const byAt = new Map(rows.map(({ at, counts }) => [Date.parse(at), counts]));
    return { starts, byStart: new Map(starts.map((start) => [start, new Map(Object.entries(byAt.get(start) ?? {}))])) };
  }

  return async (projectId: string, environment: Environment): Promise<ConnectionMetrics> => {
    const now = clock.now();
    const [minutes, hours, ofWindow, live] = await Promise.all([
      read(projectId, environment, 'minute', now),
      read(projectId, environment, 'hour', now),
      sumRollups(db, projectId, environment, 'hour', iso(startsOf('hour', now)[0] ?? now)),
      countLive(db, projectId, environment),
    ]);
    const total = sumOf([...hours.byStart.values(), new Map(Object.entries(ofWindow))]);
    const liveByState = Object.fromEntries(
      liveConnectionStates.map((state) => [state, live.find((row) => row.state === state)?.n ?? 0]),
    );
    const active = live.reduce((sum, { n }) => sum + n, 0);
    return {
      window: { from: iso(hours.starts[0] ?? now), to: iso(now) },
      connections: {
        ...outcomeOf(total),
        total: count(total, 'started'),
        active,
        byState: { ...liveByState, DISCONNECTED: count(total, 'ended'), FAILED: count(total, 'failed') },
      },
      timeToConnectMs: connectTimes(total),
      durationMs: durations(total),
      errors: { total: Object.values(errorsOf(total)).reduce((sum, n) => sum + n, 0), byCategory: errorsOf(total) },
      quality: qualityOf(total),
      series: { minutes: seriesOf(minutes, active), hours: seriesOf(hours, active) },
      asOf: iso(now),
    };
  };
}

const count = (counts: Counts, metric: string): number => Math.round(counts.get(metric) ?? 0);

function sumOf(all: readonly Counts[]): Counts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [metric, value] of counts) sum.set(metric, (sum.get(metric) ?? 0) + value);
  return sum;
}

function outcomeOf(counts: Counts): { succeeded: number; failed: number; successRate: number | null } {
  const [succeeded, failed] = [count(counts, 'succeeded'), count(counts, 'failed')];
  return { succeeded, failed, successRate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed) };
}

function bucketsOf(counts: Counts, prefix: string): Map<number, number> {
  const found = [...counts].filter(([metric]) => metric.startsWith(prefix));
  return new Map(found.map(([metric, value]) => [Number(metric.slice(prefix.length)), value]));
}

function connectTimes(counts: Counts): MetricsPoint['timeToConnectMs'] {
  const buckets = bucketsOf(counts, 'connect:');
  return { p50: percentile(buckets, 0.5), p95: percentile(buckets, 0.95), p99: percentile(buckets, 0.99) };
}

function durations(counts: Counts): ConnectionMetrics['durationMs'] {
  const buckets = bucketsOf(counts, 'duration:');
  const ended = [...buckets.values()].reduce((sum, n) => sum + n, 0);
  const avg = ended === 0 ? null : Math.round((counts.get('durationMs') ?? 0) / ended);
  return { avg, p50: percentile(buckets, 0.5), p95: percentile(buckets, 0.95) };
}

const errorsOf = (counts: Counts): Record<string, number> =>
  Object.fromEntries(
    [...counts]
      .filter(([metric]) => metric.startsWith('error:'))
      .map(([metric, n]) => [metric.slice('error:'.length), Math.round(n)]),
  );

function qualityOf(counts: Counts): ConnectionMetrics['quality'] {
  const average = (name: string): number | null => {
    const n = counts.get(`${name}:n`) ?? 0;
    return n === 0 ? null : (counts.get(`${name}:sum`) ?? 0) / n;
  };
  return Object.fromEntries(qualityNames.map((name) => [name, average(name)])) as ConnectionMetrics['quality'];
}

/** The steps as they were counted and sampled; the last one also knows who is there now. */
function seriesOf(
  { starts, byStart }: { starts: readonly number[]; byStart: ReadonlyMap<number, Counts> },
  activeNow: number,
): MetricsPoint[] {
  return starts.map((start, index) => {
    const counts = byStart.get(start) ?? new Map();
    return {
      at: iso(start),
      started: count(counts, 'started'),
      ...outcomeOf(counts),
      active: Math.max(count(counts, 'active'), index === starts.length - 1 ? activeNow : 0),
      timeToConnectMs: connectTimes(counts),
      errors: errorsOf(counts),
      messages: count(counts, 'messages'),
      deliveries: { delivered: count(counts, 'delivered'), failed: count(counts, 'undelivered') },
    };
  });
}
