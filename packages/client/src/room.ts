import type { ConnectOptions } from './connection.ts';
import { createCredential } from './credential.ts';
import { asSvcError, ConnectionError, errorFrom, type SvcError, type WireError } from './errors.ts';
import { createEmitter, type Events } from './events.ts';
import { baseUrlOf } from './http.ts';
import type { Frame } from './link.ts';
import { type AdaptiveStream, createAdaptiveStream } from './media/adaptive-stream.ts';
import { type Audience, createAudience } from './media/audience.ts';
import { fromFrame, sendData } from './media/data.ts';
import { LocalParticipant } from './media/local-participant.ts';
import type { LocalTrack } from './media/local-track.ts';
import { createMediaHealth, type MediaHealth } from './media/media-health.ts';
import { createPublisher, type Publisher } from './media/publisher.ts';
import type { RemoteParticipant } from './media/remote-participant.ts';
import { createReporter, type Reporter } from './media/reporter.ts';
import { createSubscriber, type SubOffer, type Subscriber } from './media/subscriber.ts';
import { createVitals, type Vitals } from './media/vitals.ts';
import type { ConnectionState } from './reconnect.ts';
import type { Logger, RoomEvents, RoomOptions, RoomState } from './room-types.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import type { JoinedFrame, ParticipantRecord, Permissions } from './signal/records.ts';
import { Roster } from './signal/roster.ts';
import { createRpc, type Rpc, type RpcHandler } from './signal/rpc.ts';
import { createSignal, type Signal } from './signal/signal-client.ts';
import { createTelemetry, noTelemetry, type Telemetry } from './signal/telemetry.ts';
import { createDerivedStore, type DerivedStore, type Store } from './store.ts';

/** A participant keeps its place for 20 s; two minutes are for servers that restart. */
const GIVE_UP_AFTER_MS = 120_000;

/** A call. Everything in it is told as events and shown in `state`. */
export class Room implements Events<RoomEvents>, AsyncDisposable {
  readonly state: Store<RoomState>;
  readonly self: LocalParticipant;
  /** The id this connection has in the dashboard. */
  readonly connectionId: string;
  readonly on: Events<RoomEvents>['on'];
  readonly once: Events<RoomEvents>['once'];
  readonly #events = createEmitter<RoomEvents>();
  readonly #state: DerivedStore<RoomState>;
  readonly #signal: Signal;
  readonly #roster: Roster;
  readonly #audience: Audience;
  readonly #publisher: Publisher;
  readonly #subscriber: Subscriber;
  readonly #adaptive: AdaptiveStream;
  readonly #health: MediaHealth;
  readonly #telemetry: Telemetry;
  readonly #reporter: Reporter;
  readonly #rpc: Rpc;
  readonly #vitals: Vitals;
  readonly #logger: Logger | undefined;
  readonly #blocked = new Set<HTMLMediaElement>();
  #iceServers: RTCIceServer[] = [];
  #connection: ConnectionState = 'idle';
  #isMediaBroken = false;
  /** The last join did not take up an earlier session. */
  #isFresh = false;

