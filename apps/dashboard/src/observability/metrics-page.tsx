import type { ConnectionMetrics, Dependency } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Chart } from '../kit/chart.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Segments } from '../kit/field.tsx';
import { Figures } from '../kit/figure.tsx';
import { count, decimal, percent, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { diagnosticsQuery, metricsQuery } from './queries.ts';
import { categoryWords, DependencyBadge, isCategory } from './words.tsx';

const ranges = [
  { value: 'hours', label: '24 hours' },
  { value: 'minutes', label: '60 minutes' },
] as const;

export default function MetricsPage() {
  const api = useApi();
  const { project, environment } = useProject();
  const metrics = useQuery(metricsQuery(api, project.id, environment));
  const [range, setRange] = useFilter('range');
  const grain = range === 'minutes' ? 'minutes' : 'hours';
  return (
    <Page
      title="Metrics"
      query={metrics}
      actions={
        <Segments
          label="Range"
          value={grain}
          options={ranges}
          onChange={(value) => setRange(value === 'hours' ? '' : value)}
        />
      }
    >
      <QueryView query={metrics}>{(found) => <Charts metrics={found} grain={grain} />}</QueryView>
      <Dependencies />
    </Page>
  );
}

function Charts({ metrics, grain }: { metrics: ConnectionMetrics; grain: 'minutes' | 'hours' }) {
  const { connections, timeToConnectMs, errors } = metrics;
  const points = metrics.series[grain];
  const categories = Object.keys(errors.byCategory)
    .sort((a, b) => (errors.byCategory[b] ?? 0) - (errors.byCategory[a] ?? 0))
    .slice(0, 6);
  return (
    <>
      <Figures
        label="Last 24 hours"
        figures={[
          {
            label: 'Connections, 24 h',
            value: count(connections.total),
            note: `${count(connections.active)} active now`,
          },
          {
            label: 'Join success, 24 h',
            value: connections.successRate === null ? null : percent(connections.successRate),
            note: `${count(connections.failed)} failed`,
          },
          {
            label: 'Time to connect, p50',
            value: timeToConnectMs.p50 === null ? null : span(timeToConnectMs.p50),
            note: timeToConnectMs.p95 === null ? undefined : `p95 ${span(timeToConnectMs.p95)}`,
          },
          { label: 'Errors, 24 h', value: count(errors.total) },
        ]}
      />
      <div className="chart-grid">
        <Chart
          title="Join success rate"
          kind="line"
          series={['Success']}
          max={1}
          format={percent}
          points={points.map(({ at, successRate }) => ({ at, values: [successRate] }))}
        />
        <Chart
          title="Time to connect"
          kind="line"
          series={['p50', 'p95']}
          format={span}
          points={points.map(({ at, timeToConnectMs: ms }) => ({ at, values: [ms.p50, ms.p95] }))}
        />
        <Chart
          title="Active connections"
          kind="line"
          series={['Active']}
          format={count}
          points={points.map(({ at, active }) => ({ at, values: [active] }))}
        />
        <Chart
          title="Errors by cause"
          kind="bars"
          series={categories.map((name) => (isCategory(name) ? categoryWords[name] : name))}
          format={count}
          points={points.map((point) => ({ at: point.at, values: categories.map((name) => point.errors[name] ?? 0) }))}
        />
      </div>
    </>
  );
}

const columns: readonly Column<Dependency>[] = [
  { head: 'Dependency', cell: ({ name }) => <strong>{name}</strong> },
  { head: 'Status', cell: ({ status }) => <DependencyBadge status={status} /> },
  { head: 'Latency', cell: ({ latencyMs }) => (latencyMs === null ? <NoData /> : `${decimal(latencyMs)} ms`) },
  { head: 'Checked', cell: ({ checkedAt }) => <Ago at={checkedAt} /> },
  { head: 'Message', cell: ({ message }) => message ?? '' },
];

function Dependencies() {
  const { project, environment } = useProject();
  const query = useQuery(diagnosticsQuery(useApi(), project.id, environment));
  const table = (rows: readonly Dependency[] | undefined) => (
    <Table caption="Dependencies" columns={columns} rows={rows} keyOf={({ name }) => name} />
  );
  return (
    <section className="stack-small" aria-labelledby="dependencies">
      <h2 id="dependencies">Dependencies</h2>
      <QueryView query={query} skeleton={table(undefined)}>
        {({ dependencies }) => table(dependencies)}
      </QueryView>
    </section>
  );
}
