import type { RoomDetail } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useParams } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { plural } from '../kit/numbers.ts';
import { SkeletonLines } from '../kit/skeleton.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { ParticipantTable } from './participants.tsx';
import { roomKeys, roomQuery } from './queries.ts';
import { RoomConversation } from './room-conversation.tsx';
import { RoomTimeline } from './room-timeline.tsx';

export default function RoomPage() {
  const { roomId = '' } = useParams<{ roomId: string }>();
  const { project, environment } = useProject();
  const query = useQuery(roomQuery(useApi(), project.id, environment, roomId));
  const room = query.data;
  return (
    <Page
      title={room?.name ?? 'Room'}
      query={query}
      aside={room && <RoomState room={room} />}
      actions={
        room?.status === 'ACTIVE' && (
          <>
            <CallButton />
            <CloseRoom room={room} />
          </>
        )
      }
    >
      <QueryView query={query}>{(found) => <RoomBody room={found} />}</QueryView>
    </Page>
  );
}

const RoomState = ({ room: { status } }: { room: RoomDetail }) =>
  status === 'ACTIVE' ? <Badge tone="ok">Open</Badge> : <Badge shape="square">Closed</Badge>;

function RoomBody({ room }: { room: RoomDetail }) {
  const { to } = useProject();
  useAnnounced(room.participants ? plural(room.participants.length, 'participant') : null);
  const isLost = room.status === 'ACTIVE' && room.serverName !== null && room.participants === null;
  return (
    <>
      {isLost && (
        <p className="notice" data-tone="warn" role="status">
          <span>
            The media node <Link href={to(`fleet/${room.serverName}`)}>{room.serverName}</Link> cannot be reached: who
            is here is not known.
          </span>
        </p>
      )}
      <section className="panel" aria-label="About the room">
        <Facts
          rows={[
            ['Id', <CopyId key="id" id={room.id} label="Copy room id" />],
            [
              'Participants',
              room.participantCount === null ? (
                <NoData key="n" />
              ) : (
                `${room.participantCount} of at most ${room.maxParticipants}`
              ),
            ],
            [
              'Media node',
              room.serverName === null ? (
                <span key="s" className="no-data">
                  Placed with the first participant
                </span>
              ) : (
                <Link key="s" href={to(`fleet/${room.serverName}`)}>
                  {room.serverName}
                </Link>
              ),
            ],
            ['Region', room.region ?? <NoData key="r" />],
            ['Opened', <Time key="o" at={room.createdAt} />],
            ...(room.sessionStartedAt === null
              ? []
              : ([['In use since', <Ago key="u" at={room.sessionStartedAt} />]] as const)),
            ...(room.closedAt === null ? [] : ([['Closed', <Time key="c" at={room.closedAt} />]] as const)),
          ]}
        />
      </section>
      <Tabs
        label="Room"
        tabs={[
          { id: 'participants', label: 'Participants', panel: () => <Participants room={room} /> },
          { id: 'test-call', label: 'Test call', panel: () => <CallPanel room={room} /> },
          { id: 'timeline', label: 'Timeline', panel: () => <RoomTimeline roomId={room.id} /> },
          { id: 'conversation', label: 'Conversation', panel: () => <RoomConversation room={room} /> },
          { id: 'raw', label: 'Raw', panel: () => <Snippet label="Room" code={JSON.stringify(room, null, 2)} /> },
        ]}
      />
    </>
  );
}

/** The client SDK and the React kit come with it: they are loaded with the first call. */
const TestCall = lazy(() => import('./test-call/test-call.tsx'));

const CallPanel = ({ room }: { room: RoomDetail }) => (
  <Suspense fallback={<SkeletonLines />}>
    <TestCall room={room} />
  </Suspense>
);

function CallButton() {
  const [tab, setTab] = useFilter('tab');
  if (tab === 'test-call') return null;
  return (
    <Button variant="primary" onClick={() => setTab('test-call')}>
      Test call
    </Button>
  );
}

function Participants({ room }: { room: RoomDetail }) {
  if (room.status === 'CLOSED') return <EmptyState title="This room is closed" />;
  if (room.participants === null) return <EmptyState title="Not known: the media node does not answer" />;
  if (room.participants.length > 0) return <ParticipantTable room={room} participants={room.participants} />;
  const code = `curl -s -X POST ${location.origin}/v1/rooms/${room.name}/rtc-tokens \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"participantIdentity":"ada","permissions":{"publish":true}}'`;
  return (
    <EmptyState title="Nobody is here">
      <p>Join with a test call from this page, or mint a token in your backend and join with the client SDK.</p>
      <Snippet label="Mint a token" code={code} />
    </EmptyState>
  );
}

function CloseRoom({ room }: { room: RoomDetail }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, environment, may } = useProject();
  const [isAsking, setAsking] = useState(false);
  const close = useAction(
    () => api.call('closeProjectRoom', { projectId: project.id, roomId: room.id, query: { environment } }),
    {
      onDone: async () => {
        setAsking(false);
        toast(`Closed ${room.name}`);
        await client.invalidateQueries({ queryKey: roomKeys.one(project.id, environment, room.id) });
        await client.invalidateQueries({ queryKey: roomKeys.list(project.id, environment) });
      },
    },
  );
  const mayClose = may('room:manage');
  const people = room.participants?.length ?? 0;
  return (
    <>
      <Button
        variant="danger"
        disabled={!mayClose}
        title={mayClose ? undefined : askFor('room:manage')}
        onClick={() => setAsking(true)}
      >
        Close room
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Close ${room.name}?`}
          action="Close room"
          {...(people > 0 ? { typed: room.name } : {})}
          isBusy={close.isBusy}
          failure={close.failure}
          onConfirm={() => void close.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            {people > 0 ? `${plural(people, 'participant')} will be disconnected. ` : ''}Its tokens are revoked and its
            name becomes free. A closed room does not open again.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
