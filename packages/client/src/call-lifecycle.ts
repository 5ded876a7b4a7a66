import { asSvcError, ConnectionError, type DisconnectReason, type SvcError } from './errors.ts';
import type { Emitter } from './events.ts';
import type { AdaptiveStream } from './media/adaptive-stream.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { RemoteParticipants } from './media/remote-participants.ts';
import type { Transports } from './media/transports.ts';
import type { ConnectionState } from './reconnect.ts';
import type { Logger, RoomEvents, RoomState } from './room-types.ts';
import type { JoinedFrame, ParticipantRecord, Permissions } from './signal/records.ts';
import type { Rpc } from './signal/rpc.ts';
import type { Signal } from './signal/signal-client.ts';
import type { Telemetry } from './signal/telemetry.ts';

export interface CallLifecycleDeps {
  events: Emitter<RoomEvents>;
  onChange(): void;
  onError(error: SvcError): void;
  logger: Logger | undefined;
  signal: Pick<Signal, 'state' | 'send'>;
  telemetry: Telemetry;
  self: LocalParticipant;
  others: RemoteParticipants;
  adaptive: AdaptiveStream;
  transports: Transports;
  rpc: Rpc;
}

export interface CallLifecycle {
  readonly state: Pick<RoomState, 'connection' | 'error' | 'reconnectingSince' | 'isRecording'>;
  joined(joined: JoinedFrame, present: readonly ParticipantRecord[]): void;
  signalChanged(state: ConnectionState, error?: ConnectionError): void;
  mediaBroken(isBroken: boolean): void;
  roomUpdated(room: Pick<JoinedFrame['room'], 'recording'>): void;
  permitted(permissions: Permissions): void;
}

/** After these the token opens nothing any more. */
const ENDED_BY_SERVICE: readonly DisconnectReason[] = ['token_expired', 'token_revoked', 'room_closed', 'removed'];

/** Joins, resumes and ends a call. Its state is one out of two: the signaling connection's, and whether media flows. */
export function createCallLifecycle(deps: CallLifecycleDeps): CallLifecycle {
  const { events, onChange, onError, logger, signal, telemetry, self, others, adaptive, transports, rpc } = deps;
  let state: ConnectionState = 'idle';
  let failure: ConnectionError | null = null;
  let reconnectingSince: number | null = null;
  let isMediaBroken = false;
  let isRecording = false;
  /** The last join did not resume an earlier session. */
  let isNewSession = false;

  function update(error?: ConnectionError): void {
    const next = signal.state === 'connected' && isMediaBroken ? 'reconnecting' : signal.state;
    if (next === 'disconnected') end(error);
    if (error || next !== state) failure = error ?? null;
    if (next === state) return;
    reconnectingSince = next === 'reconnecting' ? Date.now() : null;
    const previous = state;
    state = next;
    telemetry.note(`signaling.${next === 'connected' && previous === 'reconnecting' ? 'reconnected' : next}`);
    if (next === 'disconnected') {
      // The service knows of the end, and would refuse what its token says of it.
      if (error && ENDED_BY_SERVICE.includes(error.reason)) telemetry.drop();
      else telemetry.flush();
    }
    logger?.debug(`${previous} → ${next}`, error);
    onChange();
    events.emit('connectionStateChanged', next, previous, error);
  }

  /** Nothing of the call is left: no participants, no devices, no timers. */
  function end(error: ConnectionError | undefined): void {
    isMediaBroken = false;
    isRecording = false;
    transports.close();
    rpc.close(error ?? new ConnectionError('client'));
    others.clear(error ? 'UNKNOWN' : 'CLIENT_INITIATED');
    adaptive.close();
    for (const track of self.tracks) track.end();
    self.tracks.clear();
    self.permissions = null;
  }

  /** The server may have missed what was muted without a connection. */
  function sendMuted(): void {
    for (const { id, isMutedByUser } of self.tracks)
      if (id) signal.send({ type: 'track.mute', trackId: id, muted: isMutedByUser });
  }

  /** An older server says nothing of it. */
  function roomUpdated({ recording = false }: Partial<Pick<JoinedFrame['room'], 'recording'>>): void {
    if (recording === isRecording) return;
    isRecording = recording;
    onChange();
    events.emit('recordingChanged', recording);
  }

  function permitted(permissions: Permissions): void {
    const before = self.permissions;
    self.permissions = permissions;
    onChange();
    if (before && JSON.stringify(before) !== JSON.stringify(permissions))
      events.emit('permissionsChanged', permissions, self);
  }

  return {
    get state() {
      return { connection: state, error: failure, reconnectingSince, isRecording };
    },
    roomUpdated,
    permitted,
    joined({ resumed, participant, iceServers, room }, present) {
      const { identity, sessionId, metadata, permissions } = participant;
      Object.assign(self, { identity, sessionId, metadata });
      permitted(permissions);
      roomUpdated(room);
      transports.setIceServers(iceServers);
      isNewSession = !resumed;
      if (isNewSession) {
        transports.subscriber.close();
        others.replace(present);
        adaptive.reset();
      }
      onChange();
    },
    signalChanged(next, error) {
      if (next === 'connected') {
        if (!isNewSession) sendMuted();
        // What was published again has other ids.
        transports.signalConnected(isNewSession).then(onChange, (cause) => onError(asSvcError(cause)));
      }
      update(error);
    },
    mediaBroken(isBroken) {
      isMediaBroken = isBroken;
      update();
    },
  };
}
