import type { Alert } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useStoreAlert } from './store-alert.ts';
import { t } from './texts.ts';

const hours = () => [
  { value: '1', label: t('alerts.hour1') },
  { value: '4', label: t('alerts.hours4') },
  { value: '24', label: t('alerts.day1') },
  { value: '168', label: t('alerts.week1') },
];
const hourMs = 60 * 60 * 1000;

/** Keeps an alert quiet for a time, or lets it speak again. */
export function Silence({ alert }: { alert: Alert }) {
  const api = useApi();
  const store = useStoreAlert();
  const { project, environment, may } = useProject();
  const [isOpen, setOpen] = useState(false);
  const isSilenced = alert.state === 'SILENCED';
  const form = useForm({
    initial: { hours: '1' },
    submit: (values) => {
      const until = isSilenced ? null : new Date(Date.now() + Number(values.hours) * hourMs).toISOString();
      return api.call('silenceProjectAlert', {
        projectId: project.id,
        alertId: alert.id,
        query: { environment },
        body: { until },
      });
    },
    onDone: async (stored) => {
      setOpen(false);
      await store(stored, t(stored.state === 'SILENCED' ? 'alerts.nowSilenced' : 'alerts.silenceEnded'));
    },
  });
  const mayManage = may('alert:manage');
  return (
    <>
      <Button
        disabled={!mayManage}
        title={mayManage ? undefined : askFor('alert:manage')}
        onClick={() => setOpen(true)}
      >
        {t(isSilenced ? 'alerts.endSilence' : 'alerts.silence')}
      </Button>
      {isOpen && (
        <Dialog title={t(isSilenced ? 'alerts.endSilenceAsk' : 'alerts.silenceThis')} onClose={() => setOpen(false)}>
          <form className="stack" onSubmit={form.onSubmit} noValidate>
            {form.failure && <ErrorNotice failure={form.failure} />}
            <p>{t(isSilenced ? 'alerts.toldSoon' : 'alerts.quietUntil')}</p>
            {!isSilenced && (
              <SelectField label={t('alerts.for')} options={hours()} autoFocus {...form.field('hours')} />
            )}
            <div className="dialog-actions">
              <Button onClick={() => setOpen(false)}>{t('kit.cancel')}</Button>
              <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
                {t(isSilenced ? 'alerts.endSilence' : 'alerts.silence')}
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
