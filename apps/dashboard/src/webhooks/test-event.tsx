import type { Webhook } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useToast } from '../kit/toast.tsx';
import { eventTypesQuery, webhookKeys } from './queries.ts';

export function TestEvent({ webhook }: { webhook: Webhook }) {
  const { may } = useProject();
  const [isOpen, setOpen] = useState(false);
  const mayTest = may('webhook:manage', webhook.environment);
  const isEnabled = webhook.status === 'ENABLED';
  return (
    <>
      <Button
        disabled={!mayTest || !isEnabled}
        title={mayTest ? (isEnabled ? undefined : t('webhooks.receivesNothing')) : askFor('webhook:manage')}
        onClick={() => setOpen(true)}
      >
        {t('webhooks.sendTest')}
      </Button>
      {isOpen && <TestDialog webhook={webhook} onClose={() => setOpen(false)} />}
    </>
  );
}

function TestDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const { data: types = [] } = useQuery(eventTypesQuery(api));
  const form = useForm({
    initial: { eventType: webhook.events[0] ?? '' },
    submit: ({ eventType }) =>
      api.call('testWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
        // Without a choice the service takes its own.
        body: eventType === '' ? {} : { eventType },
      }),
    onDone: async () => {
      await client.invalidateQueries({ queryKey: webhookKeys.deliveries(project.id, webhook.id) });
      toast(t('webhooks.testQueued'));
      onClose();
    },
  });
  return (
    <FormDialog title={t('webhooks.sendTest')} onClose={onClose} form={form} action={t('webhooks.send')}>
      <p>{t('webhooks.testExplained')}</p>
      <SelectField
        label={t('webhooks.event')}
        options={[
          ...(webhook.events.length === 0 ? [{ value: '', label: t('webhooks.any') }] : []),
          ...types.map(({ type }) => ({ value: type, label: type })),
        ]}
        {...form.field('eventType')}
      />
    </FormDialog>
  );
}
