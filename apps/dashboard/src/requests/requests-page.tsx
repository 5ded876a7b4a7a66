import type { ApiRequest } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { decimal } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { credentialWord, isMethod, isOutcome, methods, outcomes, StatusBadge } from './words.tsx';

export default function RequestsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [outcome, setOutcome] = useFilter('outcome');
  const [method, setMethod] = useFilter('method');
  const [route, setRoute] = useFilter('route');
  const [requestId, setRequestId] = useFilter('request');
  const [keyId, setKeyId] = useFilter('key');
  const filter = {
    ...(isOutcome(outcome) ? { outcome } : {}),
    ...(isMethod(method) ? { method } : {}),
    ...(route === '' ? {} : { route }),
    ...(requestId === '' ? {} : { requestId }),
    ...(keyId === '' ? {} : { keyId }),
  };
  const query = usePaged(['project', project.id, 'requests', environment, filter], (page, signal) =>
    api.request(
      'listProjectRequests',
      { projectId: project.id, query: { environment, ...filter, ...page } },
      { signal },
    ),
  );
  return (
    <ListPage
      title={t('page.requests')}
      lead={t('requests.lead')}
      query={query}
      caption={t('requests.caption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={(request) => request.requestId}
      onClear={clearing(filter, setOutcome, setMethod, setRoute, setRequestId, setKeyId)}
      empty={{
        title: t('requests.none'),
        noMatch: t('requests.noMatch'),
        children: <p>{t('requests.appears')}</p>,
      }}
      filters={
        <>
          <FilterSelect
            label={t('requests.outcome')}
            any={t('requests.anyOutcome')}
            value={outcome}
            options={Object.entries(outcomes).map(([value, label]) => [value, t(label)])}
            onChange={setOutcome}
          />
          <FilterSelect
            label={t('requests.method')}
            any={t('requests.anyMethod')}
            value={method}
            options={methods.map((value) => [value, value])}
            onChange={setMethod}
          />
          <FilterText label={t('requests.routeContains')} value={route} onChange={setRoute} isFirst />
          <FilterText label={t('requests.requestId')} value={requestId} onChange={setRequestId} />
          {current.may('api_key:read') && <FilterText label={t('requests.apiKey')} value={keyId} onChange={setKeyId} />}
        </>
      }
    />
  );
}

function columns({ to }: CurrentProject): readonly Column<ApiRequest>[] {
  return [
    {
      head: t('kit.time'),
      cell: ({ requestId, at }) => (
        <Link className="row-link" href={to(`requests/${requestId}`)}>
          <Time at={at} />
        </Link>
      ),
    },
    { head: t('words.status'), cell: StatusBadge },
    {
      head: t('words.request'),
      cell: ({ method, route, skipped }) => (
        <>
          <span className="mono">
            {method} {route}
          </span>
          {skipped > 0 && <span className="no-data"> {t('requests.skipped', { count: skipped })}</span>}
        </>
      ),
    },
    {
      head: t('requests.error'),
      cell: ({ error }) =>
        error ? <span className="mono">{error.code}</span> : <span className="no-data">{t('words.none')}</span>,
    },
    { head: t('words.took'), align: 'end', cell: ({ ms }) => t('kit.ms', { value: decimal(ms) }) },
    {
      head: t('requests.by'),
      cell: ({ credential, keyId }) =>
        keyId === null ? credentialWord(credential) : <span className="mono">{keyId}</span>,
    },
  ];
}
