import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { count } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { ConnectionBadge, categoryWord } from './words.tsx';

export default function ErrorPage() {
  const api = useApi();
  const { errorId = '' } = useParams<{ errorId: string }>();
  const { project, environment, to } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'error', environment, errorId],
    queryFn: ({ signal }) =>
      api.call('getProjectError', { projectId: project.id, errorId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  return (
    <Page title={query.data?.code ?? t('requests.error')} query={query}>
      <QueryView query={query}>
        {(error) => (
          <>
            <div className="notice" data-tone="bad">
              <p className="notice-title">{error.message}</p>
              {error.hint && <p>{error.hint}</p>}
            </div>
            <section className="panel" aria-label={t('observability.aboutError')}>
              <Facts
                rows={[
                  [t('words.id'), <CopyId key="i" id={error.id} />],
                  [t('observability.cause'), categoryWord(error.category)],
                  [t('words.lastSeen'), <Time key="t" at={error.occurredAt} />],
                  [t('observability.count'), count(error.count)],
                  [
                    t('observability.tryingAgain'),
                    error.retryable ? (
                      <Badge key="r" tone="ok">
                        {t('observability.mayHelp')}
                      </Badge>
                    ) : (
                      <Badge key="r" shape="square">
                        {t('observability.doesNotHelp')}
                      </Badge>
                    ),
                  ],
                  [t('words.participant'), error.participantIdentity ?? <NoData key="p" />],
                  [
                    t('words.room'),
                    error.roomId === null ? (
                      <NoData key="m" />
                    ) : (
                      <Link key="m" href={to(`rooms/${error.roomId}`)}>
                        {error.roomId}
                      </Link>
                    ),
                  ],
                  [
                    t('words.connection'),
                    error.connection === null ? (
                      <NoData key="c" />
                    ) : (
                      <span key="c" className="row">
                        <Link href={to(`connections/${error.connection.connectionId}`)}>
                          {error.connection.connectionId}
                        </Link>
                        <ConnectionBadge state={error.connection.state} />
                      </span>
                    ),
                  ],
                ]}
              />
            </section>
            <Snippet label={t('observability.context')} code={JSON.stringify(error.context, null, 2)} />
          </>
        )}
      </QueryView>
    </Page>
  );
}
