import type { NewWebhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { EventPicker } from './event-picker.tsx';
import { webhookKeys } from './queries.ts';

/** The service decides; this answers before it is asked. */
export function urlProblem(url: string): string | undefined {
  if (url.trim() === '') return 'Enter the URL of your endpoint.';
  return URL.canParse(url.trim()) && /^https?:$/.test(new URL(url.trim()).protocol)
    ? undefined
    : 'Enter a whole URL, such as https://example.com/hooks.';
}

export function CreateWebhookDialog(props: { onClose: () => void; onCreated: (webhook: NewWebhook) => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment } = useProject();
  const [events, setEvents] = useState<string[]>([]);
  const form = useForm({
    initial: { url: '', description: '' },
    check: ({ url }) => ({ url: urlProblem(url) }),
    submit: ({ url, description }) =>
      api.call('createWebhook', {
        projectId: project.id,
        body: {
          url: url.trim(),
          environment,
          events,
          ...(description.trim() === '' ? {} : { description: description.trim() }),
        },
      }),
    fieldOf: { SVC_INVALID_WEBHOOK_URL: 'url' },
    onDone: (created) => {
      void client.invalidateQueries({ queryKey: webhookKeys.list(project.id, environment) });
      props.onCreated(created);
    },
  });
  return (
    <Dialog title={`New endpoint for ${environment.toLowerCase()}`} isWide onClose={props.onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label="URL"
          type="url"
          hint={
            environment === 'PRODUCTION'
              ? 'https only. Internal addresses are refused.'
              : 'https, or http on this machine while developing. Other internal addresses are refused.'
          }
          autoComplete="off"
          spellCheck={false}
          autoFocus
          {...form.field('url')}
        />
        <TextField
          label="Description"
          hint="Optional"
          maxLength={256}
          autoComplete="off"
          {...form.field('description')}
        />
        <EventPicker chosen={events} onChange={setEvents} />
        <div className="dialog-actions">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            Create endpoint
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
