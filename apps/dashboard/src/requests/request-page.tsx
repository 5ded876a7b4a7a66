import type { ApiRequest } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { CopyId } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { decimal } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { credentialWord, StatusBadge } from './words.tsx';

export default function RequestPage() {
  const api = useApi();
  const { requestId = '' } = useParams<{ requestId: string }>();
  const { project, environment } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'request', environment, requestId],
    queryFn: ({ signal }) =>
      api.call('getProjectRequest', { projectId: project.id, requestId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  const { data } = query;
  return (
    <Page title={data ? `${data.method} ${data.route}` : t('frame.kindRequest')} query={query}>
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
      <section className="panel" aria-label={t('requests.about')}>
        <Facts
          rows={[
            [t('words.status'), <StatusBadge key="s" status={request.status} />],
            [t('kit.time'), <Time key="t" at={request.at} />],
            [t('words.took'), t('kit.ms', { value: decimal(request.ms) })],
            [t('requests.requestId'), <CopyId key="i" id={request.requestId} label={t('kit.copyRequestId')} />],
            [t('requests.credential'), credentialWord(request.credential)],
            [
              t('requests.apiKey'),
              keyId === null ? (
                <NoData key="k" />
              ) : (
                <Link key="k" className="mono" href={to('requests', { key: keyId })}>
                  {keyId}
                </Link>
              ),
            ],
            [
              t('requests.sameId'),
              <Link key="r" href={to('requests', { request: request.requestId })}>
                {t('requests.everyWithIt')}
              </Link>,
            ],
            [t('requests.notLogged'), skipped === 0 ? t('words.none') : t('requests.count', { count: skipped })],
          ]}
        />
      </section>
    </>
  );
}
