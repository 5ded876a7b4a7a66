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
import { t, withNodes } from '../i18n/t.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId, Snippet } from '../kit/copy.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { Facts } from '../kit/facts.tsx';
import { useAnnounced } from '../kit/live.tsx';
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
      title={room?.name ?? t('words.room')}
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
  status === 'ACTIVE' ? <Badge tone="ok">{t('rooms.open')}</Badge> : <Badge shape="square">{t('rooms.closed')}</Badge>;

function RoomBody({ room }: { room: RoomDetail }) {
  const { to } = useProject();
  useAnnounced(room.participants ? t('rooms.participantCount', { count: room.participants.length }) : null);
  const isLost = room.status === 'ACTIVE' && room.serverName !== null && room.participants === null;
  return (
    <>
      {isLost && (
        <p className="notice" data-tone="warn" role="status">
          <span>
            {withNodes('rooms.nodeLost', {
              node: <Link href={to(`fleet/${room.serverName}`)}>{room.serverName}</Link>,
            })}
          </span>
        </p>
      )}
      <section className="panel" aria-label={t('rooms.about')}>
        <Facts
          rows={[
            [t('words.id'), <CopyId key="id" id={room.id} label={t('words.copyRoomId')} />],
            [
              t('words.participants'),
              room.participantCount === null ? (
                <NoData key="n" />
              ) : (
                t('rooms.ofAtMost', { now: room.participantCount, max: room.maxParticipants })
              ),
            ],
            [
              t('words.mediaNode'),
              room.serverName === null ? (
                <span key="s" className="no-data">
                  {t('rooms.placedLater')}
                </span>
              ) : (
                <Link key="s" href={to(`fleet/${room.serverName}`)}>
                  {room.serverName}
                </Link>
              ),
            ],
            [t('words.region'), room.region ?? <NoData key="r" />],
            [t('words.opened'), <Time key="o" at={room.createdAt} />],
            ...(room.sessionStartedAt === null
              ? []
              : ([[t('rooms.inUseSince'), <Ago key="u" at={room.sessionStartedAt} />]] as const)),
            ...(room.closedAt === null ? [] : ([[t('rooms.closed'), <Time key="c" at={room.closedAt} />]] as const)),
          ]}
        />
      </section>
      <Tabs
        label={t('words.room')}
        tabs={[
          { id: 'participants', label: t('words.participants'), panel: () => <Participants room={room} /> },
          { id: 'test-call', label: t('rooms.testCall'), panel: () => <CallPanel room={room} /> },
          { id: 'timeline', label: t('words.timeline'), panel: () => <RoomTimeline roomId={room.id} /> },
          { id: 'conversation', label: t('rooms.conversation'), panel: () => <RoomConversation room={room} /> },
          {
            id: 'raw',
            label: 'Raw',
            panel: () => <Snippet label={t('words.room')} code={JSON.stringify(room, null, 2)} />,
          },
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
      {t('rooms.testCall')}
    </Button>
  );
}

function Participants({ room }: { room: RoomDetail }) {
  if (room.status === 'CLOSED') return <EmptyState title={t('rooms.isClosed')} />;
  if (room.participants === null) return <EmptyState title={t('rooms.notKnown')} />;
  if (room.participants.length > 0) return <ParticipantTable room={room} participants={room.participants} />;
  const code = `curl -s -X POST ${location.origin}/v1/rooms/${room.name}/rtc-tokens \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"participantIdentity":"ada","permissions":{"publish":true}}'`;
  return (
    <EmptyState title={t('rooms.nobody')}>
      <p>{t('rooms.howToJoin')}</p>
      <Snippet label={t('rooms.mint')} code={code} />
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
        toast(t('rooms.closedNamed', { name: room.name }));
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
        {t('rooms.close')}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t('rooms.closeNamed', { name: room.name })}
          action={t('rooms.close')}
          {...(people > 0 ? { typed: room.name } : {})}
          isBusy={close.isBusy}
          failure={close.failure}
          onConfirm={() => void close.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            {people > 0 && `${t('rooms.willBeDisconnected', { count: people })} `}
            {t('rooms.closeIsFinal')}
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
