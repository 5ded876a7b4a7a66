import type { Description as MediaDescription } from '@parley/media-description';
import { type Static, Type } from 'typebox';
import { clientFrames, type ServerFrame, serverFrames } from '../frame.ts';
import { trackMetadataBytesMax } from '../limits.ts';
import { ConnectionQuality, DisconnectReason, TrackKind, TrackSource } from '../rooms/enums.ts';
import { IceServer, Participant, ParticipantMetadata, Room, RtcTokenPermissions, Track } from '../rooms/schemas.ts';
import { Identity, Nullable, Timestamp } from '../schema.ts';
import { RosterEntry, roomEventTypes } from './roster.ts';

export const signalingPath = '/v1/rtc/signal';
export const signalingSubprotocol = 'svc.rtc.v1';
export const signalingProtocol = 1;
export const signalingHeartbeatIntervalMs = 10_000;
export const signalingHeartbeatTimeoutMs = 30_000;
/** How long a participant whose socket was lost keeps their place. */
export const resumeWindowMs = 20_000;

/** The node validates every field; the socket checks only the shape (packages/media-description). */
const Description = Type.Unsafe<MediaDescription>(
  Type.Object({
    ice: Type.Optional(Type.Object({ ufrag: Type.String(), pwd: Type.String() })),
    dtls: Type.Optional(Type.Object({ role: Type.String(), fingerprint: Type.String() })),
    candidates: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    media: Type.Array(Type.Object({ mid: Type.String(), kind: Type.String(), direction: Type.String() }), {
      maxItems: 500,
    }),
  }),
);
/** Of the node, which is trusted. */
const NodeDescription = Type.Unsafe<MediaDescription>(
  Type.Object({ media: Type.Array(Type.Unknown()) }, { additionalProperties: true }),
);

const TrackId = Type.String({ minLength: 1, maxLength: 64 });
const pc = Type.Enum(['pub', 'sub']);
const clientText = Type.Optional(Type.String({ maxLength: 128 }));

export const PublishTrack = Type.Object({
  cid: TrackId,
  kind: TrackKind,
  source: TrackSource,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  /** The application's own text, up to SIGNALING_MAX_TRACK_METADATA_BYTES. */
  metadata: Type.Optional(Type.String({ maxLength: trackMetadataBytesMax })),
  muted: Type.Optional(Type.Boolean()),
  backupCodec: Type.Optional(Type.Enum(['VP8'])),
  backupOf: Type.Optional(TrackId),
  layers: Type.Optional(
    Type.Array(
      Type.Object({
        rid: Type.String({ maxLength: 16 }),
        width: Type.Optional(Type.Integer({ minimum: 1, maximum: 16_384 })),
        height: Type.Optional(Type.Integer({ minimum: 1, maximum: 16_384 })),
        bitrate: Type.Optional(Type.Number({ minimum: 0, maximum: 1e9 })),
      }),
      { maxItems: 3 },
    ),
  ),
});

const TrackChoice = Type.Object({
  trackIds: Type.Optional(Type.Array(TrackId, { maxItems: 300 })),
  identities: Type.Optional(Type.Array(Identity, { maxItems: 100 })),
});

const TrackSettings = Type.Object({
  trackId: TrackId,
  enabled: Type.Optional(Type.Boolean()),
  width: Type.Optional(Type.Integer({ minimum: 0, maximum: 16_384 })),
  height: Type.Optional(Type.Integer({ minimum: 0, maximum: 16_384 })),
  fps: Type.Optional(Type.Number({ minimum: 0, maximum: 240 })),
  maxLayer: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
});

const RpcError = Type.Object({
  code: Type.String({ maxLength: 64 }),
  message: Type.Optional(Type.String({ maxLength: 256 })),
});
export type RpcError = Static<typeof RpcError>;

/** Lists that do not fit a frame are left empty; the counts are always right. */
const TrackChoiceResult = Type.Object({
  accepted: Type.Array(Type.String()),
  refused: Type.Array(Type.Object({ id: Type.String(), code: Type.Enum(['FORBIDDEN', 'NOT_FOUND']) })),
  acceptedCount: Type.Integer(),
  refusedCount: Type.Integer(),
});

