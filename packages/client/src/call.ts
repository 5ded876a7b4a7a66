import type { SignalingServerFrames } from '@parley/contract';
import { createCallDevices } from './call-devices.ts';
import { createCallFrameHandlers } from './call-frames.ts';
import { createCallLifecycle } from './call-lifecycle.ts';
import { createCallParticipants } from './call-participants.ts';
import type { CallRuntime } from './call-runtime.ts';
import { createCallSelf } from './call-self.ts';
import { createCredential } from './credential.ts';
import type { SvcError } from './errors.ts';
import { createEmitter, type Events } from './events.ts';
import { dispatch } from './frames.ts';
import { baseUrlOf } from './http.ts';
import { createAdaptiveStream } from './media/adaptive-stream.ts';
import { createAutoplay } from './media/autoplay.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import { createParticipantStatus } from './media/participant-status.ts';
import type { RemoteParticipant } from './media/remote-participant.ts';
import { createTransports, type Transports } from './media/transports.ts';
import { keep, keepList, outdate, readState, stateOf } from './participant-state.ts';
import type { Participant, RoomEvents, RoomOptions, RoomState } from './room-types.ts';
import type { ConnectOptions } from './session.ts';
import { createRpc, type Rpc } from './signal/rpc.ts';
import { type CallFrame, createSignal } from './signal/signal-client.ts';
import { createTelemetry, noTelemetry } from './signal/telemetry.ts';
import { createDerivedStore, type Store } from './store.ts';

/** A participant keeps its place for 20 s; two minutes are for servers that restart. */
const GIVE_UP_AFTER_MS = 120_000;

export interface Call {
  readonly connectionId: string;
  readonly events: Events<RoomEvents>;
  readonly state: Store<RoomState>;
  readonly self: LocalParticipant;
  readonly participants: ReadonlyMap<string, RemoteParticipant>;
  readonly handleRpc: Rpc['handle'];
  readonly getStats: Transports['getStats'];
  startAudio(): Promise<void>;
  connect(options?: ConnectOptions): Promise<void>;
  leave(): void;
}

/** Wires the parts of a call. None of them holds another but through the functions it is given here. */
export function createCall(options: RoomOptions, runtime: CallRuntime): Call {
  const {
    autoSubscribe = true,
    adaptiveStream = true,
    leaveWithPage = true,
    reconnect = {},
    maxVisible,
    region,
    logger,
  } = options;
  const baseUrl = baseUrlOf(options.url);
  const credential = createCredential(options.token);
  const connectionId = runtime.newId();
  const events = createEmitter<RoomEvents>();
  let drawn: RoomState | null = null;
  const state = createDerivedStore<RoomState>(() => {
    const participants = [...others.participants.values()].map(stateOf);
    const activeSpeakers = status.speaking().map(({ identity }) => identity);
    drawn = keep<RoomState>(drawn, {
      ...lifecycle.state,
      isAudioBlocked: autoplay.isBlocked,
      quality: self.quality,
      participants: keepList(drawn?.participants, participants),
      self: self.permissions === null ? null : readState(self),
      activeSpeakers: keepList(drawn?.activeSpeakers, activeSpeakers),
    });
    return drawn;
  });
  /** Of others, only those who are named are drawn anew. */
  function onChange(...changed: Participant[]): void {
    changed.forEach(outdate);
    state.invalidate();
  }
  const telemetry =
    options.telemetry === false ? noTelemetry : createTelemetry({ baseUrl, credential, runtime, connectionId });

  const signal = createSignal({
    baseUrl,
    credential,
    reconnect: reconnect && { giveUpAfterMs: GIVE_UP_AFTER_MS, ...reconnect },
    runtime,
    connectionId,
    wishes: { autoSubscribe, adaptiveStream, maxVisible, region },
    onJoined: (joined, participants) => lifecycle.joined(joined, participants),
    onFrame(frame) {
      logger?.debug(`frame ${frame.type}`, frame);
      dispatch<SignalingServerFrames, CallFrame['type']>(handlers, frame);
    },
    onTokenExpiring: (inSeconds) => events.emit('tokenExpiring', inSeconds),
    onState(next, _previous, error) {
      watchPage(next !== 'disconnected');
      devices.watch(next !== 'disconnected');
      lifecycle.signalChanged(next, error);
    },
  });
  const rpc = createRpc({
    runtime,
    request: (question) => signal.request({ type: 'rpc.request', ...question }),
    respond: (answer) => signal.send({ type: 'rpc.response', ...answer }),
  });
  const adaptive = createAdaptiveStream({
    runtime,
    isOn: adaptiveStream,
    send: (updates) => signal.send({ type: 'track.settings', updates }),
  });
  const autoplay = createAutoplay((isBlocked) => {
    onChange();
    events.emit('audioBlocked', isBlocked);
  });
  const transports = createTransports({
    runtime,
    telemetry,
    signal,
    onTrack: (trackId, media) => others.arrived(trackId, media),
    onTrackGone: (trackId) => others.gone(trackId),
    onData: ({ head, payload }) => onData(payload, head.from ?? null, head.topic),
    onError,
    onBroken: (isBroken) => lifecycle.mediaBroken(isBroken),
  });
  const { publisher, subscriber, reporter } = transports;
  const devices = createCallDevices(options.devices, () => self);
  const others = createCallParticipants({
    events,
    onChange,
    signal,
    subscriber,
    adaptive,
    autoplay,
    devices,
    telemetry,
    reporter,
  });
  const self = createCallSelf({ events, onChange, signal, transports, rpc, devices, telemetry, onError });
  const status = createParticipantStatus({
    participants: () => [self, ...others.participants.values()],
    find: (identity) => (identity === self.identity ? self : others.participants.get(identity)),
    onChange,
    onSpeakers: (speaking) => events.emit('activeSpeakersChanged', speaking),
    onQuality: (quality, participant) => events.emit('qualityChanged', quality, participant),
  });
  const lifecycle = createCallLifecycle({
    events,
    onChange,
    onError,
    logger,
    signal,
    telemetry,
    self,
    others,
    adaptive,
    transports,
    rpc,
  });
  const handlers = createCallFrameHandlers({
    events,
    lifecycle,
    self,
    others,
    publisher,
    subscriber,
    status,
    rpc,
    onSelfChanged() {
      onChange();
      events.emit('participantUpdated', self);
    },
    onData,
    onError,
  });

  let unwatchPage: (() => void) | null = null;

  /** While there is something to leave. */
  function watchPage(isInCall: boolean): void {
    if (isInCall && leaveWithPage) unwatchPage ??= runtime.onPageHide(leave);
    else {
      unwatchPage?.();
      unwatchPage = null;
    }
  }

  function leave(): void {
    if (signal.state === 'idle' || signal.state === 'disconnected') return;
    telemetry.note('left');
    signal.send({ type: 'leave', reason: 'CLIENT_INITIATED' });
    signal.disconnect();
  }

  function onData(payload: Uint8Array, from: string | null, topic: string | undefined): void {
    const sender = from === null ? null : (others.participants.get(from) ?? null);
    events.emit('dataReceived', payload, sender, ...(topic === undefined ? [] : ([topic] as const)));
  }

  function onError(error: SvcError): void {
    logger?.warn(error.message, error);
    telemetry.note('error', { code: error.code });
    events.emit('error', error);
  }

  return {
    connectionId,
    events,
    state,
    self,
    participants: others.participants,
    handleRpc: rpc.handle,
    getStats: transports.getStats,
    startAudio: autoplay.start,
    connect: signal.connect,
    leave,
  };
}
