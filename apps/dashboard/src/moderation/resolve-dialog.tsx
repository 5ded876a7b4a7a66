import type { ReportMetadata, ResolveReport } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { CopyId } from '../kit/copy.tsx';
import { Facts } from '../kit/facts.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useDone } from './queries.ts';
import { t } from './texts.ts';
import { reasonWord, Sender, spans, termsOf } from './words.tsx';

interface Values extends Record<string, string> {
  action: string;
  where: string;
  hours: string;
  reason: string;
}

const isSanction = (action: string): boolean => ['mute', 'ban', 'shadow'].includes(action);

/** Only what the action takes. */
function orderOf(values: Values): ResolveReport {
  // The select offers exactly the actions.
  const action = values.action as ResolveReport['action'];
  return isSanction(action) ? { action, everywhere: values.where === 'all', ...termsOf(values) } : { action };
}

const actionsFor = ({ senderId }: ReportMetadata) => [
  { value: 'none', label: t('moderation.actionNone') },
  { value: 'delete_message', label: t('moderation.actionDelete') },
  // On a server there is no sanction.
  ...(senderId === null
    ? []
    : [
        { value: 'mute', label: t('moderation.actionMute') },
        { value: 'ban', label: t('moderation.actionBan') },
        { value: 'shadow', label: t('moderation.actionShadow') },
      ]),
];

/** What becomes of a report, decided without reading the message. */
export function ResolveDialog({ report, onClose }: { report: ReportMetadata; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const form = useForm<Values, ReportMetadata>({
    initial: { action: 'none', where: 'here', hours: '24', reason: '' },
    submit: (values) =>
      api.call('resolveProjectReport', {
        projectId: project.id,
        reportId: report.id,
        query: { environment },
        body: orderOf(values),
      }),
    fieldOf: { SVC_MEMBER_NOT_FOUND: 'where', SVC_MESSAGE_NOT_FOUND: 'action' },
    onDone: async () => {
      await done(t('moderation.nowResolved'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('moderation.resolveTitle')}
      isWide
      onClose={onClose}
      form={form}
      action={t('moderation.resolve')}
    >
      <Facts
        rows={[
          [t('moderation.sentBy'), <Sender key="s" id={report.senderId} />],
          [t('moderation.reportedBy'), report.reporterId ?? t('moderation.wordList')],
          [t('moderation.reason'), reasonWord(report)],
          [t('moderation.messageId'), <CopyId key="m" id={report.messageId} label={t('chat.copyMessageId')} />],
        ]}
      />
      <p className="muted">{t('chat.never')}</p>
      <SelectField label={t('moderation.action')} options={actionsFor(report)} autoFocus {...form.field('action')} />
      {isSanction(form.values.action) && (
        <>
          <SelectField
            label={t('moderation.where')}
            hint={t('moderation.hereHint')}
            options={[
              { value: 'here', label: t('moderation.here') },
              { value: 'all', label: t('moderation.everywhere', { environment: environmentName(environment) }) },
            ]}
            {...form.field('where')}
          />
          <Terms form={form} isTold={form.values.action !== 'shadow'} />
        </>
      )}
    </FormDialog>
  );
}

/** For how long, and why: of every sanction. */
export function Terms<V extends { hours: string; reason: string } & Record<string, string>>({
  form,
  isTold,
}: {
  form: Form<V>;
  /** The user learns the reason. */
  isTold: boolean;
}) {
  return (
    <>
      <SelectField label={t('moderation.for')} options={spans()} {...form.field('hours')} />
      <TextField
        label={t('moderation.reason')}
        hint={t(isTold ? 'moderation.reasonHint' : 'moderation.reasonUntold')}
        maxLength={256}
        autoComplete="off"
        {...form.field('reason')}
      />
    </>
  );
}
