import type { ModerationHook, NewModerationHook, SetHook } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { urlProblem } from '../webhooks/create-webhook.tsx';
import { type HookKind, hookKinds } from './hook-kinds.ts';
import { t } from './texts.ts';

const isTimeout = (text: string, max: number): boolean =>
  /^\d{3,5}$/.test(text) && Number(text) >= 100 && Number(text) <= max;

/** Who is asked, and what holds while nobody answers there. */
export function HookDialog(props: {
  kind: HookKind;
  hook: ModerationHook | null;
  onClose: () => void;
  onStored: (hook: NewModerationHook) => Promise<void>;
}) {
  const api = useApi();
  const { hook, onClose, onStored } = props;
  const { routes, timeout, failure, what, setFor } = hookKinds[props.kind];
  const { project, environment } = useProject();
  const form = useForm({
    initial: {
      url: hook?.url ?? '',
      timeoutMs: String(hook?.timeoutMs ?? timeout.default),
      onFailure: (hook?.onFailure ?? failure.default) as string,
    },
    check: ({ url, timeoutMs }) => ({
      url: urlProblem(url),
      ...(!isTimeout(timeoutMs.trim(), timeout.max) && { timeoutMs: t(timeout.wrong) }),
    }),
    submit: ({ url, timeoutMs, onFailure }) =>
      api.call(routes.set, {
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
      title={t(setFor, { environment: environmentName(environment) })}
      isWide
      onClose={onClose}
      form={form}
      action={t('words.save')}
    >
      <p className="muted">{t(what)}</p>
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
        hint={t(timeout.hint)}
        inputMode="numeric"
        autoComplete="off"
        {...form.field('timeoutMs')}
      />
      <SelectField
        label={t('moderation.onFailure')}
        options={[
          { value: 'open', label: t(failure.open) },
          { value: 'closed', label: t(failure.closed) },
        ]}
        {...form.field('onFailure')}
      />
    </FormDialog>
  );
}
