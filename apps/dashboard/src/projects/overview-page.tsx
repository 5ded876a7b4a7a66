import type { ConnectionMetrics } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { Chart } from '../kit/chart.tsx';
import { count } from '../kit/numbers.ts';
import { Ago } from '../kit/time.tsx';
import { metricsQuery } from '../observability/queries.ts';
import { Allowance } from '../usage/allowance.tsx';
import { usageQuery } from '../usage/queries.ts';
import { Now } from './now.tsx';
import { SetupChecklist } from './setup-checklist.tsx';

export default function OverviewPage() {
  const api = useApi();
  const { project, environment } = useProject();
  const metrics = useQuery(metricsQuery(api, project.id, environment));
  const usage = useQuery(usageQuery(api));
  return (
    <Page
      title={t('page.overview')}
      query={metrics}
      aside={project.status === 'ARCHIVED' && <Badge shape="square">{t('words.archived')}</Badge>}
      lead={t('overview.lead', { project: project.name, environment: environmentName(environment) })}
    >
      <SetupChecklist />
      <QueryView query={metrics}>
        {({ connections, series, asOf }) => (
          <>
            <Now connections={connections} minutes={series.minutes} asOf={asOf} />
            <ConnectionBars series={series} />
          </>
        )}
      </QueryView>
      <div className="columns">
        <NewestErrors />
        {usage.data && <Allowance usage={usage.data} />}
      </div>
    </Page>
  );
}

/** The last day; the last hour while nothing is older, for a day would be one bar at its edge. */
function ConnectionBars({ series: { minutes, hours } }: Pick<ConnectionMetrics, 'series'>) {
  const isYoung = hours.slice(0, -1).every(({ started }) => started === 0) && (hours.at(-1)?.started ?? 0) > 0;
  return (
    <Chart
      title={isYoung ? t('overview.connections60') : t('overview.connections24')}
      kind="bars"
      series={[t('overview.succeeded'), t('overview.other')]}
      format={count}
      points={(isYoung ? minutes : hours).map(({ at, started, succeeded }) => ({
        at,
        values: [succeeded, Math.max(0, started - succeeded)],
      }))}
    />
  );
}

const newest = 5;

function NewestErrors() {
  const api = useApi();
  const { project, environment, to } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'errors', environment, 'newest'],
    queryFn: ({ signal }) =>
      api.call('listProjectErrors', { projectId: project.id, query: { environment, limit: newest } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  return (
    <section className="panel stack-small" aria-labelledby="newest-errors">
      <h2 id="newest-errors">{t('overview.newestErrors')}</h2>
      <QueryView query={query}>
        {(errors) =>
          errors.length === 0 ? (
            <p className="muted">{t('overview.noError')}</p>
          ) : (
            <ul className="stack-small">
              {errors.map(({ id, code, message, occurredAt }) => (
                <li key={id} className="two-lines">
                  <Link className="mono" href={to(`errors/${id}`)}>
                    {code}
                  </Link>
                  <span className="muted">
                    {message} <Ago at={occurredAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </section>
  );
}