/** What a client may send beside `commonClientFrames`. */
export const signalingClientFrames = clientFrames({
  join: {
    data: Type.Object({
      token: Type.Optional(Type.String({ maxLength: 16_384 })),
      connectionId: Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._:-]+$' }),
      autoSubscribe: Type.Optional(Type.Boolean()),
      adaptiveStream: Type.Optional(Type.Boolean()),
      /** Videos at once; filled by what is pinned (`priority`), then shown, then by who spoke last. */
      maxVisible: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      /** The client understands `roster`, `changes` and `stream.states`, which large rooms send instead of one frame each. */
      roster: Type.Optional(Type.Boolean()),
      /** Media from a node there, if there is one with time; the room may be on another. */
      region: Type.Optional(Type.String({ maxLength: 64 })),
      client: Type.Optional(
        Type.Object({
          sdk: clientText,
          version: clientText,
          os: clientText,
          browser: clientText,
          device: clientText,
          network: clientText,
        }),
      ),
      resume: Type.Optional(
        Type.Object({
          sessionId: Type.String({ maxLength: 64 }),
          resumeToken: Type.String({ maxLength: 128 }),
          lastSeq: Type.Integer({ minimum: 0 }),
        }),
      ),
    }),
    does: 'Joins the room of the token, or takes up a session whose socket was lost. Answered by `joined`.',
  },
  publish: {
    data: Type.Object({ tracks: Type.Array(PublishTrack, { maxItems: 16 }), description: Description }),
    replies: Type.Object({
      tracks: Type.Array(
        Type.Object({ cid: Type.String(), trackId: Type.String(), mutedByServer: Type.Optional(Type.Boolean()) }),
      ),
      description: NodeDescription,
    }),
    does: 'Publishes tracks; the answer has their ids, which of them the server had muted before and still does, and the answer description.',
  },
  unpublish: {
    data: Type.Object({ trackIds: Type.Array(TrackId, { minItems: 1, maxItems: 100 }) }),
    replies: Type.Object({ description: NodeDescription }),
    does: 'Takes tracks back; the answer has the changed description.',
  },
  'sub.answer': {
    data: Type.Object({ revision: Type.Integer({ minimum: 0 }), description: Description }),
    does: 'Answers a `sub.offer`: the first time whole, then only what differs from the expected answer.',
  },
  ice: {
    data: Type.Object({
      pc,
      candidates: Type.Array(Type.String({ maxLength: 512 }), { maxItems: 100 }),
      final: Type.Optional(Type.Boolean()),
    }),
    does: 'Sends ICE candidates. Our nodes do not need them: they are at fixed addresses.',
  },
  'ice.restart': {
    data: Type.Object({
      pc,
      description: Type.Optional(Description),
      /** Messages of others on the `reliable` channel of the `sub` transport: those after them come again. */
      received: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    }),
    replies: Type.Object({ description: Nullable(NodeDescription) }),
    does: 'Rebuilds a transport.',
  },
  'track.mute': { data: Type.Object({ trackId: TrackId, muted: Type.Boolean() }), does: 'Mutes an own track.' },
  subscribe: {
    data: TrackChoice,
    replies: TrackChoiceResult,
    does: 'Subscribes to tracks, by id or of whole participants.',
  },
  unsubscribe: { data: TrackChoice, replies: TrackChoiceResult, does: 'Ends subscriptions.' },
  'track.settings': {
    data: Type.Object({ updates: Type.Array(TrackSettings, { minItems: 1, maxItems: 100 }) }),
    does: 'Says how tracks are shown, so that no more is sent than is seen.',
  },
  data: {
    data: Type.Object({
      topic: Type.Optional(Type.String({ maxLength: 64 })),
      payload: Type.String({ maxLength: 12_000 }),
      encoding: Type.Optional(Type.Enum(['utf8', 'base64'])),
      to: Type.Optional(Type.Array(Identity, { maxItems: 100 })),
      reliable: Type.Optional(Type.Boolean()),
    }),
    replies: Type.Object({ delivered: Type.Integer() }),
    does: 'Sends data where no data channel is open; at most 8 KiB.',
  },
  'rpc.request': {
    data: Type.Object({
      to: Identity,
      method: Type.String({ minLength: 1, maxLength: 64 }),
      payload: Type.Optional(Type.String({ maxLength: 8192 })),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
    }),
    replies: Type.Object({ requestId: Type.String() }),
    does: 'Asks another participant; the answer has the `requestId`, `rpc.response` follows.',
  },
  'rpc.response': {
    data: Type.Object({
      requestId: Type.String({ minLength: 1, maxLength: 64 }),
      payload: Type.Optional(Type.String({ maxLength: 8192 })),
      error: Type.Optional(RpcError),
    }),
    does: 'Answers an `rpc.request`.',
  },
  'participant.update': {
    data: Type.Object({ metadata: ParticipantMetadata }),
    does: "Changes the participant's own metadata; needs `updateMetadata`.",
  },
  stats: {
    data: Type.Object({ report: Type.Record(Type.String(), Type.Unknown()) }),
    does: 'Reports measurements; kept with telemetry. Never answered.',
  },
  leave: { data: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 128 })) }), does: 'Leaves for good.' },
});
export type SignalingClientFrames = typeof signalingClientFrames;

