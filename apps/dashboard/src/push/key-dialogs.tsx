import type { PushSettings, UpdatePushSettings } from '@parley/contract';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useUpdatePush } from './queries.ts';
import { t } from './texts.ts';

type ServiceAccount = NonNullable<UpdatePushSettings['fcm']>;

/** Of the file only what is needed; null when it is another. */
function accountIn(text: string): ServiceAccount | null {
  try {
    const { project_id, client_email, private_key } = JSON.parse(text) as Record<string, unknown>;
    if (typeof project_id !== 'string' || typeof client_email !== 'string' || typeof private_key !== 'string')
      return null;
    return { project_id, client_email, private_key };
  } catch {
    return null;
  }
}

/** The service is told of parts of the file: what it says is shown at the file. */
const inAccount = (path: string): string => (path.startsWith('fcm') ? 'account' : path);

export function FcmDialog({ onClose }: { onClose: () => void }) {
  const { environment } = useProject();
  const { update, done } = useUpdatePush();
  const form = useForm({
    initial: { account: '' },
    check: ({ account }) => ({ account: accountIn(account) === null ? t('push.fcmProblem') : undefined }),
    submit: ({ account }) => update({ fcm: accountIn(account) }),
    fieldAt: inAccount,
    onDone: async () => {
      await done(t('push.saved'));
      onClose();
    },
  });
  return (
    <FormDialog
      action={t('words.save')}
      isWide
      title={t('push.fcmTitle', { environment: environmentName(environment) })}
      form={form}
      onClose={onClose}
    >
      <TextArea
        label={t('push.fcmLabel')}
        hint={t('push.fcmHint')}
        rows={8}
        spellCheck={false}
        autoComplete="off"
        autoFocus
        {...form.field('account')}
      />
    </FormDialog>
  );
}

const isAppleId = (text: string): boolean => /^[A-Z0-9]{10}$/.test(text.trim());

export function ApnsDialog({ apns, onClose }: { apns: PushSettings['apns']; onClose: () => void }) {
  const { environment } = useProject();
  const { update, done } = useUpdatePush();
  const form = useForm({
    initial: { teamId: apns?.teamId ?? '', keyId: '', key: '' },
    check: ({ teamId, keyId, key }) => ({
      ...(!isAppleId(teamId) && { teamId: t('push.tenCharacters') }),
      ...(!isAppleId(keyId) && { keyId: t('push.tenCharacters') }),
      ...(key.trim() === '' && { key: t('push.giveKey') }),
    }),
    submit: ({ teamId, keyId, key }) =>
      update({ apns: { teamId: teamId.trim(), keyId: keyId.trim(), key: key.trim() } }),
    fieldAt: (path) => path.replace(/^apns[./]/, ''),
    onDone: async () => {
      await done(t('push.saved'));
      onClose();
    },
  });
  return (
    <FormDialog
      action={t('words.save')}
      isWide
      title={t('push.apnsTitle', { environment: environmentName(environment) })}
      form={form}
      onClose={onClose}
    >
      <TextField
        label={t('push.teamId')}
        maxLength={10}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        {...form.field('teamId')}
      />
      <TextField
        label={t('push.keyId')}
        maxLength={10}
        autoComplete="off"
        spellCheck={false}
        {...form.field('keyId')}
      />
      <TextArea
        label={t('push.apnsKey')}
        hint={t('push.apnsHint')}
        rows={6}
        spellCheck={false}
        autoComplete="off"
        {...form.field('key')}
      />
    </FormDialog>
  );
}
