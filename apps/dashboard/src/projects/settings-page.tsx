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
import { t, withNodes } from './texts.ts';

export default function SettingsPage() {
  const { project } = useProject();
  return (
    <Page
      title={t('page.settings')}
      aside={project.status === 'ARCHIVED' && <Badge shape="square">{t('words.archived')}</Badge>}
    >
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
    check: ({ name }) => ({ name: name.trim() === '' ? t('projects.hasName') : undefined }),
    submit: ({ name }) => api.call('updateProject', { projectId: project.id, body: { name: name.trim() } }),
    onDone: (changed) => {
      store(changed);
      toast(t('projects.nameSaved'));
    },
  });
  return (
    <section className="panel stack" aria-labelledby="project">
      <h2 id="project">{t('frame.project')}</h2>
      <dl className="facts">
        <div>
          <dt>{t('words.id')}</dt>
          <dd>
            <CopyId id={project.id} label={t('projects.copyProjectId')} />
          </dd>
        </div>
        <div>
          <dt>{t('projects.handle')}</dt>
          <dd className="mono">{project.slug}</dd>
        </div>
        <div>
          <dt>{t('words.created')}</dt>
          <dd>
            <Time at={project.createdAt} />
          </dd>
        </div>
      </dl>
      <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField label={t('words.name')} maxLength={128} disabled={isFixed} {...form.field('name')} />
        <div className="row">
          <Button
            type="submit"
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
            disabled={isFixed || form.values.name.trim() === project.name}
            title={may('project:update') ? undefined : askFor('project:update')}
          >
            {t('projects.saveName')}
          </Button>
        </div>
      </form>
    </section>
  );
}

function VariablesPanel() {
  const { project } = useProject();
  const lines = [
    `SVC_URL=${location.origin}`,
    `SVC_PROJECT_ID=${project.id}`,
    `SVC_API_KEY=  # ${t('projects.madeUnder')}`,
  ];
  return (
    <section className="panel stack" aria-labelledby="variables">
      <h2 id="variables">{t('projects.variables')}</h2>
      <p className="muted">{t('projects.forBackend')}</p>
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
      toast(t('projects.archivedNamed', { name: archived.name }));
    },
  });
  if (project.status === 'ARCHIVED') {
    return (
      <section className="panel stack-small" aria-labelledby="archive">
        <h2 id="archive">{t('words.archived')}</h2>
        <p>
          {withNodes('projects.archivedSince', {
            time: project.archivedAt && <Time at={project.archivedAt} />,
          })}
        </p>
      </section>
    );
  }
  return (
    <section className="panel stack" aria-labelledby="archive">
      <h2 id="archive">{t('projects.archive')}</h2>
      <p className="muted">{t('projects.archiveExplained')}</p>
      <div className="row">
        <Button
          variant="danger"
          disabled={!may('project:archive')}
          title={may('project:archive') ? undefined : askFor('project:archive')}
          onClick={() => setAsking(true)}
        >
          {t('projects.archiveProject')}
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('projects.archiveAsk', { name: project.name })}
          action={t('projects.archiveProject')}
          typed={project.name}
          isBusy={archive.isBusy}
          failure={archive.failure}
          onConfirm={() => void archive.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>{t('projects.archiveWarning', { name: project.name })}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