  /** The second argument is for tests: another clock, another socket. */
  constructor(options: RoomOptions, runtime: Runtime = systemRuntime) {
    const baseUrl = baseUrlOf(options.url);
    const { autoSubscribe = true, adaptiveStream = true, telemetry = true, reconnect = {}, logger } = options;
    this.on = this.#events.on;
    this.once = this.#events.once;
    this.connectionId = runtime.newId();
    this.#logger = logger;
    this.#state = createDerivedStore(() => this.#snapshot());
    this.state = this.#state;
    const credential = createCredential(options.token);
    const { connectionId } = this;
    this.#telemetry = telemetry ? createTelemetry({ baseUrl, credential, runtime, connectionId }) : noTelemetry;
    this.#reporter = createReporter({
      runtime,
      telemetry: this.#telemetry,
      peer: (name) => (name === 'pub' ? this.#publisher : this.#subscriber).peer,
    });
    this.#signal = createSignal({
      baseUrl,
      credential,
      reconnect: reconnect && { giveUpAfterMs: GIVE_UP_AFTER_MS, ...reconnect },
      runtime,
      connectionId,
      autoSubscribe,
      adaptiveStream,
      onJoined: (joined, participants) => this.#joined(joined, participants),
      onFrame: (frame) => this.#handle(frame),
      onTokenExpiring: (inSeconds) => this.#events.emit('tokenExpiring', inSeconds),
      onState: (state, _previous, error) => this.#signalMoved(state, error),
    });
    const request = (type: string, fields: object) => this.#signal.request(type, fields);
    this.#rpc = createRpc({ runtime, request, send: this.#signal.send });
    this.#adaptive = createAdaptiveStream({
      runtime,
      isOn: adaptiveStream,
      send: (updates) => this.#signal.send('track.settings', { updates }),
    });
    this.#publisher = createPublisher({
      newPeerConnection: () => new RTCPeerConnection({ iceServers: this.#iceServers }),
      request,
      whenConnected: () => this.#signal.whenConnected(),
      onState: (state) => this.#transport('pub', state),
    });
    this.#subscriber = createSubscriber({
      newPeerConnection: () => new RTCPeerConnection({ iceServers: this.#iceServers }),
      request,
      onTrack: (trackId, media) => this.#audience.arrived(trackId, media),
      onTrackGone: (trackId) => this.#audience.gone(trackId),
      onData: ({ head, payload }) => this.#data(payload, head.from ?? null, head.topic),
      onState: (state) => this.#transport('sub', state),
    });
    this.#health = createMediaHealth({
      runtime,
      restart: (transport) =>
        transport === 'pub' ? this.#publisher.restart() : request('ice.restart', { pc: 'sub' }).then(() => {}),
      isSignalConnected: () => this.#signal.state === 'connected',
      rejoin: () => this.#signal.rejoin(),
      giveUp: () => this.#signal.stop('node_lost'),
      onBroken: (isBroken) => {
        this.#isMediaBroken = isBroken;
        this.#moved();
      },
    });
    this.#audience = this.#createAudience(request);
    this.#roster = new Roster((event) => this.#audience.take(event));
    this.self = this.#createSelf(request);
    this.#vitals = createVitals({
      everybody: () => [this.self, ...this.participants.values()],
      onChange: () => this.#state.invalidate(),
      onSpeakers: (speaking) => this.#events.emit('activeSpeakersChanged', speaking),
      onQuality: (quality, participant) => this.#events.emit('qualityChanged', quality, participant),
    });
  }

  /** Everybody else, by identity. */
  get participants(): ReadonlyMap<string, RemoteParticipant> {
    return this.#audience.participants;
  }

  /** Resolves once this participant is in the room; rejects with a ConnectionError whose `reason` says why not. */
  async connect(options?: ConnectOptions): Promise<void> {
    await this.#signal.connect(options);
  }

  /** Leaves for good; tracks are stopped. `connect()` comes back. */
  async leave(): Promise<void> {
    if (this.#signal.state === 'idle' || this.#signal.state === 'disconnected') return;
    this.#telemetry.note('left');
    this.#signal.send('leave', { reason: 'CLIENT_INITIATED' });
    this.#signal.disconnect();
  }

  /** Call it in a click when `audioBlocked` was told: browsers play sound only after a gesture. */
  async startAudio(): Promise<void> {
    await Promise.all([...this.#blocked].map((element) => element.play()));
    this.#blocked.clear();
    this.#events.emit('audioBlocked', false);
  }

  /** Answers questions other participants ask with `self.rpc`. */
  handleRpc(method: string, handler: RpcHandler): () => void {
    return this.#rpc.handle(method, handler);
  }

  /** Of both transports; null for one that is not open. */
  async getStats(): Promise<{ pub: RTCStatsReport | null; sub: RTCStatsReport | null }> {
    const [pub, sub] = [this.#publisher, this.#subscriber].map(({ peer }) => peer?.getStats() ?? null);
    return { pub: (await pub) ?? null, sub: (await sub) ?? null };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  #createAudience(request: (type: string, fields: object) => Promise<unknown>): Audience {
    const tell =
      <K extends keyof RoomEvents>(name: K) =>
      (...args: RoomEvents[K]): void => {
        this.#state.invalidate();
        this.#events.emit(name, ...args);
      };
    return createAudience(
      {
        participantJoined: tell('participantJoined'),
        participantLeft: tell('participantLeft'),
        participantUpdated: tell('participantUpdated'),
        trackPublished: tell('trackPublished'),
        trackUnpublished: tell('trackUnpublished'),
        trackSubscribed: (track, participant) => {
          this.#telemetry.note('track.subscribed', { trackId: track.id });
          if (track.kind === 'video') this.#reporter.awaitFirstFrame(track.id, track.mediaStreamTrack);
          tell('trackSubscribed')(track, participant);
        },
        trackUnsubscribed: (track, participant) => {
          this.#telemetry.note('track.unsubscribed', { trackId: track.id });
          this.#adaptive.forget(track.id);
          tell('trackUnsubscribed')(track, participant);
        },
        trackMuted: (id, participant, isMuted) => tell(isMuted ? 'trackMuted' : 'trackUnmuted')(id, participant),
      },
      {
        participant: {
          subscribe: async (trackIds) => void (await request('subscribe', { trackIds })),
          unsubscribe: async (trackIds) => void (await request('unsubscribe', { trackIds })),
        },
        track: {
          wish: this.#adaptive.wish,
          shown: this.#adaptive.show,
          hidden: (trackId, element) => {
            this.#blocked.delete(element);
            this.#adaptive.hide(trackId, element);
          },
          blocked: (element) => {
            this.#blocked.add(element);
            this.#events.emit('audioBlocked', true);
          },
          getStats: (trackId) => this.#subscriber.getStats(trackId),
        },
      },
    );
  }

  #createSelf(request: (type: string, fields: object) => Promise<unknown>): LocalParticipant {
    return new LocalParticipant({
      publish: async (tracks) => {
        await this.#publisher.publish(tracks);
        for (const { id, source } of tracks) this.#telemetry.note('track.published', { trackId: id, source });
        this.#state.invalidate();
      },
      unpublish: async (track) => {
        this.#state.invalidate();
        await this.#publisher.unpublish(track);
      },
      replace: (track, media) => this.#publisher.replace(track, media),
      setMuted: (track, isMuted) => this.#setMuted(track, isMuted),
      getStats: (track) => this.#publisher.getStats(track),
      sendData: (payload, data) => sendData({ channel: this.#subscriber.channel, request }, payload, data),
      setMetadata: async (metadata) => void (await request('participant.update', { metadata })),
      rpc: (to, method, payload, timeoutMs) => this.#rpc.ask(to, method, payload, timeoutMs),
      onError: (error) => this.#failed(error),
      onDeviceFailed: this.#reporter.deviceFailed,
    });
  }

  /** Nothing is sent from the first moment; without a connection the others hear of it with the next. */
  async #setMuted({ id }: LocalTrack, isMuted: boolean): Promise<void> {
    this.#state.invalidate();
    if (!id) return;
    this.#events.emit(isMuted ? 'trackMuted' : 'trackUnmuted', id, this.self);
    try {
      await this.#signal.request('track.mute', { trackId: id, muted: isMuted });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  #joined({ resumed, participant, iceServers }: JoinedFrame, participants: readonly ParticipantRecord[]): void {
    const { self } = this;
    self.identity = participant.identity;
    self.sessionId = participant.sessionId;
    self.metadata = participant.metadata;
    self.permissions = participant.permissions;
    this.#iceServers = iceServers;
    this.#isFresh = !resumed;
    if (!resumed) {
      this.#subscriber.close();
      this.#roster.replace(participants);
      this.#adaptive.reset();
    }
    this.#state.invalidate();
  }

  #signalMoved(state: ConnectionState, error: ConnectionError | undefined): void {
    if (state === 'connected') {
      if (this.#isFresh) this.#publisher.reset().catch((cause) => this.#failed(asSvcError(cause)));
      else
        for (const { id, isMuted } of this.self.tracks)
          this.#signal.send('track.mute', { trackId: id, muted: isMuted });
      this.#health.signalConnected(this.#isFresh);
      if (this.#isFresh) this.#reporter.start();
    }
    this.#moved(error);
  }

  #handle(frame: Frame): void {
    this.#logger?.debug(`frame ${frame.type}`, frame);
    if (this.#isOwn(frame)) return;
    if (this.#roster.take(frame) || this.#rpc.take(frame) || this.#vitals.take(frame)) return;
    this.#handlers[frame.type]?.(frame);
  }

  /** What the room tells of this participant; it knows most of it already. */
  #isOwn(frame: Frame): boolean {
    const record = frame['participant'] as ParticipantRecord | undefined;
    if (record?.identity !== this.self.identity) return frame['identity'] === this.self.identity;
    if (record.sessionId === this.self.sessionId) this.self.metadata = record.metadata;
    this.#state.invalidate();
    this.#events.emit('participantUpdated', this.self);
    return true;
  }

  /** Frames of the contract's table that are not about who is in the room. */
  readonly #handlers: Readonly<Record<string, (frame: Frame) => void>> = {
    'sub.offer': (frame) => {
      this.#subscriber
        .offer(frame as unknown as SubOffer)
        // A lost connection repeats the offer; anything else is a transport that cannot be used as it is.
        .catch((error) => error instanceof ConnectionError || this.#failed(asSvcError(error)));
    },
    'publish.quality': (frame) => {
      const { trackId, layers } = frame as unknown as { trackId: string; layers: { rid: string; enabled: boolean }[] };
      this.#publisher.setLayers(trackId, layers).catch((error) => this.#failed(asSvcError(error)));
    },
    data: (frame) => {
      const { payload, encoding, from, topic } = frame as unknown as DataFrame;
      this.#data(fromFrame(payload, encoding), from, topic ?? undefined);
    },
    'permissions.changed': (frame) => {
      this.self.permissions = frame['permissions'] as Permissions;
      this.#state.invalidate();
      this.#events.emit('participantUpdated', this.self);
    },
    'server.mute': (frame) => {
      const id = String(frame['trackId']);
      this.#events.emit(frame['muted'] ? 'trackMuted' : 'trackUnmuted', id, this.self);
    },
    error: (frame) => this.#failed(errorFrom(frame as WireError)),
  };

  #data(payload: Uint8Array, from: string | null, topic: string | undefined): void {
    const sender = from === null ? null : (this.participants.get(from) ?? null);
    this.#events.emit('dataReceived', payload, sender, ...(topic === undefined ? [] : ([topic] as const)));
  }

  #transport(name: 'pub' | 'sub', state: RTCPeerConnectionState): void {
    this.#reporter.transport(name, state);
    this.#health.changed(name, state);
  }

  /** One state out of two: the signaling connection's, and whether media flows. */
  #moved(error?: ConnectionError): void {
    const { state } = this.#signal;
    const next = state === 'connected' && this.#isMediaBroken ? 'reconnecting' : state;
    if (next === 'disconnected') this.#end(error);
    const previous = this.#connection;
    if (next === previous) return;
    this.#connection = next;
    this.#telemetry.note(`signaling.${next === 'connected' && previous === 'reconnecting' ? 'reconnected' : next}`);
    if (next === 'disconnected') this.#telemetry.flush();
    this.#logger?.debug(`${previous} → ${next}`, error);
    this.#state.invalidate();
    this.#events.emit('connectionStateChanged', next, previous, error);
  }

  /** Nothing of the stay is left: no tiles, no devices, no timers. */
  #end(error: ConnectionError | undefined): void {
    this.#isMediaBroken = false;
    this.#health.close();
    this.#reporter.stop();
    this.#rpc.close(error ?? new ConnectionError('client'));
    this.#subscriber.close();
    this.#roster.clear(error ? 'UNKNOWN' : 'CLIENT_INITIATED');
    this.#adaptive.close();
    this.#publisher.close();
    for (const track of this.self.tracks) track.end();
    this.self.tracks.clear();
    this.self.permissions = null;
  }

  #failed(error: SvcError): void {
    this.#logger?.warn(error.message, error);
    this.#telemetry.note('error', { code: error.code });
    this.#events.emit('error', error);
  }

  #snapshot(): RoomState {
    const isIn = this.self.permissions !== null;
    return {
      connection: this.#connection,
      participants: [...this.participants.values()],
      self: isIn ? this.self : null,
    };
  }
}

interface DataFrame {
  payload: string;
  encoding: string;
  from: string | null;
  topic: string | null;
}
