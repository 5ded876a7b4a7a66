import type { ApiRequest } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { useFilter } from '../frame/url.ts';
import { SelectField } from '../kit/field.tsx';
import { decimal, plural } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { credentialWords, isMethod, isOutcome, methods, outcomeWords, StatusBadge } from './words.tsx';

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
  const clear = (): void => {
    for (const set of [setOutcome, setMethod, setRoute, setRequestId, setKeyId]) set('');
  };
  const any = (label: string) => ({ value: '', label });
  return (
    <ListPage
      title="API requests"
      lead="What your applications asked of the API in the last 7 days, and how it was answered. No body is kept."
      query={query}
      caption={`API requests in ${environment.toLowerCase()}, newest first`}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={(request) => request.requestId}
      onClear={Object.keys(filter).length > 0 ? clear : undefined}
      empty={{
        title: 'No request yet',
        noMatch: 'No request matches',
        children: <p>A request appears here about a second after your backend makes it with an API key.</p>,
      }}
      filters={
        <>
          <SelectField
            label="Outcome"
            value={outcome}
            options={[any('Any outcome'), ...Object.entries(outcomeWords).map(([value, label]) => ({ value, label }))]}
            onChange={(event) => setOutcome(event.target.value)}
          />
          <SelectField
            label="Method"
            value={method}
            options={[any('Any method'), ...methods.map((value) => ({ value, label: value }))]}
            onChange={(event) => setMethod(event.target.value)}
          />
          <FilterText label="Route contains" value={route} onChange={setRoute} isFirst />
          <FilterText label="Request id" value={requestId} onChange={setRequestId} />
          {current.may('api_key:read') && <FilterText label="API key" value={keyId} onChange={setKeyId} />}
        </>
      }
    />
  );
}

function columns({ to }: CurrentProject): readonly Column<ApiRequest>[] {
  return [
    {
      head: 'Time',
      cell: ({ requestId, at }) => (
        <Link className="row-link" href={to(`requests/${requestId}`)}>
          <Time at={at} />
        </Link>
      ),
    },
    { head: 'Status', cell: StatusBadge },
    {
      head: 'Request',
      cell: ({ method, route, skipped }) => (
        <>
          <span className="mono">
            {method} {route}
          </span>
          {skipped > 0 && (
            <span className="no-data"> after {plural(skipped, 'more', 'more')} beyond the log’s rate</span>
          )}
        </>
      ),
    },
    {
      head: 'Error',
      cell: ({ error }) => (error ? <span className="mono">{error.code}</span> : <span className="no-data">None</span>),
    },
    { head: 'Took', align: 'end', cell: ({ ms }) => `${decimal(ms)} ms` },
    {
      head: 'By',
      cell: ({ credential, keyId }) =>
        keyId === null ? credentialWords[credential] : <span className="mono">{keyId}</span>,
    },
  ];
}
