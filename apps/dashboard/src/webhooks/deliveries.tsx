import type { Delivery, Webhook } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { t } from '../i18n/t.ts';
import { NoData } from '../kit/empty-state.tsx';
import { percent, span } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago, useNow } from '../kit/time.tsx';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { webhookKeys } from './queries.ts';
import { DeliveryBadge, deliveryWords, isDeliveryStatus } from './words.tsx';

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const { project } = useProject();
  const [status, setStatus] = useFilter('status');
  const [eventType, setEventType] = useFilter('type');
  const [openId, setOpenId] = useFilter('delivery');
  const filter = { ...(isDeliveryStatus(status) ? { status } : {}), ...(eventType === '' ? {} : { eventType }) };
  const query = usePaged([...webhookKeys.deliveries(project.id, webhook.id), filter], (page, signal) =>
    api.request(
      'listDeliveries',
      { projectId: project.id, webhookId: webhook.id, query: { ...page, ...filter } },
      { signal },
    ),
  );
  return (
    <>
      <List
        query={query}
        caption={t('webhooks.deliveriesCaption')}
        columns={columns(({ id }) => setOpenId(id))}
        keyOf={({ id }) => id}
        copyOf={({ id }) => id}
        filters={
          <>
            <FilterSelect
              label={t('words.status')}
              any={t('webhooks.anyStatus')}
              value={status}
              options={Object.entries(deliveryWords).map(([value, [label]]) => [value, t(label)])}
              onChange={setStatus}
            />
            <FilterText label={t('webhooks.eventType')} value={eventType} onChange={setEventType} isFirst />
          </>
        }
        onClear={clearing(filter, setStatus, setEventType)}
        empty={{
          title: t('webhooks.nothingSent'),
          noMatch: t('webhooks.noMatch'),
          children: <p>{t('webhooks.sendToSee')}</p>,
        }}
        summary={(rows) => <SuccessRate rows={rows} />}
      />
      {openId !== '' && <DeliveryDrawer webhook={webhook} deliveryId={openId} onClose={() => setOpenId('')} />}
    </>
  );
}

/** Of the loaded deliveries that came to an end. */
function SuccessRate({ rows }: { rows: readonly Delivery[] }) {
  const [good, bad] = (['DELIVERED', 'FAILED'] as const).map(
    (status) => rows.filter((row) => row.status === status).length,
  );
  const ended = (good ?? 0) + (bad ?? 0);
  if (ended === 0) return null;
  return (
    <p className="rate">
      <span className="muted">{t('webhooks.deliveredOfEnded')}</span>
      <span className="rate-bar" aria-hidden="true">
        <span className="rate-done" style={{ width: `${((good ?? 0) / ended) * 100}%` }} />
      </span>
      <strong>{percent((good ?? 0) / ended)}</strong>
    </p>
  );
}

function columns(onOpen: (delivery: Delivery) => void): readonly Column<Delivery>[] {
  return [
    {
      head: t('webhooks.event'),
      cell: (delivery) => (
        <button type="button" className="row-link mono" onClick={() => onOpen(delivery)}>
          {delivery.eventType}
        </button>
      ),
    },
    { head: t('words.status'), cell: ({ status }) => <DeliveryBadge status={status} /> },
    { head: t('webhooks.attempts'), cell: ({ attempts, maxAttempts }) => `${attempts}/${maxAttempts}` },
    { head: t('webhooks.answer'), cell: ({ lastStatusCode }) => lastStatusCode ?? <NoData /> },
    {
      head: t('words.took'),
      cell: ({ lastDurationMs }) => (lastDurationMs === null ? <NoData /> : span(lastDurationMs)),
    },
    { head: t('webhooks.nextTry'), cell: ({ nextAttemptAt }) => nextAttemptAt && <Until at={nextAttemptAt} /> },
    { head: t('webhooks.lastError'), cell: ({ lastError }) => lastError && <span className="wrap">{lastError}</span> },
    { head: t('webhooks.queued'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
}

function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return (
    <time dateTime={at}>
      {left <= 0 ? t('webhooks.now') : t('webhooks.in', { duration: span(Math.ceil(left / 1000) * 1000) })}
    </time>
  );
}
