import { type ConnectionState, type Room, SvcError } from '@parley/client';
import { Controls, Notices, RoomAudio, Stage, useStore } from '@parley/react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { usePreferences } from '../../frame/preferences.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { announce, useAnnounced } from '../../kit/live.tsx';
import { useNow } from '../../kit/time.tsx';
import { type Call, type Mint, startGuest } from './call.ts';
import { CallFailure } from './call-failure.tsx';
import { type CallWord, t, withNodes } from './texts.ts';

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
  useAnnounced(t('rooms.participantCount', { count: participants.length + 1 }));
  useSwitchAnnounced(isOn(room.self.microphone), 'test-call.microphoneOn', 'test-call.microphoneOff');
  useSwitchAnnounced(isOn(room.self.camera), 'test-call.cameraOn', 'test-call.cameraOff');
  useSwitchAnnounced(room.self.screenShare !== null, 'test-call.screenOn', 'test-call.screenOff');
  return (
    <section className="active-call" aria-label={t('rooms.testCall')}>
      <div className="active-call-head">
        <StateBadge state={connection} />
        <span className="muted">
          {withNodes('test-call.as', { identity: <span className="mono">{room.self.identity}</span> })}
        </span>
        <span className="spacer" />
        <TokenClock call={call} />
        <Button variant="quiet" isBusy={isRenewing} onClick={onRenew} title={t('test-call.renewHint')}>
          {t('test-call.renew')}
        </Button>
        <Button isBusy={guest.isBusy} onClick={() => void guest.toggle()}>
          {t(guest.isHere ? 'test-call.removeGuest' : 'test-call.addGuest')}
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
function useSwitchAnnounced(isNowOn: boolean, on: CallWord, off: CallWord): void {
  const last = useRef(isNowOn);
  useEffect(() => {
    if (last.current !== isNowOn) announce(t(isNowOn ? on : off));
    last.current = isNowOn;
  }, [isNowOn, on, off]);
}

const states: Readonly<Record<ConnectionState, readonly [CallWord, Tone]>> = {
  idle: ['test-call.notConnected', 'plain'],
  connecting: ['test-call.connecting', 'warn'],
  connected: ['words.connected', 'ok'],
  reconnecting: ['test-call.reconnecting', 'warn'],
  disconnected: ['rooms.disconnected', 'bad'],
};

function StateBadge({ state }: { state: ConnectionState }) {
  const [word, tone] = states[state];
  return <Badge tone={tone}>{t(word)}</Badge>;
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
    <span className="muted" role="timer" aria-label={t('test-call.token')}>
      {withNodes('test-call.tokenLeft', { left: <span className="mono">{text}</span> })}
    </span>
  );
}
