import { type ConnectionState, type Room, SvcError } from '@parley/client';
import { Controls, Notices, RoomAudio, Stage, useStore } from '@parley/react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { usePreferences } from '../../frame/preferences.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { announce, useAnnounced } from '../../kit/live.tsx';
import { plural } from '../../kit/numbers.ts';
import { useNow } from '../../kit/time.tsx';
import { type Call, type Mint, startGuest } from './call.ts';
import { CallFailure } from './call-failure.tsx';

interface ActiveCallProps {
  call: Call;
  /** A camera is a mirror; a test card has writing on it. */
  isMirrored: boolean;
  mint: Mint;
  isRenewing: boolean;
  onRenew: () => void;
  onLeave: () => void;
  /** The call ended without our doing. */
  onEnded: (error: SvcError) => void;
}

/** The call itself: who is here, and the controls. */
export function ActiveCall({ call, isMirrored, mint, isRenewing, onRenew, onLeave, onEnded }: ActiveCallProps) {
  const { room } = call;
  const { connection, participants } = useStore(room.state);
  const [failure, setFailure] = useState<unknown>(null);
  const { shortcuts } = usePreferences();
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
  useSwitchAnnounced('Microphone', isOn(room.self.microphone));
  useSwitchAnnounced('Camera', isOn(room.self.camera));
  useSwitchAnnounced('Screen', room.self.screenShare !== null);
  return (
    <section className="active-call" aria-label="Test call">
      <div className="active-call-head">
        <StateBadge state={connection} />
        <span className="muted">
          as <span className="mono">{room.self.identity}</span>
        </span>
        <span className="spacer" />
        <TokenClock call={call} />
        <Button variant="quiet" isBusy={isRenewing} onClick={onRenew} title="Joins again with a new token">
          Renew token
        </Button>
        <Button isBusy={guest.isBusy} onClick={() => void guest.toggle()}>
          {guest.isHere ? 'Remove the test participant' : 'Add a test participant'}
        </Button>
      </div>
      {failure !== null && <CallFailure error={failure} />}
      <div className="call-frame">
        <div className="call-tiles">
          <Notices room={room} />
          <Stage room={room} isSelfMirrored={isMirrored} />
        </div>
        <Controls
          room={room}
          hasShortcuts={shortcuts === 'on'}
          onLeave={onLeave}
          onError={(error) => !wasDismissed(error) && setFailure(error)}
        />
      </div>
      <RoomAudio room={room} />
    </section>
  );
}

/** Closing the browser's own question is an answer, not a failure. */
const wasDismissed = (error: unknown): boolean => SvcError.is(error) && error.code === 'permission_dismissed';

const isOn = (track: Room['self']['microphone']): boolean => track !== null && !track.isMuted;

/** A letter moves no focus to its button, so the change is said. */
function useSwitchAnnounced(what: string, isNowOn: boolean): void {
  const last = useRef(isNowOn);
  useEffect(() => {
    if (last.current !== isNowOn) announce(`${what} ${isNowOn ? 'on' : 'off'}`);
    last.current = isNowOn;
  }, [what, isNowOn]);
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
