import { LiveStream, type StreamCredentials } from '@parley/client';
import type { Conversation } from '@parley/client/chat';
import { useStore } from '@parley/client/react';
import { Grid, RoomAudio, Tile } from '@parley/react';
import { useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import code from '../../../examples/watch-stream.ts?raw';
import { ask } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { identityOf, shownName, storedName } from './identity.ts';
import { Inspector } from './inspector.tsx';
import { Problem } from './problem.tsx';
import { useLeaveWithPage } from './use-leave-with-page.ts';
import { usePageTitle } from './use-page-title.ts';
import { useStream, viewersOf } from './use-stream.ts';

/** Watches and writes; there is nothing here to publish with. */
export function ViewerPage({ streamId }: { streamId: string }) {
  usePageTitle('Watch');
  const [isIn, setIn] = useState(true);
  if (isIn) return <Watching streamId={streamId} onLeave={() => setIn(false)} />;
  return (
    <div className="narrow stack">
      <h1>You left the stream</h1>
      <div className="row">
        <button type="button" className="button button-primary" onClick={() => setIn(true)}>
          Watch again
        </button>
        <Link href="/">Back to the start</Link>
      </div>
    </div>
  );
}

function Watching({ streamId, onLeave }: { streamId: string; onLeave: () => void }) {
  const identity = identityOf(storedName());
  const [live] = useState(
    () =>
      new LiveStream({
        url: location.origin,
        credentials: () => ask<StreamCredentials>('POST', `streams/${streamId}/viewer`, { identity }),
      }),
  );
  const [conversation, setConversation] = useState<Conversation | null>(null);
  const [error, setError] = useState<unknown>(null);
  const { connection, participants } = useStore(live.room.state);
  const [stream] = useStream(streamId);

  useEffect(() => {
    live.join().then(() => setConversation(live.chat), setError);
    return () => void live.leave();
  }, [live]);
  // The service learns from the page that a viewer has closed it.
  const sayGoodbye = useCallback(() => {
    navigator.sendBeacon(`/playground/api/streams/${streamId}/leave`, JSON.stringify({ identity }));
  }, [streamId, identity]);
  useLeaveWithPage(sayGoodbye);

  const hosts = participants.filter(({ tracks }) => tracks.length > 0);
  return (
    <div className="call">
      <section className="stage" aria-label="Stream">
        <div className="row">
          <h1>{stream?.title ?? 'Stream'}</h1>
          <span className="badge" data-state={stream?.status === 'LIVE' ? 'connected' : 'idle'}>
            {stream === null ? connection : stream.status}
          </span>
          <span className="muted">{viewersOf(stream)}</span>
        </div>
        <Problem error={stream?.status === 'ENDED' ? null : error} />
        {stream?.status === 'ENDED' && <p role="status">The stream has ended.</p>}
        {hosts.length === 0 && stream?.status !== 'ENDED' && <p className="muted">Nobody sends a picture yet.</p>}
        <div className="studio studio-stage parley-dark">
          <Grid>
            {hosts.map((participant) => (
              <Tile key={participant.identity} participant={participant} name={shownName(participant.identity)} />
            ))}
          </Grid>
        </div>
        <RoomAudio room={live.room} />
        <div className="controls">
          <button type="button" className="button" onClick={() => void live.room.startAudio()}>
            Start sound
          </button>
          <button type="button" className="button button-danger" onClick={onLeave}>
            Leave
          </button>
        </div>
      </section>
      <section className="chat-beside" aria-label="Chat">
        <h2>Chat</h2>
        <ChatPanel conversation={conversation} identity={identity} error={null} />
      </section>
      <Inspector room={live.room} code={code} />
    </div>
  );
}
