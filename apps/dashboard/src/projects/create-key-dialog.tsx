import type { NewApiKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { checkBounds, KeyBoundsFields, noBounds, readBounds } from './key-bounds.tsx';
import { projectKeys } from './queries.ts';
import { t } from './texts.ts';

export function CreateKeyDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (key: NewApiKey) => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment } = useProject();
  const form = useForm({
    initial: { name: '', ...noBounds },
    check: ({ name, ...bounds }) => ({
      ...(name.trim() === '' && { name: t('projects.nameTheKey') }),
      ...checkBounds(bounds),
    }),
    submit: ({ name, ...bounds }) =>
      api.call('createApiKey', {
        projectId: project.id,
        body: { name: name.trim(), environment, ...readBounds(bounds) },
      }),
    onDone: (created) => {
      void client.invalidateQueries({ queryKey: projectKeys.apiKeys(project.id) });
      onCreated(created);
    },
  });
  return (
    <FormDialog
      title={t('projects.newKeyFor', { environment: environmentName(environment) })}
      onClose={onClose}
      form={form}
      action={t('projects.createKey')}
    >
      <TextField
        label={t('words.name')}
        hint={t('projects.keyNameHint')}
        maxLength={64}
        autoComplete="off"
        autoFocus
        {...form.field('name')}
      />
      <KeyBoundsFields form={form} />
    </FormDialog>
  );
}
