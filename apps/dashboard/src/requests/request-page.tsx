import type { ApiRequest } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { untilTold } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { CopyId } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { decimal, plural } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { credentialWords, StatusBadge } from './words.tsx';

export default function RequestPage() {
  const api = useApi();
  const { requestId = '' } = useParams<{ requestId: string }>();
  const { project, environment } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'request', environment, requestId],
    queryFn: ({ signal }) =>
      api.call('getProjectRequest', { projectId: project.id, requestId, query: { environment } }, { signal }),
    refetchInterval: untilTold,
  });
  const { data } = query;
  return (
    <Page title={data ? `${data.method} ${data.route}` : 'API request'} query={query}>
      <QueryView query={query}>{(request) => <RequestView request={request} />}</QueryView>
    </Page>
  );
}

function RequestView({ request }: { request: ApiRequest }) {
  const { to } = useProject();
  const { error, keyId, skipped } = request;
  return (
    <>
      {error && (
        <div className="notice" data-tone={request.status >= 500 ? 'bad' : 'warn'}>
          <p className="notice-title">{error.message}</p>
          <p>{error.fix}</p>
          <p className="notice-facts">
            <a className="mono" href={`/docs/guides/errors/${error.code}`}>
              {error.code}
            </a>
          </p>
        </div>
      )}
      <section className="panel" aria-label="About the request">
        <Facts
          rows={[
            ['Status', <StatusBadge key="s" status={request.status} />],
            ['Time', <Time key="t" at={request.at} />],
            ['Took', `${decimal(request.ms)} ms`],
            ['Request id', <CopyId key="i" id={request.requestId} label="Copy request id" />],
            ['Credential', credentialWords[request.credential]],
            [
              'API key',
              keyId === null ? (
                <NoData key="k" />
              ) : (
                <Link key="k" className="mono" href={to('requests', { key: keyId })}>
                  {keyId}
                </Link>
              ),
            ],
            [
              'Same request id',
              <Link key="r" href={to('requests', { request: request.requestId })}>
                Every request with it
              </Link>,
            ],
            ['Not logged before it', skipped === 0 ? 'None' : plural(skipped, 'request')],
          ]}
        />
      </section>
    </>
  );
}
