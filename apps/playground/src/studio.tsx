import { type Devices, LiveStream, type ParticipantState, type StreamCredentials } from '@parley/client';
import { CallView, type JoinChoices, useStream } from '@parley/react';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import code from '../../../examples/backend.ts?raw';
import { ask, backend, type Stream } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { CodeIcon, LinkIcon } from './icons.tsx';
import { identityOf, shownName } from './identity.ts';
import { Inspection } from './inspector.tsx';
import { ShareLinks } from './share-links.tsx';
import { useFullPage } from './use-full-page.ts';
import { type Source, usePublishedSource } from './use-source.ts';
import { useStreamRecord, viewersOf } from './use-stream-record.ts';

interface StudioProps {
  id: string;
  role: 'HOST' | 'CO_HOST';
  choices: JoinChoices;
  source: Source;
  devices: Devices;
}

const nameOf = ({ identity }: ParticipantState): string => shownName(identity);

/** Where hosts see each other, the chat of the viewers, and what is on air. */
export function Studio({ id, role, choices, source, devices }: StudioProps) {
  useFullPage();
  const identity = identityOf(choices.name);
  const [, go] = useLocation();
  const [live] = useState(() => {
    const credentials = () => ask<StreamCredentials>('POST', `streams/${id}/host`, { identity, role });
    return new LiveStream({ url: location.origin, credentials, devices });
  });
  const { conversation, error: lost } = useStream(live);
  const [error, setError] = useState<unknown>(null);
  usePublishedSource(live.room, source, choices, (problem) => setError(problem ?? null));
  const [stream, refresh] = useStreamRecord(id);
  const run = (work: Promise<unknown>): void => void work.then(refresh, setError);
  const isWide = matchMedia('(min-width: 900px)').matches;

  return (
    <CallView
      room={live.room}
      title={stream?.title ?? 'Studio'}
      header={<OnAir stream={stream}>{role === 'HOST' && <LiveButton stream={stream} run={run} />}</OnAir>}
      isSelfMirrored={source === 'camera'}
      nameOf={nameOf}
      error={stream?.status === 'ENDED' ? null : (error ?? lost)}
      alone={<AloneInStudio status={stream?.status} />}
      onLeave={() => go('/')}
      chat={<ChatPanel conversation={conversation} identity={identity} />}
      openPanel={isWide ? 'share' : null}
      panels={[
        { id: 'share', label: 'Links', icon: <LinkIcon />, content: <ShareLinks id={id} /> },
        {
          id: 'inspector',
          label: 'Inspector',
          icon: <CodeIcon />,
          content: <Inspection room={live.room} code={code} />,
        },
      ]}
    />
  );
}

const states = { CREATED: 'Off air', LIVE: 'Live', ENDED: 'Ended' } as const;

function OnAir({ stream, children }: { stream: Stream | null; children: ReactNode }) {
  return (
    <>
      <span className="on-air" data-state={stream?.status}>
        {stream ? states[stream.status] : 'Connecting'}
      </span>
      <span className="on-air-viewers">{stream?.status === 'LIVE' && viewersOf(stream)}</span>
      {children}
    </>
  );
}

function AloneInStudio({ status }: { status: Stream['status'] | undefined }) {
  if (status === 'ENDED') return 'The stream has ended. A new one is needed to go live again.';
  if (status === 'LIVE') return 'You are on air.';
  return 'Nobody sees you yet. Go live when you are ready.';
}

function LiveButton({ stream, run }: { stream: Stream | null; run: (work: Promise<unknown>) => void }) {
  if (stream?.status === 'CREATED')
    return (
      <button
        type="button"
        className="parley-button"
        data-kind="primary"
        onClick={() => run(backend.startStream(stream.id))}
      >
        Go live
      </button>
    );
  if (stream?.status !== 'LIVE') return null;
  return (
    <button
      type="button"
      className="parley-button"
      data-kind="danger"
      onClick={() => run(backend.endStream(stream.id))}
    >
      End the stream
    </button>
  );
}
