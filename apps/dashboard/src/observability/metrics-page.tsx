import type { ConnectionMetrics, Dependency } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { t } from '../i18n/t.ts';
import { Chart } from '../kit/chart.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Segments } from '../kit/field.tsx';
import { Figures } from '../kit/figure.tsx';
import { count, decimal, percent, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { diagnosticsQuery, metricsQuery } from './queries.ts';
import { categoryWord, DependencyBadge, isCategory } from './words.tsx';

const ranges = () =>
  [
    { value: 'hours', label: t('observability.hours24') },
    { value: 'minutes', label: t('observability.minutes60') },
  ] as const;

export default function MetricsPage() {
  const api = useApi();
  const { project, environment } = useProject();
  const metrics = useQuery(metricsQuery(api, project.id, environment));
  const [range, setRange] = useFilter('range');
  const grain = range === 'minutes' ? 'minutes' : 'hours';
  return (
    <Page
      title={t('page.metrics')}
      query={metrics}
      actions={
        <Segments
          label={t('observability.range')}
          value={grain}
          options={ranges()}
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
        label={t('observability.last24')}
        figures={[
          {
            label: t('observability.connections24'),
            value: count(connections.total),
            note: t('observability.activeNow', { number: connections.active }),
          },
          {
            label: t('overview.joinSuccess'),
            value: connections.successRate === null ? null : percent(connections.successRate),
            note: t('overview.someFailed', { number: connections.failed }),
          },
          {
            label: t('observability.p50'),
            value: timeToConnectMs.p50 === null ? null : span(timeToConnectMs.p50),
            note:
              timeToConnectMs.p95 === null ? undefined : t('observability.p95', { value: span(timeToConnectMs.p95) }),
          },
          { label: t('observability.errors24'), value: count(errors.total) },
        ]}
      />
      <div className="chart-grid">
        <Chart
          title={t('observability.successRate')}
          kind="line"
          series={[t('observability.success')]}
          max={1}
          format={percent}
          points={points.map(({ at, successRate }) => ({ at, values: [successRate] }))}
        />
        <Chart
          title={t('observability.timeToConnect')}
          kind="line"
          series={['p50', 'p95']}
          format={span}
          points={points.map(({ at, timeToConnectMs: ms }) => ({ at, values: [ms.p50, ms.p95] }))}
        />
        <Chart
          title={t('observability.activeConnections')}
          kind="line"
          series={[t('words.active')]}
          format={count}
          points={points.map(({ at, active }) => ({ at, values: [active] }))}
        />
        <Chart
          title={t('observability.byCause')}
          kind="bars"
          series={categories.map((name) => (isCategory(name) ? categoryWord(name) : name))}
          format={count}
          points={points.map((point) => ({ at: point.at, values: categories.map((name) => point.errors[name] ?? 0) }))}
        />
      </div>
    </>
  );
}

const columns = (): readonly Column<Dependency>[] => [
  { head: t('observability.dependency'), cell: ({ name }) => <strong>{name}</strong> },
  { head: t('words.status'), cell: ({ status }) => <DependencyBadge status={status} /> },
  {
    head: t('observability.latency'),
    cell: ({ latencyMs }) => (latencyMs === null ? <NoData /> : t('kit.ms', { value: decimal(latencyMs) })),
  },
  { head: t('observability.checked'), cell: ({ checkedAt }) => <Ago at={checkedAt} /> },
  { head: t('words.message'), cell: ({ message }) => message ?? '' },
];

function Dependencies() {
  const { project, environment } = useProject();
  const query = useQuery(diagnosticsQuery(useApi(), project.id, environment));
  const table = (rows: readonly Dependency[] | undefined) => (
    <Table caption={t('observability.dependencies')} columns={columns()} rows={rows} keyOf={({ name }) => name} />
  );
  return (
    <section className="stack-small" aria-labelledby="dependencies">
      <h2 id="dependencies">{t('observability.dependencies')}</h2>
      <QueryView query={query} skeleton={table(undefined)}>
        {({ dependencies }) => table(dependencies)}
      </QueryView>
    </section>
  );
}
