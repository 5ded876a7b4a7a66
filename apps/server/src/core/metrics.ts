/** Prometheus text, low cardinality: label values come from tables (routes, statuses), never from callers. */
export interface Metrics {
  count(name: string, labels?: Labels, by?: number): void;
  observe(name: string, seconds: number, labels?: Labels): void;
  /** Read when asked for. */
  gauge(name: string, help: string, read: () => number): void;
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

export function createMetrics(): Metrics {
  const counters = new Map<string, Map<string, number>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const gauges = new Map<string, { help: string; read: () => number }>();

  function series<V>(families: Map<string, Map<string, V>>, name: string): Map<string, V> {
    const known = families.get(name);
    if (known) return known;
    const made = new Map<string, V>();
    families.set(name, made);
    return made;
  }

  function* lines(): Generator<string> {
    for (const [name, family] of counters) {
      yield `# TYPE ${name} counter`;
      for (const [labels, value] of family) yield `${name}${braces(labels)} ${value}`;
    }
    for (const [name, family] of histograms) {
      yield `# TYPE ${name} histogram`;
      for (const [labels, histogram] of family) yield* histogramLines(name, labels, histogram);
    }
    for (const [name, { help, read }] of gauges) {
      yield `# HELP ${name} ${help}`;
      yield `# TYPE ${name} gauge`;
      yield `${name} ${read()}`;
    }
  }

  return {
    count(name, labels = {}, by = 1) {
      const family = series(counters, name);
      const key = labelText(labels);
      family.set(key, (family.get(key) ?? 0) + by);
    },
    observe(name, seconds, labels = {}) {
      const family = series(histograms, name);
      const key = labelText(labels);
      const histogram = family.get(key) ?? { buckets: bucketsSeconds.map(() => 0), sum: 0, count: 0 };
      family.set(key, histogram);
      histogram.sum += seconds;
      histogram.count++;
      const bucket = bucketsSeconds.findIndex((bound) => seconds <= bound);
      if (bucket >= 0) histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
    },
    gauge(name, help, read) {
      gauges.set(name, { help, read });
    },
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
