import type { NewWebhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { EventPicker } from './event-picker.tsx';
import { webhookKeys } from './queries.ts';

/** The service decides; this answers before it is asked. */
export function urlProblem(url: string): string | undefined {
  if (url.trim() === '') return t('webhooks.enterUrl');
  return URL.canParse(url.trim()) && /^https?:$/.test(new URL(url.trim()).protocol)
    ? undefined
    : t('webhooks.enterWholeUrl');
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
    <FormDialog
      title={t('webhooks.newFor', { environment: environmentName(environment) })}
      isWide
      onClose={props.onClose}
      form={form}
      action={t('webhooks.create')}
    >
      <TextField
        label="URL"
        type="url"
        hint={t(environment === 'PRODUCTION' ? 'webhooks.urlHintProduction' : 'webhooks.urlHintDevelopment')}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        {...form.field('url')}
      />
      <TextField
        label={t('words.description')}
        hint={t('words.optional')}
        maxLength={256}
        autoComplete="off"
        {...form.field('description')}
      />
      <EventPicker chosen={events} onChange={setEvents} />
    </FormDialog>
  );
}
