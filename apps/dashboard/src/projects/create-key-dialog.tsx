import type { NewApiKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
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
    <Dialog title={t('projects.newKeyFor', { environment: environmentName(environment) })} onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label={t('words.name')}
          hint={t('projects.keyNameHint')}
          maxLength={64}
          autoComplete="off"
          autoFocus
          {...form.field('name')}
        />
        <KeyBoundsFields form={form} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            {t('projects.createKey')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
