import type { UsageDetail, UsageSession } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { untilTold } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { projectPath, useFilter } from '../frame/url.ts';
import { Badge } from '../kit/badge.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { Segments } from '../kit/field.tsx';
import { count, decimal, plural, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { inUtc } from '../kit/time.tsx';
import { Allowance } from './allowance.tsx';
import { DailyBars } from './daily-bars.tsx';
import { usageQuery } from './queries.ts';

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
    refetchInterval: untilTold,
  });
  return (
    <Page
      title="Usage"
      query={ofProject}
      lead="RTC minutes: the time each participant is connected to a room. All times are UTC."
    >
      {allowance.data && <Allowance usage={allowance.data} />}
      <div className="row">
        <h2>{project.name}, both environments</h2>
        <span className="spacer" />
        <Segments
          label="Days"
          value={days}
          options={ranges.map((value) => ({ value, label: `${value} days` }))}
          onChange={(value) => setDays(value === rangeDefault ? '' : value)}
        />
      </div>
      <QueryView query={ofProject}>{(usage) => <ProjectUsage usage={usage} />}</QueryView>
      <ByProject days={Number(days)} />
    </Page>
  );
}

function ProjectUsage({ usage }: { usage: UsageDetail }) {
  return (
    <>
      <DailyBars days={usage.daily} />
      <section className="stack-small" aria-labelledby="sessions">
        <h2 id="sessions">Sessions</h2>
        {usage.sessions.length === 0 ? (
          <EmptyState title="Nobody was in a room in this time">
            <p>Minutes are counted when a participant is connected to a room.</p>
          </EmptyState>
        ) : (
          <Table
            caption="Sessions, newest first"
            columns={sessionColumns}
            rows={usage.sessions}
            keyOf={({ id }) => id}
            copyOf={({ id }) => id}
          />
        )}
      </section>
    </>
  );
}

const sessionColumns: readonly Column<UsageSession>[] = [
  { head: 'Started (UTC)', cell: ({ startedAt }) => <time dateTime={startedAt}>{inUtc(startedAt)}</time> },
  {
    head: 'Room',
    cell: ({ projectId, environment, roomId, roomName }) => (
      <Link className="row-link" href={projectPath(projectId, `rooms/${roomId}`, environment)}>
        {roomName}
      </Link>
    ),
  },
  { head: 'Participant', cell: ({ participantIdentity }) => participantIdentity },
  { head: 'Environment', cell: ({ environment }) => environment.toLowerCase() },
  {
    head: 'State',
    cell: ({ endedAt }) =>
      endedAt === null ? <Badge tone="ok">Connected</Badge> : <Badge shape="square">Ended</Badge>,
  },
  { head: 'Time', align: 'end', cell: ({ seconds }) => span(seconds * 1000) },
];

function ByProject({ days }: { days: number }) {
  const api = useApi();
  const query = useQuery({
    queryKey: ['usage', 'detail', days],
    queryFn: ({ signal }) => api.call('getUsageDetail', { query: { days, limit: 1 } }, { signal }),
    refetchInterval: untilTold,
  });
  const projects = query.data?.projects ?? [];
  if (projects.length < 2) return null;
  return (
    <section className="stack-small" aria-labelledby="by-project">
      <h2 id="by-project">Your projects, last {plural(days, 'day')}</h2>
      <Table
        caption="Minutes by project"
        rows={projects}
        keyOf={({ projectId }) => projectId}
        columns={[
          {
            head: 'Project',
            cell: ({ projectId, name }) => (
              <Link className="row-link" href={projectPath(projectId, 'usage', 'DEVELOPMENT')}>
                {name}
              </Link>
            ),
          },
          { head: 'Sessions', align: 'end', cell: ({ sessions }) => count(sessions) },
          { head: 'Minutes', align: 'end', cell: ({ minutes }) => decimal(minutes) },
        ]}
      />
    </section>
  );
}
