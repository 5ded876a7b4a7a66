import type { Webhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { webhookKeys } from './queries.ts';

const hourMs = 3_600_000;
/** Hours back, or a time that the person names. */
const ranges: readonly (readonly [value: string, label: PlainKey])[] = [
  ['1', 'webhooks.lastHour'],
  ['6', 'webhooks.last6Hours'],
  ['24', 'webhooks.last24Hours'],
  ['168', 'webhooks.last7Days'],
  ['exact', 'webhooks.fromAndUntil'],
];

export function Recover({ webhook }: { webhook: Webhook }) {
  const { may } = useProject();
  const [isOpen, setOpen] = useState(false);
  const mayRecover = may('webhook:manage', webhook.environment);
  const isEnabled = webhook.status === 'ENABLED';
  return (
    <>
      <Button
        disabled={!mayRecover || !isEnabled}
        title={mayRecover ? (isEnabled ? undefined : t('webhooks.enableFirst')) : askFor('webhook:manage')}
        onClick={() => setOpen(true)}
      >
        {t('webhooks.recover')}
      </Button>
      {isOpen && <RecoverDialog webhook={webhook} onClose={() => setOpen(false)} />}
    </>
  );
}

const isoOf = (text: string): string => new Date(text).toISOString();

function RecoverDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project } = useProject();
  const [result, setResult] = useState<{ queued: number; complete: boolean } | null>(null);
  const form = useForm({
    initial: { range: '24', since: '', until: '' },
    check: ({ range, since, until }) =>
      range !== 'exact'
        ? {}
        : {
            since: since === '' ? t('webhooks.sayFrom') : undefined,
            until: until !== '' && until <= since ? t('webhooks.endAfterStart') : undefined,
          },
    submit: ({ range, since, until }) =>
      api.call('recoverWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
        body:
          range === 'exact'
            ? { since: isoOf(since), ...(until === '' ? {} : { until: isoOf(until) }) }
            : { since: new Date(Date.now() - Number(range) * hourMs).toISOString() },
      }),
    onDone: async (answer) => {
      setResult((before) => ({ queued: (before?.queued ?? 0) + answer.queued, complete: answer.complete }));
      await client.invalidateQueries({ queryKey: webhookKeys.deliveries(project.id, webhook.id) });
    },
  });
  return (
    <Dialog title={t('webhooks.recoverEvents')} onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        <p>{t('webhooks.recoverExplained')}</p>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <SelectField
          label={t('kit.time')}
          options={ranges.map(([value, label]) => ({ value, label: t(label) }))}
          {...form.field('range')}
        />
        {form.values.range === 'exact' && (
          <>
            <TextField label={t('webhooks.from')} type="datetime-local" {...form.field('since')} />
            <TextField
              label={t('webhooks.until')}
              hint={t('webhooks.untilHint')}
              type="datetime-local"
              {...form.field('until')}
            />
          </>
        )}
        {result && (
          <p className="notice" role="status">
            {result.queued === 0 ? t('webhooks.nothingMissing') : t('webhooks.eventsQueued', { count: result.queued })}
            {!result.complete && ` ${t('webhooks.moreMissing')}`}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t(result?.complete ? 'kit.done' : 'kit.cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            {t(result && !result.complete ? 'webhooks.recoverAgain' : 'webhooks.recover')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
