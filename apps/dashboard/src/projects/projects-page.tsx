import type { Environment, Project } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { projectPath, useFilter } from '../frame/url.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { PlusIcon } from '../kit/icons.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { metricsQuery } from '../observability/queries.ts';
import { projectKeys, projectsQuery } from './queries.ts';
import { roleNames } from './roles.ts';

const columns: readonly Column<Project>[] = [
  {
    head: 'Name',
    width: '26%',
    cell: ({ id, name, status }) => (
      <span className="row">
        <Link className="row-link" href={projectPath(id, 'overview', 'DEVELOPMENT')}>
          {name}
        </Link>
        {status === 'ARCHIVED' && <Badge shape="square">Archived</Badge>}
      </span>
    ),
  },
  { head: 'Your role', width: '11%', cell: ({ role }) => (role ? roleNames[role] : null) },
  { head: 'Development', width: '15%', cell: (project) => <Activity project={project} environment="DEVELOPMENT" /> },
  { head: 'Production', width: '15%', cell: (project) => <Activity project={project} environment="PRODUCTION" /> },
  { head: 'Id', cell: ({ id }) => <CopyId id={id} label="Copy project id" /> },
  { head: 'Created', width: '14%', cell: ({ createdAt }) => <Time at={createdAt} /> },
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
      {total === 0 ? 'quiet' : `${count(active)} now, ${count(total)} in 24 h`}
    </span>
  );
}

export default function ProjectsPage() {
  const query = useQuery(projectsQuery(useApi()));
  const [archived, setArchived] = useFilter('archived');
  const [isCreating, setCreating] = useState(false);
  const shown = query.data?.filter(({ status }) => status === 'ACTIVE' || archived === 'true');
  const hasArchived = query.data?.some(({ status }) => status === 'ARCHIVED') ?? false;
  return (
    <Page
      title="Projects"
      query={query}
      actions={
        shown?.length !== 0 && (
          <Button variant="primary" icon={<PlusIcon />} onClick={() => setCreating(true)}>
            New project
          </Button>
        )
      }
    >
      {hasArchived && (
        <Checkbox
          label="Show archived projects"
          checked={archived === 'true'}
          onChange={(event) => setArchived(event.target.checked ? 'true' : '')}
        />
      )}
      <QueryView query={query} skeleton={<ProjectTable rows={undefined} />}>
        {() =>
          shown?.length === 0 ? (
            <EmptyState title="Create your first project">
              <p>A project holds your rooms, chat, streams, keys and members, for development and for production.</p>
              <CreateForm />
            </EmptyState>
          ) : (
            <ProjectTable rows={shown} />
          )
        }
      </QueryView>
      {isCreating && (
        <Dialog title="New project" onClose={() => setCreating(false)}>
          <CreateForm />
        </Dialog>
      )}
    </Page>
  );
}

const ProjectTable = ({ rows }: { rows: readonly Project[] | undefined }) => (
  <Table caption="Projects" columns={columns} rows={rows} keyOf={({ id }) => id} copyOf={({ id }) => id} />
);

function CreateForm() {
  const api = useApi();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => ({ name: name.trim() === '' ? 'Give the project a name.' : undefined }),
    submit: ({ name }) => api.call('createProject', { body: { name: name.trim() } }),
    onDone: async ({ id }) => {
      await client.invalidateQueries({ queryKey: projectKeys.list });
      navigate(projectPath(id, 'overview', 'DEVELOPMENT'));
    },
  });
  return (
    <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField label="Project name" maxLength={128} autoComplete="off" autoFocus {...form.field('name')} />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Create project
        </Button>
      </div>
    </form>
  );
}
