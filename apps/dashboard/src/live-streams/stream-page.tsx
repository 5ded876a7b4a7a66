import type { LiveStreamWithHosts } from '@parley/contract';
import { liveStreamMachine } from '@parley/contract/machines';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { Figures } from '../kit/figure.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { count, span } from '../kit/numbers.ts';
import { Table } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { Time } from '../kit/time.tsx';
import { EditStream } from './edit-stream.tsx';
import { EndStream } from './end-stream.tsx';
import { streamQuery } from './queries.ts';
import { aboutFields } from './stream-fields.ts';
import { Elapsed, StreamState, startSnippet, visibilityWord } from './words.tsx';

export default function StreamPage() {
  const { streamId = '' } = useParams<{ streamId: string }>();
  const { project, environment } = useProject();
  const query = useQuery(streamQuery(useApi(), project.id, environment, streamId));
  const stream = query.data;
  return (
    <Page
      title={stream?.title ?? t('chat.liveStream')}
      query={query}
      aside={stream && <StreamState stream={stream} />}
      actions={stream && stream.status !== 'ENDED' && <EndStream stream={stream} />}
    >
      <QueryView query={query}>{(found) => <StreamBody stream={found} />}</QueryView>
    </Page>
  );
}

function StreamBody({ stream }: { stream: LiveStreamWithHosts }) {
  useAnnounced(stream.viewerCount === null ? null : t('live-streams.viewerCount', { count: stream.viewerCount }));
  return (
    <>
      <Steps stream={stream} />
      <StreamFigures stream={stream} />
      {stream.status === 'CREATED' && (
        <section className="panel stack-small" aria-labelledby="start">
          <h2 id="start">{t('live-streams.startIsApi')}</h2>
          <p className="muted">{t('live-streams.backendDecides')}</p>
          <Snippet label={t('live-streams.start')} code={startSnippet(stream.id)} />
        </section>
      )}
      {stream.status === 'ENDED' && <p className="notice">{t('live-streams.endedForGood')}</p>}
      <Tabs
        label={t('live-streams.stream')}
        tabs={[
          { id: 'about', label: t('live-streams.about'), panel: () => <About stream={stream} /> },
          { id: 'hosts', label: t('live-streams.hosts'), panel: () => <Hosts stream={stream} /> },
          {
            id: 'raw',
            label: 'Raw',
            panel: () => <Snippet label={t('live-streams.stream')} code={JSON.stringify(stream, null, 2)} />,
          },
        ]}
      />
    </>
  );
}

const steps = Object.keys(liveStreamMachine) as LiveStreamWithHosts['status'][];

/** The three states in a row, with when each was reached. */
function Steps({ stream }: { stream: LiveStreamWithHosts }) {
  const reached = { CREATED: stream.createdAt, LIVE: stream.startedAt, ENDED: stream.endedAt };
  return (
    <ol className="steps" aria-label={t('live-streams.stateOf')}>
      {steps.map((step) => (
        <li key={step} data-reached={reached[step] !== null} aria-current={step === stream.status ? 'step' : undefined}>
          <strong>{step}</strong>
          <span className="muted">
            {reached[step] === null ? t('live-streams.notReached') : <Time at={reached[step]} />}
          </span>
        </li>
      ))}
    </ol>
  );
}

function StreamFigures({ stream }: { stream: LiveStreamWithHosts }) {
  const { status, viewerCount, peakViewerCount, startedAt, durationMs } = stream;
  const length = durationMs !== null ? span(durationMs) : startedAt === null ? null : <Elapsed since={startedAt} />;
  return (
    <Figures
      label={t('live-streams.audience')}
      figures={[
        {
          label: t('live-streams.viewersNow'),
          value: status === 'ENDED' ? t('live-streams.over') : viewerCount === null ? null : count(viewerCount),
        },
        { label: t('live-streams.mostViewers'), value: count(peakViewerCount) },
        { label: status === 'ENDED' ? t('live-streams.wasLiveFor') : t('live-streams.liveFor'), value: length },
      ]}
    />
  );
}

function About({ stream }: { stream: LiveStreamWithHosts }) {
  const { to } = useProject();
  return (
    <div className="columns">
      <section className="panel" aria-label={t('live-streams.aboutStream')}>
        <Facts
          rows={[
            [t('words.id'), <CopyId key="id" id={stream.id} label={t('live-streams.copyStreamId')} />],
            [t('live-streams.visibility'), visibilityWord(stream.visibility)],
            [
              t('words.room'),
              <Link key="r" href={to(`rooms/${stream.roomId}`)}>
                {stream.roomName}
              </Link>,
            ],
            [
              t('rooms.conversation'),
              <Link key="c" className="mono" href={to(`chat/${stream.conversationId}`)}>
                {stream.conversationId}
              </Link>,
            ],
            [
              t('live-streams.scheduled'),
              stream.scheduledAt === null ? <NoData key="s" /> : <Time key="s" at={stream.scheduledAt} />,
            ],
            [t('words.created'), <Time key="a" at={stream.createdAt} />],
          ]}
        />
      </section>
      {/* A description changed elsewhere resets the form; a new count of viewers does not. */}
      <EditStream key={JSON.stringify(aboutFields(stream))} stream={stream} />
    </div>
  );
}

function Hosts({ stream }: { stream: LiveStreamWithHosts }) {
  return (
    <Table
      caption={t('live-streams.hostsOf', { title: stream.title })}
      rows={stream.hosts}
      keyOf={({ identity }) => identity}
      copyOf={({ identity }) => identity}
      columns={[
        { head: t('words.identity'), cell: ({ identity }) => <strong>{identity}</strong> },
        {
          head: t('words.role'),
          cell: ({ role }) => (role === 'HOST' ? t('live-streams.host') : t('live-streams.coHost')),
        },
        { head: t('live-streams.registered'), cell: ({ registeredAt }) => <Time at={registeredAt} /> },
        {
          head: t('words.state'),
          cell: ({ removedAt }) =>
            removedAt === null ? (
              <Badge tone="ok">{t('live-streams.mayPublish')}</Badge>
            ) : (
              <span className="row">
                <Badge shape="square">{t('words.removed')}</Badge> <Time at={removedAt} />
              </span>
            ),
        },
      ]}
    />
  );
}
