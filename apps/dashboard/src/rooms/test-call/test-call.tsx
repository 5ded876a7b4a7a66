import '@parley/react/styles.css';
import type { RoomDetail } from '@parley/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApi } from '../../data/services.tsx';
import { askFor, useProject } from '../../frame/project.tsx';
import { EmptyState } from '../../kit/empty-state.tsx';
import { announce } from '../../kit/live.tsx';
import { ActiveCall } from './active-call.tsx';
import { type Call, type Mint, newIdentity, type Source, startCall } from './call.ts';
import { CallFailure } from './call-failure.tsx';
import { Setup } from './setup.tsx';
import { t } from './texts.ts';

/** A real call from the dashboard: what a user of the room would see and send. */
export default function TestCall({ room }: { room: RoomDetail }) {
  const { project, may } = useProject();
  if (room.status === 'CLOSED') return <EmptyState title={t('rooms.isClosed')} />;
  if (!may('room:manage') || project.status !== 'ACTIVE') {
    return (
      <EmptyState title={t('test-call.notPossible')}>
        <p>{project.status === 'ACTIVE' ? askFor('room:manage') : t('test-call.projectArchived')}</p>
      </EmptyState>
    );
  }
  return <CallDesk roomId={room.id} />;
}

function CallDesk({ roomId }: { roomId: string }) {
  const mint = useMint(roomId);
  const [call, setCall] = useState<{ call: Call; source: Source } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const running = useRef<Call | null>(null);

  // Leaving the tab leaves the call.
  useEffect(() => () => void running.current?.leave(), []);

  function keep(next: { call: Call; source: Source } | null): void {
    running.current = next?.call ?? null;
    setCall(next);
  }

  async function join(source: Source): Promise<void> {
    setBusy(true);
    setFailure(null);
    try {
      await running.current?.leave();
      keep({ call: await startCall(mint, newIdentity('dashboard'), source), source });
      announce(t('test-call.joined'));
    } catch (error) {
      keep(null);
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }

  async function leave(): Promise<void> {
    await running.current?.leave();
    keep(null);
    announce(t('test-call.left'));
  }

  return (
    <div className="stack">
      {failure !== null && <CallFailure error={failure} />}
      {call === null ? (
        <Setup mint={mint} isBusy={isBusy} onJoin={(source) => void join(source)} />
      ) : (
        <ActiveCall
          key={call.call.token.tokenId}
          call={call.call}
          isMirrored={call.source.kind === 'devices'}
          mint={mint}
          isRenewing={isBusy}
          onRenew={() => void join(call.source)}
          onLeave={() => void leave()}
          onEnded={(error) => {
            keep(null);
            setFailure(error);
          }}
        />
      )}
      <p className="muted">{t('test-call.noMessages')}</p>
    </div>
  );
}

function useMint(roomId: string): Mint {
  const api = useApi();
  const { project, environment } = useProject();
  return useCallback<Mint>(
    (participantIdentity) =>
      api.call('mintTestToken', {
        projectId: project.id,
        roomId,
        query: { environment },
        body: { participantIdentity },
      }),
    [api, project.id, roomId, environment],
  );
}
