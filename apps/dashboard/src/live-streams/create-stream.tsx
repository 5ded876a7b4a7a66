import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { streamKeys } from './queries.ts';
import { aboutFields, aboutOf, aboutProblems, lengthHint, visibilityOptions } from './stream-fields.ts';

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
      hostIdentity: values.hostIdentity.trim() === '' ? 'Name who hosts it, as your backend names them.' : undefined,
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
        label="Title"
        hint={lengthHint(form.values.title, 'title')}
        autoComplete="off"
        autoFocus
        {...form.field('title')}
      />
      <TextField
        label="Host identity"
        hint="Who hosts it, as your backend names its users."
        autoComplete="off"
        spellCheck={false}
        {...form.field('hostIdentity')}
      />
      <TextArea
        label="Description"
        rows={3}
        hint={lengthHint(form.values.description, 'description')}
        {...form.field('description')}
      />
      <SelectField label="Visibility" options={visibilityOptions} {...form.field('visibility')} />
      <TextField
        label="Scheduled for"
        type="datetime-local"
        hint="The service does not start streams by itself; your backend calls start."
        {...form.field('scheduledAt')}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Create stream
        </Button>
      </div>
    </form>
  );
}
