import type { Webhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { plural } from '../kit/numbers.ts';
import { webhookKeys } from './queries.ts';

const hourMs = 3_600_000;
const ranges = [
  { value: '1', label: 'The last hour' },
  { value: '6', label: 'The last 6 hours' },
  { value: '24', label: 'The last 24 hours' },
  { value: '168', label: 'The last 7 days' },
  { value: 'exact', label: 'From and until' },
] as const;

export function Recover({ webhook }: { webhook: Webhook }) {
  const { may } = useProject();
  const [isOpen, setOpen] = useState(false);
  const mayRecover = may('webhook:manage', webhook.environment);
  const isEnabled = webhook.status === 'ENABLED';
  return (
    <>
      <Button
        disabled={!mayRecover || !isEnabled}
        title={mayRecover ? (isEnabled ? undefined : 'Enable the endpoint first.') : askFor('webhook:manage')}
        onClick={() => setOpen(true)}
      >
        Recover
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
            since: since === '' ? 'Say from when.' : undefined,
            until: until !== '' && until <= since ? 'The end is after the start.' : undefined,
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
    <Dialog title="Recover events" onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        <p>
          Queues again every event of a time that this endpoint neither received nor is about to: after an outage, or
          for what happened before it was fixed.
        </p>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <SelectField label="Time" options={ranges} {...form.field('range')} />
        {form.values.range === 'exact' && (
          <>
            <TextField label="From" type="datetime-local" {...form.field('since')} />
            <TextField label="Until" hint="Now, if empty." type="datetime-local" {...form.field('until')} />
          </>
        )}
        {result && (
          <p className="notice" role="status">
            {result.queued === 0 ? 'Nothing was missing.' : `${plural(result.queued, 'event')} queued.`}
            {!result.complete && ' More are missing: recover again.'}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{result?.complete ? 'Done' : 'Cancel'}</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            {result && !result.complete ? 'Recover again' : 'Recover'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
