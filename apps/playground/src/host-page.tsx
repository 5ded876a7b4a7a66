import { LiveStream, type ParticipantState, type StreamCredentials } from '@parley/client';
import { Controls, RoomAudio, Stage, useStream } from '@parley/react';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import code from '../../../examples/backend.ts?raw';
import { ask, backend, type Stream } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { identityOf, shownName, storedName } from './identity.ts';
import { Inspector } from './inspector.tsx';
import { Problem } from './problem.tsx';
import { SourcePicker } from './source-picker.tsx';
import { usePageTitle } from './use-page-title.ts';
import { type Source, usePublishedSource, useSource } from './use-source.ts';
import { useStreamRecord, viewersOf } from './use-stream-record.ts';

/** A host's page; with an id in its address, a co-host's. */
export function HostPage({ streamId }: { streamId: string | null }) {
  usePageTitle('Go live');
  const [title, setTitle] = useState('My first stream');
  const [source, setSource] = useSource();
  const [entered, setEntered] = useState<{ id: string; role: 'HOST' | 'CO_HOST' } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const identity = identityOf(storedName());

  const enter = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      if (streamId !== null) return setEntered({ id: streamId, role: 'CO_HOST' });
      const { id } = await backend.createStream(title, identity);
      setEntered({ id, role: 'HOST' });
    } catch (problem) {
      setError(problem);
    }
  };
  if (entered) return <Studio {...entered} identity={identity} source={source} />;
  return (
    <form className="narrow stack" onSubmit={(event) => void enter(event)}>
      <h1>{streamId === null ? 'Go live' : 'Join as a co-host'}</h1>
      <Problem error={error} />
      {streamId === null && (
        <div className="field">
          <label htmlFor="title">Title</label>
          <input
            id="title"
            className="input"
            value={title}
            maxLength={200}
            required
            onChange={({ target }) => setTitle(target.value)}
          />
        </div>
      )}
      <SourcePicker source={source} onChange={setSource} />
      <button type="submit" className="button button-primary self-start">
        {streamId === null ? 'Open the studio' : 'Join'}
      </button>
    </form>
  );
}

interface StudioProps {
  id: string;
  role: 'HOST' | 'CO_HOST';
  identity: string;
  source: Source;
}

const nameOf = ({ identity }: ParticipantState): string => shownName(identity);

function Studio({ id, role, identity, source }: StudioProps) {
  const [, go] = useLocation();
  const [live] = useState(
    () =>
      new LiveStream({
        url: location.origin,
        credentials: () => ask<StreamCredentials>('POST', `streams/${id}/host`, { identity, role }),
      }),
  );
  const { room, conversation, error: lost } = useStream(live);
  const [error, setError] = useState<unknown>(null);
  usePublishedSource(live.room, source, storedName(), (problem) => setError(problem ?? null));
  const [stream, refresh] = useStreamRecord(id);

  const run = (work: Promise<unknown>): void => void work.then(refresh, setError);
  const isEnded = stream?.status === 'ENDED';
  return (
    <div className="call">
      <section className="stage" aria-label="Studio">
        <div className="row">
          <h1>{stream?.title ?? 'Studio'}</h1>
          <span className="badge" data-state={stream?.status === 'LIVE' ? 'connected' : 'idle'}>
            {stream === null ? room.connection : stream.status}
          </span>
          <span className="muted">{viewersOf(stream)}</span>
        </div>
        <Problem error={isEnded ? null : (error ?? lost)} />
        {isEnded && <p>The stream has ended. A new one is needed to go live again.</p>}
        <div className="studio">
          <div className="studio-stage parley-dark">
            <Stage room={live.room} isSelfMirrored={source === 'camera'} nameOf={nameOf} />
          </div>
          <Controls room={live.room} onError={setError} onLeave={() => go('/')}>
            {role === 'HOST' && <LiveButton stream={stream} run={run} />}
          </Controls>
          <RoomAudio room={live.room} />
        </div>
        <p className="small">
          Viewers: <a href={`/playground/watch/${id}`}>{`/playground/watch/${id}`}</a>
          <br />
          Co-hosts: <a href={`/playground/host/${id}`}>{`/playground/host/${id}`}</a>
        </p>
      </section>
      <div className="chat-beside">
        <ChatPanel title="Chat" conversation={conversation} identity={identity} error={null} />
      </div>
      <Inspector room={live.room} code={code} />
    </div>
  );
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
