import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { OriginsPanel } from './origins-panel.tsx';
import { SecurityPanel } from './security-panel.tsx';
import { useStoreProject } from './store-project.ts';

export default function SettingsPage() {
  const { project } = useProject();
  return (
    <Page title="Settings" aside={project.status === 'ARCHIVED' && <Badge shape="square">Archived</Badge>}>
      <NamePanel />
      <OriginsPanel key={project.updatedAt} />
      <SecurityPanel />
      <VariablesPanel />
      <ArchivePanel />
    </Page>
  );
}

function NamePanel() {
  const api = useApi();
  const toast = useToast();
  const store = useStoreProject();
  const { project, may } = useProject();
  const isFixed = !may('project:update') || project.status === 'ARCHIVED';
  const form = useForm({
    initial: { name: project.name },
    check: ({ name }) => ({ name: name.trim() === '' ? 'A project has a name.' : undefined }),
    submit: ({ name }) => api.call('updateProject', { projectId: project.id, body: { name: name.trim() } }),
    onDone: (changed) => {
      store(changed);
      toast('Name saved');
    },
  });
  return (
    <section className="panel stack" aria-labelledby="project">
      <h2 id="project">Project</h2>
      <dl className="facts">
        <div>
          <dt>Id</dt>
          <dd>
            <CopyId id={project.id} label="Copy project id" />
          </dd>
        </div>
        <div>
          <dt>Handle</dt>
          <dd className="mono">{project.slug}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={project.createdAt} />
          </dd>
        </div>
      </dl>
      <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField label="Name" maxLength={128} disabled={isFixed} {...form.field('name')} />
        <div className="row">
          <Button
            type="submit"
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
            disabled={isFixed || form.values.name.trim() === project.name}
            title={may('project:update') ? undefined : askFor('project:update')}
          >
            Save name
          </Button>
        </div>
      </form>
    </section>
  );
}

function VariablesPanel() {
  const { project } = useProject();
  const lines = [`SVC_URL=${location.origin}`, `SVC_PROJECT_ID=${project.id}`, 'SVC_API_KEY=  # made under API keys'];
  return (
    <section className="panel stack" aria-labelledby="variables">
      <h2 id="variables">Environment variables</h2>
      <p className="muted">For your backend.</p>
      <Snippet label=".env" code={lines.join('\n')} />
    </section>
  );
}

function ArchivePanel() {
  const api = useApi();
  const toast = useToast();
  const store = useStoreProject();
  const { project, may } = useProject();
  const [isAsking, setAsking] = useState(false);
  const archive = useAction(() => api.call('archiveProject', { projectId: project.id }), {
    onDone: (archived) => {
      store(archived);
      setAsking(false);
      toast(`Archived ${archived.name}`);
    },
  });
  if (project.status === 'ARCHIVED') {
    return (
      <section className="panel stack-small" aria-labelledby="archive">
        <h2 id="archive">Archived</h2>
        <p>
          Since {project.archivedAt && <Time at={project.archivedAt} />}. Its keys and tokens are refused; what it holds
          can still be read here.
        </p>
      </section>
    );
  }
  return (
    <section className="panel stack" aria-labelledby="archive">
      <h2 id="archive">Archive</h2>
      <p className="muted">Keys and tokens stop working at once, in both environments. This cannot be undone here.</p>
      <div className="row">
        <Button
          variant="danger"
          disabled={!may('project:archive')}
          title={may('project:archive') ? undefined : askFor('project:archive')}
          onClick={() => setAsking(true)}
        >
          Archive project
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={`Archive ${project.name}?`}
          action="Archive project"
          typed={project.name}
          isBusy={archive.isBusy}
          failure={archive.failure}
          onConfirm={() => void archive.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>Every API key and token of {project.name} is refused from now on, in development and in production.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
