import type { Delivery, Webhook } from '@parley/contract';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { percent, span } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
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
  const isFiltered = Object.keys(filter).length > 0;
  const table = (rows: readonly Delivery[] | undefined) => (
    <Table
      caption="Deliveries, newest first"
      columns={columns(({ id }) => setOpenId(id))}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <>
      <div className="filters">
        <SelectField
          label="Status"
          value={status}
          options={[
            { value: '', label: 'Any status' },
            ...Object.entries(deliveryWords).map(([value, [label]]) => ({ value, label })),
          ]}
          onChange={(event) => setStatus(event.target.value)}
        />
        <FilterText label="Event type" value={eventType} onChange={setEventType} isFirst />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              title={isFiltered ? 'No delivery matches' : 'Nothing has been sent to this endpoint yet'}
              action={
                isFiltered && (
                  <Button
                    onClick={() => {
                      setStatus('');
                      setEventType('');
                    }}
                  >
                    Clear filters
                  </Button>
                )
              }
            >
              {!isFiltered && <p>Send a test event to see one.</p>}
            </EmptyState>
          ) : (
            <>
              <SuccessRate rows={rows} />
              {table(rows)}
            </>
          )
        }
      </QueryView>
      <More query={query} />
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
      <span className="muted">Delivered, of those below that ended</span>
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
      head: 'Event',
      cell: (delivery) => (
        <button type="button" className="row-link mono" onClick={() => onOpen(delivery)}>
          {delivery.eventType}
        </button>
      ),
    },
    { head: 'Status', cell: ({ status }) => <DeliveryBadge status={status} /> },
    { head: 'Attempts', cell: ({ attempts, maxAttempts }) => `${attempts}/${maxAttempts}` },
    { head: 'Answer', cell: ({ lastStatusCode }) => lastStatusCode ?? <NoData /> },
    { head: 'Took', cell: ({ lastDurationMs }) => (lastDurationMs === null ? <NoData /> : span(lastDurationMs)) },
    { head: 'Next try', cell: ({ nextAttemptAt }) => nextAttemptAt && <Until at={nextAttemptAt} /> },
    { head: 'Last error', cell: ({ lastError }) => lastError && <span className="wrap">{lastError}</span> },
    { head: 'Queued', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
}

function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return <time dateTime={at}>{left <= 0 ? 'now' : `in ${span(Math.ceil(left / 1000) * 1000)}`}</time>;
}
