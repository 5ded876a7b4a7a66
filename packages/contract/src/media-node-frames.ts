import type { Description } from '@parley/media-description';
import { type Static, type TObject, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { trackMetadataBytesMax } from './limits.ts';
import {
  CloseReason,
  MEDIA_CONTROL_DATA_BYTES_MAX,
  type MediaCommandName,
  mediaAddress,
  NodePipes,
  Permissions,
} from './media-requests.ts';
import { ConnectionQuality, TrackKind, TrackSource } from './rooms/enums.ts';
import { Nullable, Timestamp } from './schema.ts';

/**
 * What a media node says, as schemas: the control plane checks every frame, since one node must not be able to harm
 * the others. Unknown events, unknown fields and unknown error codes are of a newer node and are no fault.
 */
const Text = Type.String({ minLength: 1, maxLength: 256 });
const Size = Nullable(Type.Integer({ minimum: 0 }));
const Counter = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Passed to the client, which reads every field of it. */
const NodeDescription = Type.Unsafe<Description>(
  Type.Object({ media: Type.Array(Type.Object({}), { maxItems: 1000 }) }),
);
const Samples = Type.Array(Nullable(Type.Number({ minimum: 0 })), { maxItems: 12 });
const Empty = Type.Unsafe<Record<string, never>>(Type.Object({}));

const Transport = Type.Enum(['pub', 'sub']);
const TransportState = Type.Enum(['NEW', 'CONNECTING', 'CONNECTED', 'DISCONNECTED', 'FAILED', 'CLOSED']);
export type MediaTransportState = Static<typeof TransportState>;

const Layer = Type.Object({
  /** Empty for a track without simulcast. */
  rid: Type.String({ maxLength: 256 }),
  width: Size,
  height: Size,
  /** Bits per second: declared by the publisher, then measured. */
  bitrate: Nullable(Type.Number({ minimum: 0 })),
});

export type MediaLayer = Static<typeof Layer>;

/** A published track as the node knows it; the fields of the contract's Track record. */
const PublishedTrack = Type.Object({
  id: Text,
  kind: TrackKind,
  source: TrackSource,
  name: Nullable(Type.String({ maxLength: 256 })),
  /** Left out by nodes of the version before. */
  metadata: Type.Optional(Nullable(Type.String({ maxLength: trackMetadataBytesMax }))),
  muted: Type.Boolean(),
  codec: Type.String({ maxLength: 256 }),
  width: Size,
  height: Size,
  simulcast: Type.Boolean(),
  layers: Type.Array(Layer, { maxItems: 16 }),
  publishedAt: Timestamp,
});
export type MediaTrack = Static<typeof PublishedTrack>;

const ParticipantSnapshot = Type.Object({
  participant: Text,
  identity: Text,
  state: Type.Enum(['JOINING', 'JOINED', 'ACTIVE']),
  permissions: Permissions,
  joinedAt: Timestamp,
  quality: Nullable(ConnectionQuality),
  transports: Type.Object({ pub: Nullable(TransportState), sub: Nullable(TransportState) }),
  tracks: Type.Array(PublishedTrack),
  /** Ids of the tracks this participant receives or is about to. */
  subscriptions: Type.Array(Text),
});
export type MediaParticipantSnapshot = Static<typeof ParticipantSnapshot>;

const RoomSnapshot = Type.Object({
  room: Text,
  openedAt: Timestamp,
  participants: Type.Array(ParticipantSnapshot),
});
export type MediaRoomSnapshot = Static<typeof RoomSnapshot>;

const TransportStats = Type.Object({
  state: TransportState,
  rttMs: Nullable(Type.Number()),
  packetLossPercent: Nullable(Type.Number()),
  jitterMs: Nullable(Type.Number()),
  inBps: Type.Number(),
  outBps: Type.Number(),
  /**
   * What the node believes can be sent to this participant (`sub`) or received from it (`pub`); null for a publisher
   * that estimates by itself.
   */
  availableBps: Nullable(Type.Number()),
});
export type MediaTransportStats = Static<typeof TransportStats>;

const SubscribeResult = Type.Object({
  accepted: Type.Array(Text),
  refused: Type.Array(Type.Object({ id: Type.String(), code: Type.Enum(['FORBIDDEN', 'NOT_FOUND']) })),
});
export type MediaSubscribeResult = Static<typeof SubscribeResult>;

/** Name → what comes back. Every command is answered exactly once. */
export const mediaResponses = {
  /** `busy`: there is somebody in the room, and all processes of the node are as busy as they may get by those who join. */
  'room.open': Type.Object({ created: Type.Boolean(), busy: Type.Optional(Type.Boolean()) }),
  'node.meet': Empty,
  'room.link': Type.Object({ unknown: Type.Array(Text), pipes: Type.Optional(NodePipes) }),
  'room.close': Type.Object({ closed: Type.Boolean() }),
  'participant.add': Type.Object({ participant: ParticipantSnapshot, participants: Type.Array(ParticipantSnapshot) }),
  'participant.attach': Type.Object({ participant: ParticipantSnapshot }),
  'participant.remove': Type.Object({ removed: Type.Boolean() }),
  'participant.update': Empty,
  'pub.offer': Type.Object({
    /** Muted: the server had muted the track that this one takes the place of. */
    tracks: Type.Array(Type.Object({ cid: Text, trackId: Text, mutedByServer: Type.Optional(Type.Boolean()) })),
    description: NodeDescription,
  }),
  'pub.unpublish': Type.Object({ description: NodeDescription }),
  'sub.answer': Empty,
  'sub.accept': Type.Object({ description: NodeDescription }),
  ice: Empty,
  'ice.restart': Type.Object({ description: Nullable(NodeDescription) }),
  'track.mute': Type.Object({ changed: Type.Boolean() }),
  'track.settings': Empty,
  subscribe: SubscribeResult,
  unsubscribe: SubscribeResult,
  'data.send': Type.Object({ delivered: Counter }),
  snapshot: Type.Object({ rooms: Type.Array(RoomSnapshot), seq: Counter }),
  stats: Type.Object({
    participants: Type.Array(
      Type.Object({
        participant: Text,
        identity: Text,
        pub: Nullable(TransportStats),
        sub: Nullable(TransportStats),
      }),
    ),
  }),
  ping: Type.Object({ at: Timestamp }),
} satisfies Record<MediaCommandName, unknown>;

export type MediaResponses = { [Name in MediaCommandName]: Static<(typeof mediaResponses)[Name]> };

const participant = { ...mediaAddress, identity: Text };

const streamState = {
  trackId: Text,
  state: Type.Enum(['ACTIVE', 'PAUSED']),
  reason: Nullable(Type.Enum(['BANDWIDTH', 'SETTINGS', 'MUTED'])),
  /** Layer being sent, 0 the lowest; null while paused. */
  layer: Nullable(Type.Integer()),
};

/** Name → data. `mediaEventAudience` says who hears which. */
export const mediaEvents = {
  /** The node's offer: the first is whole, later ones carry changed entries only. Answer with `sub.answer`. */
  'sub.offer': Type.Object({
    ...mediaAddress,
    revision: Counter,
    restart: Type.Boolean(),
    description: NodeDescription,
  }),
  'transport.state': Type.Object({ ...mediaAddress, pc: Transport, state: TransportState }),
  /** What arrives of a track: PAUSED by bandwidth, by the subscriber's settings or because it is muted. */
  'stream.state': Type.Object({ ...mediaAddress, ...streamState }),
  /**
   * The same of all tracks whose state changed, in a room with more than 50 people, at most twice a second: for a control
   * plane that said `streamStates`.
   */
  'stream.states': Type.Object({ ...mediaAddress, states: Type.Array(Type.Object(streamState)) }),
  /** To the publisher: layers without a subscriber may be turned off. */
  'publish.quality': Type.Object({
    ...mediaAddress,
    trackId: Text,
    layers: Type.Array(Type.Object({ rid: Type.String({ maxLength: 256 }), enabled: Type.Boolean() }), {
      maxItems: 16,
    }),
    /** About the backup codec: somebody needs it. Without layers: it is to be published. */
    backup: Type.Optional(Type.Boolean()),
  }),
  /** For a receiver that has no open data channel. */
  data: Type.Object({
    ...mediaAddress,
    from: Nullable(Text),
    topic: Nullable(Type.String({ maxLength: 256 })),
    payload: Type.String({ maxLength: MEDIA_CONTROL_DATA_BYTES_MAX * 2 }),
    encoding: Type.Enum(['utf8', 'base64']),
    at: Timestamp,
  }),
  /** The node ended this participant by itself or on command; nothing more comes for it. */
  'participant.closed': Type.Object({ ...participant, reason: CloseReason }),
  /** JOINED once a transport connects, ACTIVE once media or data flows. */
  'participant.state': Type.Object({ ...participant, state: Type.Enum(['JOINED', 'ACTIVE']) }),
  'track.published': Type.Object({ ...participant, track: PublishedTrack }),
  /** The first packet came; `track` says what it really is. */
  'track.started': Type.Object({ ...participant, track: PublishedTrack }),
  'track.unpublished': Type.Object({ ...participant, trackId: Text }),
  'track.muted': Type.Object({
    ...participant,
    trackId: Text,
    muted: Type.Boolean(),
    by: Type.Enum(['PUBLISHER', 'SERVER']),
  }),
  /** On change, at most every 500 ms. */
  speakers: Type.Object({
    room: Text,
    speakers: Type.Array(Type.Object({ identity: Text, level: Type.Number(), active: Type.Boolean() })),
  }),
  /** On change, at most every 5 s. */
  quality: Type.Object({
    room: Text,
    updates: Type.Array(Type.Object({ identity: Text, quality: ConnectionQuality, score: Type.Number() })),
  }),
  /**
   * Every 45 s: what the node counted of each track on its way from the participant
   * (`out`) or to it (`in`), a value for each sample. Best effort: a batch that comes too early is left out.
   */
  'track.samples': Type.Object({
    ...mediaAddress,
    everyMs: Type.Integer({ minimum: 1_000, maximum: 60_000 }),
    tracks: Type.Array(
      Type.Object({
        id: Text,
        way: Type.Enum(['out', 'in']),
        kind: Type.Enum(['audio', 'video']),
        kbps: Samples,
        /** Percent of the packets, also of those that were repeated. */
        loss: Samples,
      }),
      { minItems: 1, maxItems: 32 },
    ),
  }),
  'room.closed': Type.Object({ room: Text, reason: CloseReason }),
  /** Another node of the room is not heard on any pipe. Repeated while that is so. */
  'node.silent': Type.Object({ room: Text, node: Text }),
} satisfies Record<string, TObject>;

export type MediaEventName = keyof typeof mediaEvents;
export type MediaEvents = { [Name in MediaEventName]: Static<(typeof mediaEvents)[Name]> };

const Hello = Type.Object({
  protocol: Type.Integer(),
  node: Text,
  /** New at each start of the node: another value means that every room is gone. */
  instanceId: Text,
  /** That the node knows the secret: see media-control-auth.ts. */
  proof: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** True: every event after `since` follows. False: ask for a `snapshot`. */
  resumed: Type.Boolean(),
  /** Sequence of the latest event for this controller. */
  seq: Counter,
  draining: Type.Boolean(),
  /** Its TURN relay, as clients reach it; left out when it has none. */
  turn: Type.Optional(
    Type.Object({ urls: Type.Array(Type.String({ pattern: '^turns?:', maxLength: 300 }), { maxItems: 8 }) }),
  ),
  /** How other nodes reach it; left out when rooms of it stay on it. */
  pipes: Type.Optional(NodePipes),
});
export type MediaHello = Static<typeof Hello>;

/**
 * `BAD_DESCRIPTION`: not a description, or none of its codecs is one of ours. `FULL`: this node takes no more rooms.
 * `RATE_LIMITED`: too many data messages for receivers without a data channel, for a second.
 */
const ErrorCode = Type.Enum([
  'BAD_REQUEST',
  'BAD_DESCRIPTION',
  'NOT_FOUND',
  'FORBIDDEN',
  'STALE',
  'DRAINING',
  'FULL',
  'RATE_LIMITED',
  'INTERNAL',
]);
export type MediaErrorCode = Static<typeof ErrorCode>;

const frames = {
  hello: Compile(Type.Object({ type: Type.Literal('hello'), data: Hello })),
  refusal: Compile(
    Type.Object({ ref: Counter, error: Type.Object({ code: Text, message: Type.String({ maxLength: 4096 }) }) }),
  ),
  response: Compile(Type.Object({ ref: Counter, data: Type.Object({}) })),
  event: Compile(
    Type.Object({
      seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      type: Text,
      data: Type.Object({}),
    }),
  ),
  errorCode: Compile(ErrorCode),
};

export type MediaEventFrame<Name extends MediaEventName = MediaEventName> = {
  [N in Name]: { seq: number; type: N; data: MediaEvents[N] };
}[Name];

export type ParsedNodeFrame =
  | { is: 'hello'; hello: MediaHello }
  /** Its data is checked with `isMediaResponse`, by the caller that knows the command. */
  | { is: 'response'; ref: number; data: object }
  | { is: 'refusal'; ref: number; code: MediaErrorCode; message: string }
  | { is: 'event'; frame: MediaEventFrame }
  /** Of a newer node. */
  | { is: 'unknown event'; seq: number };

/** Null when it is no frame of a node. */
export function parseMediaNodeFrame(text: string): ParsedNodeFrame | null {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return null;
  }
  if (frames.hello.Check(frame)) return { is: 'hello', hello: frame.data };
  if (frames.refusal.Check(frame)) {
    const { code, message } = frame.error;
    return { is: 'refusal', ref: frame.ref, code: frames.errorCode.Check(code) ? code : 'INTERNAL', message };
  }
  if (frames.response.Check(frame)) return { is: 'response', ref: frame.ref, data: frame.data };
  if (!frames.event.Check(frame)) return null;
  if (!Object.hasOwn(mediaEvents, frame.type)) return { is: 'unknown event', seq: frame.seq };
  return isEvent(frame) ? { is: 'event', frame } : null;
}

const validators = new Map<TObject, Validator>();

function fits(row: TObject, data: unknown): boolean {
  const validator = validators.get(row) ?? Compile(row);
  validators.set(row, validator);
  return validator.Check(data);
}

const isEvent = (frame: { seq: number; type: string; data: object }): frame is MediaEventFrame =>
  fits(mediaEvents[frame.type as MediaEventName], frame.data);

export const isMediaResponse = <Name extends MediaCommandName>(
  name: Name,
  data: object,
): data is MediaResponses[Name] => fits(mediaResponses[name] as TObject, data);
