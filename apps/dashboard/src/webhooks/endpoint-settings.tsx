import type { NewWebhook, Webhook } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { urlProblem } from './create-webhook.tsx';
import { DeleteEndpoint } from './delete-endpoint.tsx';
import { EventPicker } from './event-picker.tsx';
import { HeadersPanel } from './headers-panel.tsx';
import { WebhookSecretDialog } from './secret-dialog.tsx';
import { useStoreWebhook } from './store-webhook.ts';

export function EndpointSettings({ webhook }: { webhook: Webhook }) {
  const { may } = useProject();
  const mayManage = may('webhook:manage', webhook.environment);
  if (!mayManage) return <p className="muted">{askFor('webhook:manage')}</p>;
  return (
    <>
      <EditForm webhook={webhook} />
      <HeadersPanel webhook={webhook} />
      <SecretPanel webhook={webhook} />
      <DangerPanel webhook={webhook} />
    </>
  );
}

function EditForm({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const toast = useToast();
  const store = useStoreWebhook();
  const { project } = useProject();
  const [events, setEvents] = useState([...webhook.events]);
  const form = useForm({
    initial: { url: webhook.url, description: webhook.description ?? '' },
    check: ({ url }) => ({ url: urlProblem(url) }),
    submit: ({ url, description }) =>
      api.call('updateWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
        body: { url: url.trim(), events, description: description.trim() === '' ? null : description.trim() },
      }),
    fieldOf: { SVC_INVALID_WEBHOOK_URL: 'url' },
    onDone: (changed) => {
      store(changed);
      toast(t('webhooks.saved'));
    },
  });
  return (
    <form className="panel stack" onSubmit={form.onSubmit} noValidate aria-label={t('webhooks.endpoint')}>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <TextField label="URL" type="url" spellCheck={false} {...form.field('url')} />
      <TextField
        label={t('words.description')}
        hint={t('words.optional')}
        maxLength={256}
        {...form.field('description')}
      />
      <EventPicker chosen={events} onChange={setEvents} />
      <div className="row">
        <Button type="submit" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('webhooks.save')}
        </Button>
      </div>
    </form>
  );
}

function SecretPanel({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const store = useStoreWebhook();
  const { project } = useProject();
  const [isAsking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<NewWebhook | null>(null);
  const rotate = useAction(
    () =>
      api.call('rotateWebhookSecret', {
        projectId: project.id,
        webhookId: webhook.id,
        body: {},
      }),
    {
      onDone: (answer) => {
        setAsking(false);
        setRotated(answer);
      },
    },
  );
  return (
    <section className="panel stack-small" aria-labelledby="secret">
      <h2 id="secret">{t('webhooks.signingSecret')}</h2>
      <p className="muted">
        {withNodes('webhooks.endsIn', { hint: <span className="mono">{webhook.secretHint}</span> })}{' '}
        {webhook.previousSecretExpiresAt !== null &&
          withNodes('webhooks.formerUntil', { time: <Time at={webhook.previousSecretExpiresAt} /> })}
      </p>
      <div className="row">
        <Button onClick={() => setAsking(true)}>{t('webhooks.rotate')}</Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t('webhooks.rotateAsk')}
          action={t('webhooks.rotate')}
          isBusy={rotate.isBusy}
          failure={rotate.failure}
          onConfirm={() => void rotate.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>{t('webhooks.rotateExplained')}</p>
        </ConfirmDialog>
      )}
      {rotated && (
        <WebhookSecretDialog
          webhook={rotated}
          onClose={() => {
            const { secret: _, ...changed } = rotated;
            setRotated(null);
            store(changed);
          }}
        />
      )}
    </section>
  );
}

function DangerPanel({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const toast = useToast();
  const store = useStoreWebhook();
  const { project } = useProject();
  const disable = useAction(
    () =>
      api.call('disableWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
      }),
    {
      onDone: (changed) => {
        store(changed);
        toast(t('webhooks.didDisable'));
      },
    },
  );
  return (
    <section className="panel stack-small" aria-labelledby="stop">
      <h2 id="stop">{t('webhooks.stop')}</h2>
      <p className="muted">{t('webhooks.stopExplained')}</p>
      {disable.failure && <ErrorNotice failure={disable.failure} />}
      <div className="row">
        {webhook.status === 'ENABLED' && (
          <Button isBusy={disable.isBusy} onClick={() => disable.run(undefined)}>
            {t('webhooks.disable')}
          </Button>
        )}
        <DeleteEndpoint webhook={webhook} />
      </div>
    </section>
  );
}
