import type { Environment, Project } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { projectPath, useFilter } from '../frame/url.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { metricsQuery } from '../observability/queries.ts';
import { projectKeys, projectsQuery } from './queries.ts';
import { roleName } from './roles.ts';
import { t } from './texts.ts';

const columns = (): readonly Column<Project>[] => [
  {
    head: t('words.name'),
    width: '26%',
    cell: ({ id, name, status }) => (
      <span className="row">
        <Link className="row-link" href={projectPath(id, 'overview', 'DEVELOPMENT')}>
          {name}
        </Link>
        {status === 'ARCHIVED' && <Badge shape="square">{t('words.archived')}</Badge>}
      </span>
    ),
  },
  { head: t('projects.yourRole'), width: '11%', cell: ({ role }) => (role ? roleName(role) : null) },
  {
    head: t('frame.development'),
    width: '15%',
    cell: (project) => <Activity project={project} environment="DEVELOPMENT" />,
  },
  {
    head: t('frame.production'),
    width: '15%',
    cell: (project) => <Activity project={project} environment="PRODUCTION" />,
  },
  { head: t('words.id'), cell: ({ id }) => <CopyId id={id} label={t('projects.copyProjectId')} /> },
  { head: t('words.created'), width: '14%', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Who is in calls now, and how many were in the last 24 hours. */
function Activity({ project: { id, status }, environment }: { project: Project; environment: Environment }) {
  // Asked once: a list of many projects must not ask for each of them all the time.
  const query = useQuery({
    ...metricsQuery(useApi(), id, environment),
    enabled: status === 'ACTIVE',
    refetchInterval: false,
  });
  const { active, total } = query.data?.connections ?? {};
  if (active === undefined || total === undefined) return <NoData />;
  return (
    <span className={total === 0 ? 'muted' : undefined}>
      {total === 0 ? t('projects.quiet') : t('projects.activity', { now: active, day: total })}
    </span>
  );
}

export default function ProjectsPage() {
  const query = useQuery(projectsQuery(useApi()));
  const [archived, setArchived] = useFilter('archived');
  const [isCreating, setCreating] = useState(false);
  const hasArchived = query.data?.some(({ status }) => status === 'ARCHIVED') ?? false;
  return (
    <ListPage
      title={t('frame.projects')}
      query={query}
      rowsOf={(rows) => rows.filter(({ status }) => status === 'ACTIVE' || archived === 'true')}
      create={{ label: t('projects.new'), isAllowed: true, onClick: () => setCreating(true), hasForm: true }}
      above={
        hasArchived && (
          <Checkbox
            label={t('projects.showArchived')}
            checked={archived === 'true'}
            onChange={(event) => setArchived(event.target.checked ? 'true' : '')}
          />
        )
      }
      caption={t('frame.projects')}
      columns={columns()}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      empty={{
        title: t('projects.createFirst'),
        children: (
          <>
            <p>{t('projects.whatIs')}</p>
            <CreateForm />
          </>
        ),
      }}
    >
      {isCreating && (
        <Dialog title={t('projects.new')} onClose={() => setCreating(false)}>
          <CreateForm />
        </Dialog>
      )}
    </ListPage>
  );
}

function CreateForm() {
  const api = useApi();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => ({ name: name.trim() === '' ? t('projects.giveName') : undefined }),
    submit: ({ name }) => api.call('createProject', { body: { name: name.trim() } }),
    onDone: async ({ id }) => {
      await client.invalidateQueries({ queryKey: projectKeys.list });
      navigate(projectPath(id, 'overview', 'DEVELOPMENT'));
    },
  });
  return (
    <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField
        label={t('projects.projectName')}
        maxLength={128}
        autoComplete="off"
        autoFocus
        {...form.field('name')}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('projects.create')}
        </Button>
      </div>
    </form>
  );
}
