import { type CounterName, type HistogramName, type MetricName, metricTable } from './metric-table.ts';

/** Prometheus text, low cardinality: label values come from tables (routes, statuses), never from callers. */
export interface Metrics {
  count(name: CounterName, labels?: Labels, by?: number): void;
  observe(name: HistogramName, seconds: number, labels?: Labels): void;
  /** Read when asked for. */
  gauge(name: string, help: string, read: () => number): void;
  /** The same for what only grows. */
  counter(name: `${string}_total`, help: string, read: () => number): void;
  render(): string;
}

type Labels = Readonly<Record<string, string>>;

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Histogram {
  buckets: number[];
  sum: number;
  count: number;
}

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/["\\\n]/g, '_')}"`)
    .join(',');

const braces = (inner: string): string => (inner === '' ? '' : `{${inner}}`);

interface Reading {
  kind: 'gauge' | 'counter';
  help: string;
  read: () => number;
}

const newHistogram = (): Histogram => ({ buckets: bucketsSeconds.map(() => 0), sum: 0, count: 0 });

/** Every series that the table names, at zero. */
function zeros<V>(kind: 'counter' | 'histogram', zero: () => V): Map<string, Map<string, V>> {
  const rows = Object.entries(metricTable).filter(([, row]) => row.kind === kind);
  return new Map(rows.map(([name, { from }]) => [name, new Map(from.map((labels) => [labelText(labels), zero()]))]));
}

export function createMetrics(): Metrics {
  const counters = zeros('counter', () => 0);
  const histograms = zeros('histogram', newHistogram);
  const readings = new Map<string, Reading>();

  function* head(name: string, kind: string, help: string): Generator<string> {
    yield `# HELP ${name} ${help}`;
    yield `# TYPE ${name} ${kind}`;
  }

  function* lines(): Generator<string> {
    for (const name of Object.keys(metricTable) as MetricName[]) {
      const { kind, help } = metricTable[name];
      yield* head(name, kind, help);
      for (const [labels, value] of counters.get(name) ?? []) yield `${name}${braces(labels)} ${value}`;
      for (const [labels, histogram] of histograms.get(name) ?? []) yield* histogramLines(name, labels, histogram);
    }
    for (const [name, { kind, help, read }] of readings) {
      yield* head(name, kind, help);
      yield `${name} ${read()}`;
    }
  }

  return {
    count(name, labels = {}, by = 1) {
      const family = counters.get(name);
      const key = labelText(labels);
      family?.set(key, (family.get(key) ?? 0) + by);
    },
    observe(name, seconds, labels = {}) {
      const family = histograms.get(name);
      const key = labelText(labels);
      const histogram = family?.get(key) ?? newHistogram();
      family?.set(key, histogram);
      histogram.sum += seconds;
      histogram.count++;
      const bucket = bucketsSeconds.findIndex((bound) => seconds <= bound);
      if (bucket >= 0) histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
    },
    gauge: (name, help, read) => void readings.set(name, { kind: 'gauge', help, read }),
    counter: (name, help, read) => void readings.set(name, { kind: 'counter', help, read }),
    render: () => `${[...lines()].join('\n')}\n`,
  };
}

function* histogramLines(name: string, labels: string, { buckets, sum, count }: Histogram): Generator<string> {
  const prefix = labels === '' ? '' : `${labels},`;
  let total = 0;
  for (const [index, bound] of bucketsSeconds.entries()) {
    total += buckets[index] ?? 0;
    yield `${name}_bucket{${prefix}le="${bound}"} ${total}`;
  }
  yield `${name}_bucket{${prefix}le="+Inf"} ${count}`;
  yield `${name}_sum${braces(labels)} ${sum}`;
  yield `${name}_count${braces(labels)} ${count}`;
}
