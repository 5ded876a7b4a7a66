import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { streamKeys } from './queries.ts';
import { aboutFields, aboutOf, aboutProblems, lengthHint } from './stream-fields.ts';
import { visibilityOptions } from './words.tsx';

/** The body of the API's own call, as a form. */
export function CreateStreamForm() {
  const api = useApi();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { project, environment, to } = useProject();
  const form = useForm({
    initial: { ...aboutFields(null), hostIdentity: '', scheduledAt: '' },
    check: (values) => ({
      ...aboutProblems(values),
      hostIdentity: values.hostIdentity.trim() === '' ? t('live-streams.nameHost') : undefined,
    }),
    submit: (values) =>
      api.call('createProjectLiveStream', {
        projectId: project.id,
        query: { environment },
        body: {
          ...aboutOf(values),
          title: values.title.trim(),
          hostIdentity: values.hostIdentity.trim(),
          ...(values.scheduledAt === '' ? {} : { scheduledAt: new Date(values.scheduledAt).toISOString() }),
        },
      }),
    fieldOf: { SVC_METADATA_TOO_LARGE: 'metadata' },
    onDone: async ({ id }) => {
      await client.invalidateQueries({ queryKey: streamKeys.list(project.id, environment) });
      navigate(to(`live-streams/${id}`));
    },
  });
  return (
    <form className="stack inline-form" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField
        label={t('words.title')}
        hint={lengthHint(form.values.title, 'title')}
        autoComplete="off"
        autoFocus
        {...form.field('title')}
      />
      <TextField
        label={t('live-streams.hostIdentity')}
        hint={t('live-streams.hostHint')}
        autoComplete="off"
        spellCheck={false}
        {...form.field('hostIdentity')}
      />
      <TextArea
        label={t('words.description')}
        rows={3}
        hint={lengthHint(form.values.description, 'description')}
        {...form.field('description')}
      />
      <SelectField label={t('live-streams.visibility')} options={visibilityOptions()} {...form.field('visibility')} />
      <TextField
        label={t('live-streams.scheduledFor')}
        type="datetime-local"
        hint={t('live-streams.notByItself')}
        {...form.field('scheduledAt')}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('live-streams.create')}
        </Button>
      </div>
    </form>
  );
}
