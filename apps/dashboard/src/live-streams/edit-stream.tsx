import type { LiveStreamWithHosts } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { streamKeys } from './queries.ts';
import { aboutFields, aboutProblems, changeOf, lengthHint, metadataHint } from './stream-fields.ts';
import { visibilityOptions } from './words.tsx';

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
      toast(t('live-streams.saved'));
      await client.invalidateQueries({ queryKey: streamKeys.one(project.id, environment, stream.id) });
    },
  });
  const { values } = form;
  return (
    <form className="panel stack" aria-labelledby="edit" onSubmit={form.onSubmit} noValidate>
      <h2 id="edit">{t('words.description')}</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <fieldset className="stack" disabled={!mayEdit}>
        <legend className="visually-hidden">{t('words.description')}</legend>
        <TextField
          label={t('words.title')}
          hint={lengthHint(values.title, 'title')}
          autoComplete="off"
          {...form.field('title')}
        />
        <TextArea
          label={t('live-streams.descriptionText')}
          rows={3}
          hint={lengthHint(values.description, 'description')}
          {...form.field('description')}
        />
        <SelectField label={t('live-streams.visibility')} options={visibilityOptions()} {...form.field('visibility')} />
        <TextField
          label={t('live-streams.tags')}
          hint={t('live-streams.byCommas')}
          autoComplete="off"
          {...form.field('tags')}
        />
        <div className="field-pair">
          <TextField label={t('live-streams.category')} maxLength={64} autoComplete="off" {...form.field('category')} />
          <TextField
            label={t('frame.language')}
            hint={t('live-streams.languageHint')}
            maxLength={16}
            {...form.field('language')}
          />
        </div>
        <TextField
          label={t('live-streams.thumbnail')}
          hint={t('live-streams.thumbnailHint')}
          maxLength={2048}
          {...form.field('thumbnailUrl')}
        />
        <TextArea
          label={t('words.metadata')}
          rows={4}
          spellCheck={false}
          hint={metadataHint(values.metadata)}
          {...form.field('metadata')}
        />
      </fieldset>
      <div className="row">
        <Button type="submit" variant="primary" disabled={!mayEdit} isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('words.save')}
        </Button>
        {!mayEdit && <span className="muted">{askFor('live_stream:manage')}</span>}
      </div>
    </form>
  );
}
