import type { LiveStreamWithHosts } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { streamKeys } from './queries.ts';
import { aboutFields, aboutProblems, changeOf, lengthHint, metadataHint, visibilityOptions } from './stream-fields.ts';

export function EditStream({ stream }: { stream: LiveStreamWithHosts }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, environment, may } = useProject();
  const mayEdit = may('live_stream:manage');
  const form = useForm({
    initial: aboutFields(stream),
    check: aboutProblems,
    submit: (values) =>
      api.call('updateProjectLiveStream', {
        projectId: project.id,
        streamId: stream.id,
        query: { environment },
        body: changeOf(values),
      }),
    fieldOf: { SVC_METADATA_TOO_LARGE: 'metadata' },
    onDone: async () => {
      toast('Stream saved');
      await client.invalidateQueries({ queryKey: streamKeys.one(project.id, environment, stream.id) });
    },
  });
  const { values } = form;
  return (
    <form className="panel stack" aria-labelledby="edit" onSubmit={form.onSubmit} noValidate>
      <h2 id="edit">Description</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <fieldset className="stack" disabled={!mayEdit}>
        <legend className="visually-hidden">Description</legend>
        <TextField label="Title" hint={lengthHint(values.title, 'title')} autoComplete="off" {...form.field('title')} />
        <TextArea
          label="Description text"
          rows={3}
          hint={lengthHint(values.description, 'description')}
          {...form.field('description')}
        />
        <SelectField label="Visibility" options={visibilityOptions} {...form.field('visibility')} />
        <TextField label="Tags" hint="Separated by commas." autoComplete="off" {...form.field('tags')} />
        <div className="field-pair">
          <TextField label="Category" maxLength={64} autoComplete="off" {...form.field('category')} />
          <TextField label="Language" hint="Such as en or pt-BR." maxLength={16} {...form.field('language')} />
        </div>
        <TextField
          label="Thumbnail URL"
          hint="Kept for your pages; it is not shown here."
          maxLength={2048}
          {...form.field('thumbnailUrl')}
        />
        <TextArea
          label="Metadata"
          rows={4}
          spellCheck={false}
          hint={metadataHint(values.metadata)}
          {...form.field('metadata')}
        />
      </fieldset>
      <div className="row">
        <Button type="submit" variant="primary" disabled={!mayEdit} isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Save
        </Button>
        {!mayEdit && <span className="muted">{askFor('live_stream:manage')}</span>}
      </div>
    </form>
  );
}
