import type { Webhook } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Facts } from '../kit/facts.tsx';
import { count } from '../kit/numbers.ts';
import { Tabs } from '../kit/tabs.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { Deliveries } from './deliveries.tsx';
import { EndpointSettings } from './endpoint-settings.tsx';
import { webhookQuery } from './queries.ts';
import { Recover } from './recover.tsx';
import { useStoreWebhook } from './store-webhook.ts';
import { TestEvent } from './test-event.tsx';
import { EndpointBadge, eventsWords } from './words.tsx';

export default function WebhookPage() {
  const { webhookId = '' } = useParams<{ webhookId: string }>();
  const { project } = useProject();
  const query = useQuery(webhookQuery(useApi(), project.id, webhookId));
  const webhook = query.data;
  return (
    <Page
      title={webhook?.url ?? t('webhooks.webhook')}
      query={query}
      aside={webhook && <EndpointBadge status={webhook.status} />}
      actions={
        webhook && (
          <>
            <Recover webhook={webhook} />
            <TestEvent webhook={webhook} />
          </>
        )
      }
    >
      <QueryView query={query}>{(found) => <WebhookBody webhook={found} />}</QueryView>
    </Page>
  );
}

function WebhookBody({ webhook }: { webhook: Webhook }) {
  return (
    <>
      {webhook.status !== 'ENABLED' && <DisabledNotice webhook={webhook} />}
      <section className="panel" aria-label={t('webhooks.about')}>
        <Facts
          rows={[
            [t('words.id'), <CopyId key="i" id={webhook.id} />],
            [t('frame.environment'), environmentName(webhook.environment)],
            [t('webhooks.events'), webhook.events.length === 0 ? eventsWords([]) : webhook.events.join(', ')],
            [
              t('webhooks.signingSecret'),
              <span key="s" className="mono">
                {`whsec_…${webhook.secretHint}`}
              </span>,
            ],
            [t('webhooks.failuresInARow'), count(webhook.consecutiveFailures)],
            [
              t('webhooks.lastDelivery'),
              webhook.lastDeliveryAt === null ? (
                <span key="l" className="no-data">
                  {t('words.never')}
                </span>
              ) : (
                <Ago key="l" at={webhook.lastDeliveryAt} />
              ),
            ],
            [t('words.created'), <Time key="c" at={webhook.createdAt} />],
          ]}
        />
      </section>
      <Tabs
        label={t('webhooks.endpoint')}
        tabs={[
          { id: 'deliveries', label: t('overview.deliveries'), panel: () => <Deliveries webhook={webhook} /> },
          {
            id: 'settings',
            label: t('page.settings'),
            panel: () => <EndpointSettings key={webhook.updatedAt} webhook={webhook} />,
          },
        ]}
      />
    </>
  );
}

function DisabledNotice({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const toast = useToast();
  const store = useStoreWebhook();
  const { project, may } = useProject();
  const enable = useAction(() => api.call('enableWebhook', { projectId: project.id, webhookId: webhook.id }), {
    onDone: (enabled) => {
      store(enabled);
      toast(t('webhooks.didEnable'));
    },
  });
  const isByFailures = webhook.status === 'AUTO_DISABLED';
  return (
    <div className="notice" data-tone={isByFailures ? 'bad' : 'warn'}>
      <p className="notice-title">{t(isByFailures ? 'webhooks.disabledByFailures' : 'webhooks.isDisabled')}</p>
      {webhook.lastError && <p>{t('webhooks.lastErrorIs', { error: webhook.lastError })}</p>}
      <p>{t('webhooks.queuedWait')}</p>
      {enable.failure && <ErrorNotice failure={enable.failure} />}
      <p>
        <Button isBusy={enable.isBusy} disabled={!may('webhook:manage')} onClick={() => enable.run(undefined)}>
          {t('webhooks.enableAgain')}
        </Button>
      </p>
    </div>
  );
}
