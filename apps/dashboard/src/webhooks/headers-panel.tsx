import type { Webhook } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { TextArea } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { headerProblem, headersIn } from './headers.ts';
import { useStoreWebhook } from './store-webhook.ts';

/** Headers of the person's own, sent with every delivery. Their values are never shown again. */
export function HeadersPanel({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const toast = useToast();
  const store = useStoreWebhook();
  const { project } = useProject();
  const { headerNames } = webhook;
  const form = useForm({
    initial: { headers: '' },
    check: ({ headers }) => ({ headers: headerProblem(headers) }),
    submit: ({ headers }) =>
      api.call('updateWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
        body: { headers: headersIn(headers) },
      }),
    fieldOf: { SVC_VALIDATION_FAILED: 'headers' },
    onDone: (changed) => {
      store(changed);
      toast(t(changed.headerNames.length === 0 ? 'webhooks.headersRemoved' : 'webhooks.headersSaved'));
    },
  });
  const isClearing = form.values.headers.trim() === '';
  return (
    <form className="panel stack" onSubmit={form.onSubmit} noValidate aria-labelledby="headers">
      <h2 id="headers">{t('webhooks.headers')}</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      {headerNames.length === 0 ? (
        <p className="muted">{t('webhooks.noHeaders')}</p>
      ) : (
        <ul className="row" aria-label={t('webhooks.headersSent')}>
          {headerNames.map((name) => (
            <li key={name} className="mono chip">
              {name}
            </li>
          ))}
        </ul>
      )}
      <TextArea
        label={t('webhooks.newHeaders')}
        rows={3}
        spellCheck={false}
        placeholder={t('webhooks.headerExample')}
        hint={t('webhooks.headersHint')}
        {...form.field('headers')}
      />
      <div className="row">
        <Button
          type="submit"
          isBusy={form.isBusy}
          waitSeconds={form.waitSeconds}
          disabled={isClearing && headerNames.length === 0}
        >
          {t(isClearing && headerNames.length > 0 ? 'webhooks.removeHeaders' : 'webhooks.saveHeaders')}
        </Button>
      </div>
    </form>
  );
}
