import type { Delivery, Webhook } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Facts } from '../kit/facts.tsx';
import { span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { webhookKeys } from './queries.ts';
import { DeliveryBadge } from './words.tsx';

/** One delivery with every attempt. Its body is not shown: the dashboard never shows message content. */
export function DeliveryDrawer(props: { webhook: Webhook; deliveryId: string; onClose: () => void }) {
  const api = useApi();
  const { project } = useProject();
  const { webhook, deliveryId } = props;
  const query = useQuery({
    queryKey: [...webhookKeys.deliveries(project.id, webhook.id), deliveryId],
    queryFn: ({ signal }) =>
      api.call('getDelivery', { projectId: project.id, webhookId: webhook.id, deliveryId }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  return (
    <Dialog title={t('webhooks.delivery')} isDrawer onClose={props.onClose}>
      <QueryView query={query}>{(delivery) => <DeliveryBody webhook={webhook} delivery={delivery} />}</QueryView>
    </Dialog>
  );
}

function DeliveryBody({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  return (
    <div className="stack">
      <Facts
        rows={[
          [t('words.status'), <DeliveryBadge key="s" status={delivery.status} />],
          [
            t('webhooks.event'),
            <span key="e" className="mono">
              {delivery.eventType}
            </span>,
          ],
          [t('webhooks.eventId'), <CopyId key="i" id={delivery.eventId} />],
          [t('webhooks.deliveryId'), <CopyId key="d" id={delivery.id} />],
          [t('webhooks.queued'), <Time key="q" at={delivery.createdAt} />],
        ]}
      />
      <Resend webhook={webhook} delivery={delivery} />
      <h3>{t('webhooks.attemptsOf', { made: delivery.attempts, max: delivery.maxAttempts })}</h3>
      <ol className="stack-small">
        {delivery.attemptLog.map(({ number, at, statusCode, error, durationMs, responseExcerpt }) => (
          <li key={number} className="notice" data-tone={error === null ? undefined : 'bad'}>
            <p className="notice-title">
              {statusCode === null
                ? t('webhooks.noAnswerAfter', { number, duration: span(durationMs) })
                : t('webhooks.answeredAfter', { number, code: `${statusCode}`, duration: span(durationMs) })}
            </p>
            {error && <p>{error}</p>}
            {responseExcerpt && <pre className="raw excerpt">{responseExcerpt}</pre>}
            <p className="muted">
              <Time at={at} />
            </p>
          </li>
        ))}
      </ol>
      <h3>{t('words.request')}</h3>
      <pre className="raw request-head">{requestHead(webhook, delivery)}</pre>
      <p className="muted">{t('webhooks.bodyNotShown')}</p>
    </div>
  );
}

/** The head of the latest request, as the receiver saw it. */
function requestHead(webhook: Webhook, delivery: Delivery): string {
  const sentAt = Date.parse(delivery.attemptLog.at(-1)?.at ?? delivery.nextAttemptAt ?? delivery.createdAt);
  const seconds = Math.floor(sentAt / 1000);
  const headers = [
    ['content-type', 'application/json'],
    ['user-agent', 'svc-webhooks/1'],
    ['svc-event-id', delivery.eventId],
    ['svc-delivery-id', delivery.id],
    ['svc-attempt', Math.max(delivery.attempts, 1)],
    ['svc-signature', `t=${seconds},v1=…`],
    ['webhook-id', delivery.eventId],
    ['webhook-timestamp', seconds],
    ['webhook-signature', 'v1,…'],
    ...webhook.headerNames.map((name) => [name, '…']),
  ];
  return [`POST ${webhook.url}`, ...headers.map((header) => header.join(': '))].join('\n');
}

function Resend({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, may } = useProject();
  const mayResend = may('webhook:manage', webhook.environment);
  const resend = useAction(
    () =>
      api.call('resendDelivery', {
        projectId: project.id,
        webhookId: webhook.id,
        deliveryId: delivery.id,
      }),
    {
      onDone: async () => {
        toast(t('webhooks.queuedOnceMore'));
        await client.invalidateQueries({ queryKey: webhookKeys.deliveries(project.id, webhook.id) });
      },
    },
  );
  return (
    <div className="stack-small">
      {resend.failure && <ErrorNotice failure={resend.failure} />}
      <div className="row">
        <Button
          isBusy={resend.isBusy}
          disabled={!mayResend || webhook.status !== 'ENABLED'}
          title={mayResend ? undefined : askFor('webhook:manage')}
          onClick={() => resend.run(undefined)}
        >
          {t('webhooks.resend')}
        </Button>
      </div>
    </div>
  );
}
