import type { ModerationHook, NewModerationHook, SetHook } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { urlProblem } from '../webhooks/create-webhook.tsx';
import { t } from './texts.ts';

const isTimeout = (text: string): boolean => /^\d{3,4}$/.test(text) && Number(text) >= 100 && Number(text) <= 1_500;

/** Where messages are shown to before they are stored, and what holds while nobody answers there. */
export function HookDialog(props: {
  hook: ModerationHook | null;
  onClose: () => void;
  onStored: (hook: NewModerationHook) => Promise<void>;
}) {
  const api = useApi();
  const { hook, onClose, onStored } = props;
  const { project, environment } = useProject();
  const form = useForm({
    initial: {
      url: hook?.url ?? '',
      timeoutMs: String(hook?.timeoutMs ?? 1_000),
      onFailure: (hook?.onFailure ?? 'open') as string,
    },
    check: ({ url, timeoutMs }) => ({
      url: urlProblem(url),
      ...(!isTimeout(timeoutMs.trim()) && { timeoutMs: t('moderation.enterTimeout') }),
    }),
    submit: ({ url, timeoutMs, onFailure }) =>
      api.call('setProjectModerationHook', {
        projectId: project.id,
        query: { environment },
        // The select offers exactly these two.
        body: {
          url: url.trim(),
          timeoutMs: Number(timeoutMs),
          onFailure: onFailure as 'open' | 'closed',
        } satisfies SetHook,
      }),
    fieldOf: { SVC_INVALID_WEBHOOK_URL: 'url' },
    onDone: onStored,
  });
  return (
    <FormDialog
      title={t('moderation.setHookFor', { environment: environmentName(environment) })}
      isWide
      onClose={onClose}
      form={form}
      action={t('words.save')}
    >
      <p className="muted">{t('moderation.whatHook')}</p>
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
        label={t('moderation.timeoutLabel')}
        hint={t('moderation.timeoutHint')}
        inputMode="numeric"
        autoComplete="off"
        {...form.field('timeoutMs')}
      />
      <SelectField
        label={t('moderation.onFailure')}
        options={[
          { value: 'open', label: t('moderation.failOpen') },
          { value: 'closed', label: t('moderation.failClosed') },
        ]}
        {...form.field('onFailure')}
      />
    </FormDialog>
  );
}
