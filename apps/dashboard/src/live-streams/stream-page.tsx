import type { LiveStreamWithHosts } from '@parley/contract';
import { liveStreamMachine } from '@parley/contract/machines';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { Figures } from '../kit/figure.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { count, plural, span } from '../kit/numbers.ts';
import { Table } from '../kit/table.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { Time } from '../kit/time.tsx';
import { EditStream } from './edit-stream.tsx';
import { EndStream } from './end-stream.tsx';
import { streamQuery } from './queries.ts';
import { aboutFields } from './stream-fields.ts';
import { Elapsed, StreamState, startSnippet, visibilityWords } from './words.tsx';

export default function StreamPage() {
  const { streamId = '' } = useParams<{ streamId: string }>();
  const { project, environment } = useProject();
  const query = useQuery(streamQuery(useApi(), project.id, environment, streamId));
  const stream = query.data;
  return (
    <Page
      title={stream?.title ?? 'Live stream'}
      query={query}
      aside={stream && <StreamState stream={stream} />}
      actions={stream && stream.status !== 'ENDED' && <EndStream stream={stream} />}
    >
      <QueryView query={query}>{(found) => <StreamBody stream={found} />}</QueryView>
    </Page>
  );
}

function StreamBody({ stream }: { stream: LiveStreamWithHosts }) {
  useAnnounced(stream.viewerCount === null ? null : plural(stream.viewerCount, 'viewer'));
  return (
    <>
      <Steps stream={stream} />
      <StreamFigures stream={stream} />
      {stream.status === 'CREATED' && (
        <section className="panel stack-small" aria-labelledby="start">
          <h2 id="start">Start is an API call</h2>
          <p className="muted">Your backend decides when the stream goes live. Until then viewers may join and wait.</p>
          <Snippet label="Start" code={startSnippet(stream.id)} />
        </section>
      )}
      {stream.status === 'ENDED' && (
        <p className="notice">
          An ended stream does not start again: its room is closed and its conversation archived. Create a new stream.
        </p>
      )}
      <Tabs
        label="Stream"
        tabs={[
          { id: 'about', label: 'About', panel: () => <About stream={stream} /> },
          { id: 'hosts', label: 'Hosts', panel: () => <Hosts stream={stream} /> },
          { id: 'raw', label: 'Raw', panel: () => <Snippet label="Stream" code={JSON.stringify(stream, null, 2)} /> },
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
    <ol className="steps" aria-label="State of the stream">
      {steps.map((step) => (
        <li key={step} data-reached={reached[step] !== null} aria-current={step === stream.status ? 'step' : undefined}>
          <strong>{step}</strong>
          <span className="muted">{reached[step] === null ? 'Not reached' : <Time at={reached[step]} />}</span>
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
      label="Audience"
      figures={[
        { label: 'Viewers now', value: status === 'ENDED' ? 'Over' : viewerCount === null ? null : count(viewerCount) },
        { label: 'Most viewers at once', value: count(peakViewerCount) },
        { label: status === 'ENDED' ? 'Was live for' : 'Live for', value: length },
      ]}
    />
  );
}

function About({ stream }: { stream: LiveStreamWithHosts }) {
  const { to } = useProject();
  return (
    <div className="columns">
      <section className="panel" aria-label="About the stream">
        <Facts
          rows={[
            ['Id', <CopyId key="id" id={stream.id} label="Copy stream id" />],
            ['Visibility', visibilityWords[stream.visibility]],
            [
              'Room',
              <Link key="r" href={to(`rooms/${stream.roomId}`)}>
                {stream.roomName}
              </Link>,
            ],
            [
              'Conversation',
              <Link key="c" className="mono" href={to(`chat/${stream.conversationId}`)}>
                {stream.conversationId}
              </Link>,
            ],
            ['Scheduled', stream.scheduledAt === null ? <NoData key="s" /> : <Time key="s" at={stream.scheduledAt} />],
            ['Created', <Time key="a" at={stream.createdAt} />],
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
      caption={`Hosts of ${stream.title}`}
      rows={stream.hosts}
      keyOf={({ identity }) => identity}
      copyOf={({ identity }) => identity}
      columns={[
        { head: 'Identity', cell: ({ identity }) => <strong>{identity}</strong> },
        { head: 'Role', cell: ({ role }) => (role === 'HOST' ? 'Host' : 'Co-host') },
        { head: 'Registered', cell: ({ registeredAt }) => <Time at={registeredAt} /> },
        {
          head: 'State',
          cell: ({ removedAt }) =>
            removedAt === null ? (
              <Badge tone="ok">May publish</Badge>
            ) : (
              <span className="row">
                <Badge shape="square">Removed</Badge> <Time at={removedAt} />
              </span>
            ),
        },
      ]}
    />
  );
}
