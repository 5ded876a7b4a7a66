import type { ConnectionState, SvcError } from '@parley/client';
import { useStore } from '@parley/client/react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { useAnnounced } from '../../kit/live.tsx';
import { plural } from '../../kit/numbers.ts';
import { useNow } from '../../kit/time.tsx';
import { type Call, type Mint, startGuest } from './call.ts';
import { CallFailure } from './call-failure.tsx';
import { Controls } from './controls.tsx';
import { Tile } from './tile.tsx';

interface StageProps {
  call: Call;
  mint: Mint;
  isRenewing: boolean;
  onRenew: () => void;
  onLeave: () => void;
  /** The call ended without our doing. */
  onEnded: (error: SvcError) => void;
}

/** The call itself: who is here, and the controls. */
export function Stage({ call, mint, isRenewing, onRenew, onLeave, onEnded }: StageProps) {
  const { room } = call;
  const { connection, participants, self } = useStore(room.state);
  const [failure, setFailure] = useState<unknown>(null);
  const guest = useGuest(mint, setFailure);
  const ended = useEffectEvent(onEnded);
  useEffect(
    () =>
      room.on('connectionStateChanged', (state, _previous, error) => {
        if (state === 'disconnected' && error && error.reason !== 'client') ended(error);
      }),
    [room],
  );
  useEffect(() => room.on('error', setFailure), [room]);
  useAnnounced(plural(participants.length + 1, 'participant'));
  return (
    <section className="stage" aria-label="Test call">
      <div className="stage-head">
        <StateBadge state={connection} />
        <span className="muted">
          as <span className="mono">{room.self.identity}</span>
        </span>
        <span className="spacer" />
        <TokenClock call={call} />
        <Button variant="quiet" isBusy={isRenewing} onClick={onRenew} title="Joins again with a new token">
          Renew token
        </Button>
      </div>
      {failure !== null && <CallFailure error={failure} />}
      <ul className="tiles" data-count={Math.min(participants.length + 1, 4)}>
        {self && <Tile participant={self} />}
        {participants.map((participant) => (
          <Tile key={participant.sessionId} participant={participant} />
        ))}
      </ul>
      <Controls room={room} onFailed={setFailure} onLeave={onLeave}>
        <Button isBusy={guest.isBusy} onClick={() => void guest.toggle()}>
          {guest.isHere ? 'Remove the test participant' : 'Add a test participant'}
        </Button>
      </Controls>
    </section>
  );
}

const states: Readonly<Record<ConnectionState, readonly [string, Tone]>> = {
  idle: ['Not connected', 'plain'],
  connecting: ['Connecting', 'warn'],
  connected: ['Connected', 'ok'],
  reconnecting: ['Reconnecting', 'warn'],
  disconnected: ['Disconnected', 'bad'],
};

function StateBadge({ state }: { state: ConnectionState }) {
  const [word, tone] = states[state];
  return <Badge tone={tone}>{word}</Badge>;
}

/** Another connection of this page, so that what moves has been through the media node. */
function useGuest(mint: Mint, onFailed: (error: unknown) => void) {
  const [guest, setGuest] = useState<{ leave(): Promise<void> } | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => () => void guest?.leave(), [guest]);
  return {
    isHere: guest !== null,
    isBusy,
    async toggle(): Promise<void> {
      if (guest) return setGuest(null);
      setBusy(true);
      try {
        setGuest(await startGuest(mint));
      } catch (error) {
        onFailed(error);
      } finally {
        setBusy(false);
      }
    },
  };
}

/** How long the token holds; the server gives a new one in time while the call goes on. */
function TokenClock({ call }: { call: Call }) {
  const [expiresAt, setExpiresAt] = useState(() => Date.parse(call.token.expiresAt));
  useEffect(() => call.onRenewed(setExpiresAt), [call]);
  const left = Math.max(0, Math.round((expiresAt - useNow()) / 1000));
  const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  return (
    <span className="muted" role="timer" aria-label="Token">
      Token <span className="mono">{text}</span>
    </span>
  );
}
