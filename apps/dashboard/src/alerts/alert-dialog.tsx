import type { Alert, AlertKindName, CreateAlert, UsageMeterName } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Checkbox, SelectField, TextArea, TextField } from '../kit/field.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useStoreAlert } from './store-alert.ts';
import { t } from './texts.ts';
import { kindLabels, meterUnits } from './words.tsx';

interface Values extends Record<string, string> {
  name: string;
  kind: string;
  bound: string;
  windowMinutes: string;
  meter: string;
  period: string;
  target: string;
  emails: string;
  webhook: string;
}

const perOf = (values: Pick<Values, 'kind' | 'meter'>): number =>
  values.kind === 'USAGE_ABOVE' ? meterUnits[values.meter as UsageMeterName].per : 1;

const boundDefaults: Readonly<Record<AlertKindName, string>> = {
  JOIN_SUCCESS_BELOW: '95',
  WEBHOOK_FAILING: '5',
  NODE_OFFLINE: '',
  USAGE_ABOVE: '',
};

function valuesOf(alert: Alert | undefined): Values {
  const kind = alert?.kind ?? 'JOIN_SUCCESS_BELOW';
  const meter = alert?.meter ?? 'messages';
  return {
    name: alert?.name ?? '',
    kind,
    meter,
    bound: alert ? (alert.bound === null ? '' : String(alert.bound / perOf({ kind, meter }))) : boundDefaults[kind],
    windowMinutes: String(alert?.windowMinutes ?? 15),
    period: alert?.period ?? 'MONTH',
    target: alert?.target ?? '',
    emails: alert?.emails.join('\n') ?? '',
    webhook: (alert?.webhook ?? true) ? 'yes' : '',
  };
}

/** Only what its kind takes. */
function bodyOf(values: Values) {
  const kind = values.kind as AlertKindName;
  const target = values.target.trim();
  return {
    name: values.name.trim(),
    emails: values.emails.split(/[\s,;]+/).filter(Boolean),
    webhook: values.webhook !== '',
    ...(kind === 'NODE_OFFLINE' ? {} : { bound: Math.round(Number(values.bound) * perOf(values) * 1000) / 1000 }),
    ...(kind === 'JOIN_SUCCESS_BELOW' ? { windowMinutes: Number(values.windowMinutes) } : {}),
    ...(kind === 'USAGE_ABOVE'
      ? { meter: values.meter as UsageMeterName, period: values.period as 'DAY' | 'MONTH' }
      : {}),
    ...(kind === 'WEBHOOK_FAILING' || kind === 'NODE_OFFLINE' ? { target: target === '' ? null : target } : {}),
  };
}

function check({ name, kind, bound }: Values) {
  const isNumber = bound.trim() !== '' && Number(bound) >= 0;
  return {
    ...(name.trim() === '' && { name: t('alerts.giveName') }),
    ...(kind !== 'NODE_OFFLINE' && !isNumber && { bound: t('alerts.enterNumber') }),
  };
}

/** Makes an alert, or changes one. */
export function AlertDialog({ alert, onClose }: { alert?: Alert; onClose: () => void }) {
  const api = useApi();
  const store = useStoreAlert();
  const { project, environment } = useProject();
  const at = { projectId: project.id, query: { environment } };
  const form = useForm({
    initial: valuesOf(alert),
    check,
    submit: (values) => {
      const body = bodyOf(values);
      if (alert) return api.call('updateProjectAlert', { ...at, alertId: alert.id, body });
      const { target, ...given } = body;
      const made: CreateAlert = { ...given, kind: values.kind as AlertKindName, ...(target ? { target } : {}) };
      return api.call('createProjectAlert', { ...at, body: made });
    },
    fieldOf: { SVC_MAIL_NOT_CONFIGURED: 'emails' },
    onDone: async (stored) => {
      await store(stored, t(alert ? 'alerts.changed' : 'alerts.created'));
      onClose();
    },
  });
  const title = alert ? t('alerts.changeAlert') : t('alerts.newFor', { environment: environmentName(environment) });
  return (
    <FormDialog title={title} isWide onClose={onClose} form={form} action={t(alert ? 'words.save' : 'alerts.create')}>
      <TextField label={t('words.name')} maxLength={128} autoComplete="off" autoFocus {...form.field('name')} />
      <SelectField
        label={t('alerts.condition')}
        disabled={alert !== undefined}
        options={Object.entries(kindLabels).map(([value, label]) => ({ value, label: t(label) }))}
        {...form.field('kind')}
        onChange={(event) => {
          form.set('kind', event.target.value);
          form.set('bound', boundDefaults[event.target.value as AlertKindName]);
        }}
      />
      <Condition form={form} />
      <TextArea
        label={t('alerts.mailToLabel')}
        hint={t('alerts.mailHint')}
        rows={2}
        spellCheck={false}
        {...form.field('emails')}
      />
      <Checkbox
        label={t('alerts.webhook')}
        hint={t('alerts.webhookHint')}
        checked={form.values.webhook !== ''}
        onChange={(event) => form.set('webhook', event.target.checked ? 'yes' : '')}
      />
    </FormDialog>
  );
}

function Condition({ form }: { form: Form<Values> }) {
  const bound = (label: string, hint?: string) => (
    <TextField label={label} hint={hint} inputMode="decimal" autoComplete="off" {...form.field('bound')} />
  );
  const target = (label: string, hint: string) => (
    <TextField label={label} hint={hint} autoComplete="off" spellCheck={false} {...form.field('target')} />
  );
  switch (form.values.kind as AlertKindName) {
    case 'JOIN_SUCCESS_BELOW':
      return (
        <>
          {bound(t('alerts.succeedUnder'), t('alerts.tenJoins'))}
          <TextField
            label={t('alerts.inMinutes')}
            hint={t('alerts.minutesHint')}
            inputMode="numeric"
            {...form.field('windowMinutes')}
          />
        </>
      );
    case 'WEBHOOK_FAILING':
      return (
        <>
          {bound(t('alerts.failuresLabel'))}
          {target(t('alerts.endpoint'), t('alerts.endpointHint'))}
        </>
      );
    case 'NODE_OFFLINE':
      return target(t('words.mediaNode'), t('alerts.nodeHint'));
    case 'USAGE_ABOVE':
      return (
        <>
          <SelectField
            label={t('alerts.ofWhat')}
            options={Object.entries(meterUnits).map(([value, { label }]) => ({ value, label: t(label) }))}
            {...form.field('meter')}
          />
          {bound(t(meterUnits[form.values.meter as UsageMeterName].moreThan))}
          <SelectField
            label={t('alerts.inA')}
            options={[
              { value: 'DAY', label: t('alerts.dayUtc') },
              { value: 'MONTH', label: t('alerts.monthUtc') },
            ]}
            {...form.field('period')}
          />
        </>
      );
  }
}
