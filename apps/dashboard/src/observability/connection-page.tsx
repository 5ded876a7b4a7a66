import type { AllRoutes, AnswerOf, ConnectionEvent } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { CopyId, CopyTextButton } from '../kit/copy.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { decimal, span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';
import { ConnectionBadge } from './words.tsx';

type Detail = AnswerOf<AllRoutes['getProjectConnection']>;

export default function ConnectionPage() {
  const api = useApi();
  const { connectionId = '' } = useParams<{ connectionId: string }>();
  const { project, environment } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'connection', environment, connectionId],
    queryFn: ({ signal }) =>
      api.call('getProjectConnection', { projectId: project.id, connectionId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
  const connection = query.data;
  return (
    <Page
      title={connection?.participantIdentity ?? t('words.connection')}
      query={query}
      aside={connection && <ConnectionBadge state={connection.state} />}
      actions={
        connection && (
          <CopyTextButton text={JSON.stringify(connection, null, 2)}>{t('observability.copyAsJson')}</CopyTextButton>
        )
      }
    >
      <QueryView query={query}>{(found) => <Body connection={found} />}</QueryView>
    </Page>
  );
}

function Body({ connection }: { connection: Detail }) {
  return (
    <>
      <AboutConnection connection={connection} />
      {connection.errors.length > 0 && <ErrorList connection={connection} />}
      <section className="stack" aria-labelledby="timeline">
        <h2 id="timeline">{t('words.timeline')}</h2>
        {connection.events.length === 0 ? (
          <EmptyState title={t('observability.noEvent')} />
        ) : (
          <EventList startedAt={connection.startedAt} events={connection.events} />
        )}
      </section>
    </>
  );
}

function AboutConnection({ connection }: { connection: Detail }) {
  const { to } = useProject();
  const { quality, sdk } = connection;
  const reading = (value: number | null, unit: string) => (value === null ? <NoData /> : `${decimal(value)} ${unit}`);
  return (
    <div className="columns">
      <section className="panel" aria-label={t('observability.aboutConnection')}>
        <Facts
          rows={[
            [t('observability.connectionId'), <CopyId key="i" id={connection.connectionId} />],
            [
              t('words.room'),
              connection.roomId === null ? (
                <NoData key="r" />
              ) : (
                <Link key="r" href={to(`rooms/${connection.roomId}`)}>
                  {connection.roomName ?? connection.roomId}
                </Link>
              ),
            ],
            [t('words.started'), <Time key="s" at={connection.startedAt} />],
            [t('words.duration'), connection.durationMs === null ? <NoData key="d" /> : span(connection.durationMs)],
            [
              t('observability.timeToConnect'),
              connection.timeToConnectMs === null ? <NoData key="t" /> : span(connection.timeToConnectMs),
            ],
            [t('observability.reconnects'), connection.reconnectCount],
            [t('observability.endedBecause'), connection.disconnectReason ?? <NoData key="e" />],
          ]}
        />
      </section>
      <section className="panel" aria-label={t('observability.clientAndNetwork')}>
        <Facts
          rows={[
            [t('words.mediaNode'), connection.serverName ?? <NoData key="n" />],
            [t('observability.transport'), connection.transport ?? <NoData key="t" />],
            [t('words.address'), connection.clientIp ?? <NoData key="a" />],
            ['SDK', sdk === null ? <NoData key="k" /> : `${sdk.name ?? ''} ${sdk.version ?? ''}`],
            [t('words.userAgent'), connection.userAgent ?? <NoData key="u" />],
            [t('observability.roundTrip'), reading(quality.rttMs, 'ms')],
            [t('observability.packetLoss'), reading(quality.packetLossPercent, '%')],
            [t('observability.jitter'), reading(quality.jitterMs, 'ms')],
          ]}
        />
      </section>
    </div>
  );
}

function ErrorList({ connection: { errors } }: { connection: Detail }) {
  const { to } = useProject();
  return (
    <section className="stack-small" aria-labelledby="errors">
      <h2 id="errors">{t('page.errors')}</h2>
      {errors.map(({ id, code, message, hint, occurredAt }) => (
        <div key={id} className="notice" data-tone="bad">
          <p className="notice-title">
            <Link href={to(`errors/${id}`)}>{code}</Link>
          </p>
          <p>{message}</p>
          {hint && <p>{hint}</p>}
          <p className="muted">
            <Time at={occurredAt} />
          </p>
        </div>
      ))}
    </section>
  );
}

const longGapMs = 2_000;
/** Clocks that are closer than this agree. */
const clocksAgreeMs = 1_000;

/** Each event with its time since the start and since the one before it; long waits stand out. */
function EventList({ startedAt, events }: { startedAt: string; events: readonly ConnectionEvent[] }) {
  // The client's first step is older than the connection, which begins with what reached the server.
  const start = Math.min(Date.parse(startedAt), ...events.map(({ happenedAt }) => Date.parse(happenedAt)));
  return (
    <ol className="timeline">
      {events.map((event, index) => {
        const at = Date.parse(event.happenedAt);
        const before = events[index - 1];
        const gap = before ? at - Date.parse(before.happenedAt) : 0;
        const hasData = Object.keys(event.data).length > 0;
        return (
          <li key={event.id} data-bad={/fail|error|denied|stalled/.test(event.type)}>
            <span className="timeline-offset mono">+{span(at - start)}</span>
            <span className="timeline-what">
              <strong className="mono">{event.type}</strong>{' '}
              <span className="muted">
                {event.source === 'SERVER' ? t('observability.seenByServer') : t('observability.reportedByClient')}
              </span>
              <OtherClock event={event} />
              {gap > longGapMs && (
                <>
                  {' '}
                  <Badge tone="warn" shape="ring">
                    {t('observability.gapAfter', { span: span(gap) })}
                  </Badge>
                </>
              )}
              {hasData && (
                <details>
                  <summary>{t('observability.data')}</summary>
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
                  <pre className="raw" tabIndex={0}>
                    {JSON.stringify(event.data, null, 2)}
                  </pre>
                </details>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** Both clocks where they disagree. */
function OtherClock({ event: { timestamp, happenedAt } }: { event: ConnectionEvent }) {
  const aheadMs = Date.parse(timestamp) - Date.parse(happenedAt);
  if (Math.abs(aheadMs) < clocksAgreeMs) return null;
  return (
    <span className="muted">
      {' '}
      {withNodes(aheadMs > 0 ? 'observability.clockAhead' : 'observability.clockBehind', {
        at: <Time at={happenedAt} />,
        said: <Time at={timestamp} />,
        span: span(Math.abs(aheadMs)),
      })}
    </span>
  );
}
