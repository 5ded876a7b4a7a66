import type { UsageAmounts, UsageReport } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { download } from '../data/download.ts';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi, useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Segments } from '../kit/field.tsx';
import { Figures } from '../kit/figure.tsx';
import { byteSize, count, decimal, money } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { PricesDialog } from './prices-dialog.tsx';
import { t } from './texts.ts';

const dayMs = 24 * 60 * 60 * 1000;
const firstDay = (days: number): string => new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);

/** Everything that is metered, by day or by key, and what it costs where there are prices. */
export function Report({ days }: { days: number }) {
  const api = useApi();
  const { session } = useServices();
  const { project, environment, may } = useProject();
  const [isPricing, setPricing] = useState(false);
  const query = { environment, from: firstDay(days) };
  const report = useQuery({
    queryKey: ['project', project.id, 'usage', 'report', query],
    queryFn: ({ signal }) => api.call('getProjectUsageReport', { projectId: project.id, query }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  const save = useAction(async () =>
    download({
      at: 'GET /v1/projects/{projectId}/usage/export',
      params: { projectId: project.id },
      query,
      name: `usage-${project.id}-${query.from}.csv`,
      accessToken: await session.token(),
    }),
  );
  const mayPrice = may('project:update') && project.status === 'ACTIVE';
  return (
    <section className="stack-small" aria-labelledby="report">
      <div className="row">
        <h2 id="report">{t('usage.all', { environment: environmentName(environment) })}</h2>
        <span className="spacer" />
        <Button isBusy={save.isBusy} onClick={() => void save.run(undefined)}>
          {t('usage.download')}
        </Button>
        <Button
          disabled={!mayPrice}
          title={mayPrice ? undefined : askFor('project:update')}
          onClick={() => setPricing(true)}
        >
          {t('usage.prices')}
        </Button>
      </div>
      {save.failure && <ErrorNotice failure={save.failure} />}
      <QueryView query={report}>{(found) => <ReportBody report={found} />}</QueryView>
      {isPricing && <PricesDialog onClose={() => setPricing(false)} />}
    </section>
  );
}

function ReportBody({ report }: { report: UsageReport }) {
  const { total, currency, keys, days } = report;
  const [text, setBy] = useFilter('by');
  const by = text === 'key' && keys !== null ? 'key' : 'day';
  const usedDays = days.filter(isUsed);
  if (usedDays.length === 0) return <p className="muted">{t('usage.nothing')}</p>;
  return (
    <>
      <Figures
        label={t('usage.totals')}
        figures={[
          { label: t('words.messages'), value: count(total.messages) },
          { label: t('usage.minutes'), value: decimal(total.minutes) },
          { label: t('usage.recordedMinutes'), value: decimal(total.recordedMinutes) },
          { label: t('usage.storedAtMost'), value: byteSize(total.storedBytes) },
          { label: t('words.sent'), value: byteSize(total.sentBytes) },
          ...(currency === null ? [] : [{ label: t('usage.cost'), value: money(total.cost ?? '0', currency) }]),
        ]}
      />
      {keys !== null && (
        <div className="row">
          <Segments
            label={t('usage.shownBy')}
            value={by}
            options={[
              { value: 'day', label: t('usage.byDay') },
              { value: 'key', label: t('usage.byKey') },
            ]}
            onChange={(value) => setBy(value === 'day' ? '' : value)}
          />
        </div>
      )}
      {by === 'day' ? (
        <Table
          caption={t('usage.daysCaption')}
          columns={[{ head: t('kit.dayUtc'), cell: ({ date }) => date }, ...amountColumns(currency)]}
          rows={usedDays}
          keyOf={({ date }) => date}
        />
      ) : (
        <Table
          caption={t('usage.keysCaption')}
          columns={[
            {
              head: t('usage.apiKey'),
              cell: ({ keyId }) =>
                keyId === null ? (
                  <span className="no-data">{t('usage.noKey')}</span>
                ) : (
                  <span className="mono">{keyId}</span>
                ),
            },
            ...amountColumns(currency),
          ]}
          rows={keys ?? []}
          keyOf={({ keyId }) => keyId ?? ''}
          copyOf={({ keyId }) => keyId ?? ''}
        />
      )}
    </>
  );
}

const isUsed = ({ messages, minutes, recordedMinutes, storedBytes, sentBytes }: UsageAmounts): boolean =>
  messages + minutes + recordedMinutes + storedBytes + sentBytes > 0;

const amountColumns = (currency: string | null): readonly Column<UsageAmounts>[] => [
  { head: t('words.messages'), align: 'end', cell: ({ messages }) => count(messages) },
  { head: t('usage.minutes'), align: 'end', cell: ({ minutes }) => decimal(minutes) },
  { head: t('usage.recordedMinutes'), align: 'end', cell: ({ recordedMinutes }) => decimal(recordedMinutes) },
  { head: t('usage.stored'), align: 'end', cell: ({ storedBytes }) => byteSize(storedBytes) },
  { head: t('words.sent'), align: 'end', cell: ({ sentBytes }) => byteSize(sentBytes) },
  ...(currency === null
    ? []
    : [
        {
          head: t('usage.cost'),
          align: 'end',
          cell: ({ cost }) => money(cost ?? '0', currency),
        } satisfies Column<UsageAmounts>,
      ]),
];
