import type { Alert } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
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
        <FormDialog
          title={t(isSilenced ? 'alerts.endSilenceAsk' : 'alerts.silenceThis')}
          onClose={() => setOpen(false)}
          form={form}
          action={t(isSilenced ? 'alerts.endSilence' : 'alerts.silence')}
        >
          <p>{t(isSilenced ? 'alerts.toldSoon' : 'alerts.quietUntil')}</p>
          {!isSilenced && <SelectField label={t('alerts.for')} options={hours()} autoFocus {...form.field('hours')} />}
        </FormDialog>
      )}
    </>
  );
}
