import type { UsageDetail, UsageSession } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { projectPath, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { Segments } from '../kit/field.tsx';
import { count, decimal, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { inUtc } from '../kit/time.tsx';
import { Allowance } from './allowance.tsx';
import { DailyBars } from './daily-bars.tsx';
import { usageQuery } from './queries.ts';
import { Report } from './report.tsx';
import { t } from './texts.ts';

const ranges = ['7', '30', '90', '365'] as const;
const rangeDefault = '30';

export default function UsagePage() {
  const api = useApi();
  const { project } = useProject();
  const [text, setDays] = useFilter('days');
  const days = ranges.find((range) => range === text) ?? rangeDefault;
  const allowance = useQuery(usageQuery(api));
  const ofProject = useQuery({
    queryKey: ['project', project.id, 'usage', days],
    queryFn: ({ signal }) =>
      api.call('getProjectUsage', { projectId: project.id, query: { days: Number(days), limit: 50 } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  return (
    <Page title={t('page.usage')} query={ofProject} lead={t('usage.lead')}>
      {allowance.data && <Allowance usage={allowance.data} />}
      <div className="row">
        <h2>{project.name}</h2>
        <span className="spacer" />
        <Segments
          label={t('usage.daysLabel')}
          value={days}
          options={ranges.map((value) => ({ value, label: t('usage.days', { count: Number(value) }) }))}
          onChange={(value) => setDays(value === rangeDefault ? '' : value)}
        />
      </div>
      <Report days={Number(days)} />
      <QueryView query={ofProject}>{(usage) => <ProjectUsage usage={usage} />}</QueryView>
      <ByProject days={Number(days)} />
    </Page>
  );
}

function ProjectUsage({ usage }: { usage: UsageDetail }) {
  return (
    <>
      <h2>{t('usage.bothEnvironments')}</h2>
      <DailyBars days={usage.daily} />
      <section className="stack-small" aria-labelledby="sessions">
        <h2 id="sessions">{t('usage.sessions')}</h2>
        {usage.sessions.length === 0 ? (
          <EmptyState title={t('usage.nobody')}>
            <p>{t('overview.minutesCounted')}</p>
          </EmptyState>
        ) : (
          <Table
            caption={t('usage.sessionsCaption')}
            columns={sessionColumns()}
            rows={usage.sessions}
            keyOf={({ id }) => id}
            copyOf={({ id }) => id}
          />
        )}
      </section>
    </>
  );
}

const sessionColumns = (): readonly Column<UsageSession>[] => [
  { head: t('usage.startedUtc'), cell: ({ startedAt }) => <time dateTime={startedAt}>{inUtc(startedAt)}</time> },
  {
    head: t('words.room'),
    cell: ({ projectId, environment, roomId, roomName }) => (
      <Link className="row-link" href={projectPath(projectId, `rooms/${roomId}`, environment)}>
        {roomName}
      </Link>
    ),
  },
  { head: t('words.participant'), cell: ({ participantIdentity }) => participantIdentity },
  { head: t('frame.environment'), cell: ({ environment }) => environmentName(environment) },
  {
    head: t('words.state'),
    cell: ({ endedAt }) =>
      endedAt === null ? (
        <Badge tone="ok">{t('words.connected')}</Badge>
      ) : (
        <Badge shape="square">{t('words.ended')}</Badge>
      ),
  },
  { head: t('usage.time'), align: 'end', cell: ({ seconds }) => span(seconds * 1000) },
];

function ByProject({ days }: { days: number }) {
  const api = useApi();
  const query = useQuery({
    queryKey: ['usage', 'detail', days],
    queryFn: ({ signal }) => api.call('getUsageDetail', { query: { days, limit: 1 } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  const projects = query.data?.projects ?? [];
  if (projects.length < 2) return null;
  return (
    <section className="stack-small" aria-labelledby="by-project">
      <h2 id="by-project">{t('usage.yourProjects', { count: days })}</h2>
      <Table
        caption={t('usage.byProject')}
        rows={projects}
        keyOf={({ projectId }) => projectId}
        columns={[
          {
            head: t('frame.project'),
            cell: ({ projectId, name }) => (
              <Link className="row-link" href={projectPath(projectId, 'usage', 'DEVELOPMENT')}>
                {name}
              </Link>
            ),
          },
          { head: t('usage.sessions'), align: 'end', cell: ({ sessions }) => count(sessions) },
          { head: t('usage.minutes'), align: 'end', cell: ({ minutes }) => decimal(minutes) },
        ]}
      />
    </section>
  );
}
