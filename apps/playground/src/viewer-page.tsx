import { LiveStream, type StreamCredentials } from '@parley/client';
import { StreamPlayer, useStream } from '@parley/react';
import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import code from '../../../examples/watch-stream.ts?raw';
import { ask } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { identityOf, shownName, storedName } from './identity.ts';
import { Inspector } from './inspector.tsx';
import { useLeaveWithPage } from './use-leave-with-page.ts';
import { usePageTitle } from './use-page-title.ts';
import { useStreamRecord } from './use-stream-record.ts';

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
  const { conversation } = useStream(live);
  const [stream] = useStreamRecord(streamId);
  // The service learns from the page that a viewer has closed it.
  const sayGoodbye = useCallback(() => {
    navigator.sendBeacon(`/playground/api/streams/${streamId}/leave`, JSON.stringify({ identity }));
  }, [streamId, identity]);
  useLeaveWithPage(sayGoodbye);

  return (
    <div className="call">
      <section className="stage" aria-label="Stream">
        <h1>{stream?.title ?? 'Stream'}</h1>
        <StreamPlayer
          stream={live}
          status={stream?.status ?? null}
          viewerCount={stream?.viewerCount ?? null}
          nameOf={shownName}
        />
        <div className="row">
          <button type="button" className="button button-danger" onClick={onLeave}>
            Leave
          </button>
        </div>
      </section>
      <div className="chat-beside">
        <ChatPanel conversation={conversation} identity={identity} />
      </div>
      <Inspector room={live.room} code={code} />
    </div>
  );
}