const seq = Type.Integer();
const identity = Type.String();
/** Of data and rpc frames; null is the server itself. */
const from = Nullable(Type.String());

export const Joined = Type.Object({
  sessionId: Type.String(),
  resumeToken: Type.String(),
  seq,
  resumed: Type.Boolean(),
  room: Room,
  participant: Participant,
  participants: Type.Array(Participant),
  iceServers: Type.Array(IceServer),
  more: Type.Boolean(),
});
export type Joined = Static<typeof Joined>;

const StreamState = Type.Object({
  trackId: Type.String(),
  state: Type.Enum(['ACTIVE', 'PAUSED']),
  reason: Nullable(Type.Enum(['BANDWIDTH', 'SETTINGS', 'MUTED'])),
  layer: Nullable(Type.Integer()),
});

export const signalingServerFrames = serverFrames({
  hello: {
    data: Type.Object({
      connectionId: Type.String(),
      serverTime: Type.Integer(),
      heartbeatIntervalMs: Type.Integer(),
      heartbeatTimeoutMs: Type.Integer(),
      maxFrameBytes: Type.Integer(),
      maxMessagesPerWindow: Type.Integer(),
      windowSeconds: Type.Integer(),
      protocol: Type.Integer(),
      first: Type.Optional(Type.Literal(true)),
    }),
    when: 'The token was accepted. `first`: the frame that the address carried as `?first=` is being handled.',
  },
  joined: { data: Joined, when: 'A join succeeded. Room events after `seq` follow.' },
  'joined.more': {
    data: Type.Object({ participants: Type.Array(Participant), more: Type.Boolean() }),
    when: 'The list of `joined` did not fit a frame. A participant seen again adds tracks.',
  },
  roster: {
    data: Type.Object({ participants: Type.Array(RosterEntry), more: Type.Boolean() }),
    when: 'The list of `joined` in a large room, page by page, for clients that said `roster`. A field that is left out is as of the participant before in the page; one seen again adds tracks.',
  },
  response: {
    data: Type.Object({ ref: Type.String(), data: Type.Optional(Type.Unknown()) }),
    when: 'Answers a frame.',
  },
  error: {
    data: Type.Object({
      ref: Type.Optional(Type.String()),
      code: Type.String(),
      svcCode: Type.String(),
      message: Type.String(),
      retryable: Type.Boolean(),
      retryAfterSeconds: Type.Optional(Type.Integer()),
      fatal: Type.Optional(Type.Boolean()),
    }),
    when: 'A frame was refused; `fatal`: the connection ends.',
  },
  'sub.offer': {
    data: Type.Object({ revision: Type.Integer(), restart: Type.Boolean(), description: NodeDescription }),
    when: 'Tracks came or went; the first offer is whole, later ones have changed entries only.',
  },
  'participant.joined': { data: Type.Object({ seq, participant: Participant }), when: 'Somebody joined.' },
  'participant.updated': {
    data: Type.Object({ seq, participant: Participant }),
    when: "Somebody's metadata or permissions changed; tracks are left out.",
  },
  'participant.left': {
    data: Type.Object({ seq, identity, reason: DisconnectReason }),
    when: 'Somebody left for good.',
  },
  'track.published': { data: Type.Object({ seq, identity, track: Track }), when: 'A track can be subscribed to.' },
  'track.unpublished': { data: Type.Object({ seq, identity, trackId: Type.String() }), when: 'A track is gone.' },
  'track.muted': {
    data: Type.Object({
      seq,
      identity,
      trackId: Type.String(),
      muted: Type.Boolean(),
      by: Type.Enum(['PUBLISHER', 'SERVER']),
    }),
    when: 'A track was muted or unmuted.',
  },
  changes: {
    data: Type.Object({
      from: seq,
      events: Type.Array(Type.Object({ type: Type.Enum([...roomEventTypes]) }, { additionalProperties: true })),
    }),
    when: 'Room events of a large room together, at most twice a second, for clients that said `roster`: numbered on from `from`, in order, participants as in `roster`. What a client has had already is skipped by its number.',
  },
  'stream.state': { data: StreamState, when: 'What arrives of a subscribed track changed.' },
  'stream.states': {
    data: Type.Object({ states: Type.Array(StreamState) }),
    when: 'The same of several tracks of a large room together, at most twice a second and the last of each, for clients that said `roster`.',
  },
  'publish.quality': {
    data: Type.Object({
      trackId: Type.String(),
      layers: Type.Array(Type.Object({ rid: Type.String(), enabled: Type.Boolean() })),
      backup: Type.Optional(Type.Boolean()),
    }),
    when: 'Layers that nobody watches may be turned off. With `backup` those of the backup codec, which is to be published if it is not.',
  },
  speakers: {
    data: Type.Object({
      speakers: Type.Array(Type.Object({ identity, level: Type.Number(), active: Type.Boolean() })),
    }),
    when: 'Who speaks changed; at most every 500 ms.',
  },
  quality: {
    data: Type.Object({
      updates: Type.Array(
        Type.Object({ identity, quality: Nullable(ConnectionQuality), score: Nullable(Type.Number()) }),
      ),
    }),
    when: 'Connection quality changed; LOST: the socket is gone, the place is kept.',
  },
  data: {
    data: Type.Object({
      from,
      topic: Nullable(Type.String()),
      payload: Type.String(),
      encoding: Type.Enum(['utf8', 'base64']),
      at: Timestamp,
    }),
    when: 'Data for a participant without an open data channel.',
  },
  'rpc.request': {
    data: Type.Object({
      requestId: Type.String(),
      from: Type.String(),
      method: Type.String(),
      payload: Nullable(Type.String()),
      timeoutMs: Type.Integer(),
      at: Timestamp,
    }),
    when: 'Another participant asks.',
  },
  'rpc.response': {
    data: Type.Object({
      requestId: Type.String(),
      from: Type.String(),
      payload: Nullable(Type.String()),
      error: Nullable(RpcError),
      at: Timestamp,
    }),
    when: 'The answer to an own `rpc.request`, or why there is none.',
  },
  'permissions.changed': {
    data: Type.Object({ permissions: RtcTokenPermissions, by: Type.Literal('SERVER') }),
    when: 'What this participant may do changed.',
  },
  'server.mute': {
    data: Type.Object({ trackId: Type.String(), muted: Type.Boolean() }),
    when: 'An own track was muted or unmuted by the server.',
  },
  'room.updated': { data: Type.Object({ seq, room: Room }), when: "The room's own data changed." },
  'room.closed': { data: Type.Object({ reason: DisconnectReason }), when: 'The room was closed; 4410 follows.' },
  'token.refresh': {
    data: Type.Object({ token: Type.String(), expiresAt: Timestamp }),
    when: 'The token ends soon: a fresh one for the next connection.',
  },
  reconnect: {
    data: Type.Object({
      action: Type.Enum(['RESUME', 'RECONNECT', 'DISCONNECT']),
      reason: DisconnectReason,
      afterMs: Type.Integer(),
      url: Type.Optional(Type.String()),
    }),
    when: 'The connection is about to be closed by the server.',
  },
  pong: {
    data: Type.Object({ t: Type.Optional(Type.Unknown()), serverTime: Type.Integer() }),
    when: 'Answers `ping`.',
  },
});
export type SignalingServerFrames = typeof signalingServerFrames;
export type SignalingServerFrame = ServerFrame<SignalingServerFrames>;
