import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { isAllowed, originOf, readOrigins } from './origins.ts';
import { useStoreProject } from './store-project.ts';
import { t } from './texts.ts';

/** Which pages may use the project from a browser. */
export function OriginsPanel() {
  const api = useApi();
  const toast = useToast();
  const store = useStoreProject();
  const { project, may } = useProject();
  const isFixed = !may('project:update') || project.status === 'ARCHIVED';
  const form = useForm({
    initial: { origins: project.allowedOrigins.join('\n'), localhost: String(project.allowLocalhostOrigins) },
    check: ({ origins }) => ({ origins: readOrigins(origins).problem }),
    submit: ({ origins, localhost }) =>
      api.call('updateAllowedOrigins', {
        projectId: project.id,
        body: { allowedOrigins: readOrigins(origins).origins, allowLocalhostOrigins: localhost === 'true' },
      }),
    onDone: (changed) => {
      store(changed);
      toast(t('projects.originsSaved'));
    },
  });
  const { origins } = readOrigins(form.values.origins);
  return (
    <section className="panel stack" aria-labelledby="origins">
      <h2 id="origins">{t('projects.allowedOrigins')}</h2>
      {origins.length === 0 && (
        <p className="notice" data-tone="warn">
          {t('projects.emptyAllows')}
        </p>
      )}
      <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextArea
          label={t('projects.originsLabel')}
          hint={t('projects.originsHint')}
          className="input mono"
          disabled={isFixed}
          spellCheck={false}
          {...form.field('origins')}
        />
        <Checkbox
          label={t('projects.alsoLocalhost')}
          hint={t('projects.localhostHint')}
          checked={form.values.localhost === 'true'}
          disabled={isFixed}
          onChange={(event) => form.set('localhost', String(event.target.checked))}
        />
        <div className="row">
          <Button
            type="submit"
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
            disabled={isFixed}
            title={may('project:update') ? undefined : askFor('project:update')}
          >
            {t('projects.saveOrigins')}
          </Button>
        </div>
      </form>
      <TestOrigin allowed={origins} allowLocalhost={form.values.localhost === 'true'} />
    </section>
  );
}

function TestOrigin({ allowed, allowLocalhost }: { allowed: readonly string[]; allowLocalhost: boolean }) {
  const [text, setText] = useState('');
  const origin = originOf(text.trim());
  return (
    <div className="inline-form stack-small">
      <TextField
        label={t('projects.testOrigin')}
        hint={t('projects.testHint')}
        value={text}
        placeholder="https://app.example.com"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      <p role="status">
        {text.trim() !== '' && origin === null && <Badge shape="square">{t('projects.notOrigin')}</Badge>}
        {origin !== null &&
          (isAllowed(origin, allowed, allowLocalhost) ? (
            <Badge tone="ok">{t('projects.allowed')}</Badge>
          ) : (
            <Badge tone="bad" shape="square">
              {t('projects.refused')}
            </Badge>
          ))}
      </p>
    </div>
  );
}
