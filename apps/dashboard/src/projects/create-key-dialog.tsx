import type { NewApiKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { checkBounds, KeyBoundsFields, noBounds, readBounds } from './key-bounds.tsx';
import { projectKeys } from './queries.ts';

export function CreateKeyDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (key: NewApiKey) => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment } = useProject();
  const form = useForm({
    initial: { name: '', ...noBounds },
    check: ({ name, ...bounds }) => ({
      ...(name.trim() === '' && { name: 'Give the key a name, such as where it is used.' }),
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
    <Dialog title={`New API key for ${environment.toLowerCase()}`} onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label="Name"
          hint="Where the key is used, for example: backend on staging."
          maxLength={64}
          autoComplete="off"
          autoFocus
          {...form.field('name')}
        />
        <KeyBoundsFields form={form} />
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
