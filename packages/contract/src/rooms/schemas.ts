import { type Static, Type } from 'typebox';
import { Environment } from '../enums.ts';
import { Identity, Metadata, Name, Nullable, Timestamp, Uuid } from '../schema.ts';
import {
  ConnectionQuality,
  DisconnectReason,
  DuplicateIdentity,
  ParticipantKind,
  ParticipantState,
  RoomCloseReason,
  RoomStatus,
  TrackKind,
  TrackSource,
} from './enums.ts';

export const Room = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  name: Type.String(),
  projectId: Uuid,
  environment: Environment,
  status: RoomStatus,
  metadata: Metadata,
  maxParticipants: Type.Integer(),
  duplicateIdentity: DuplicateIdentity,
  /** The backend says that the room is recorded, by whatever it records with. */
  recording: Type.Boolean(),
  participantCount: Nullable(Type.Integer()),
  publisherCount: Nullable(Type.Integer()),
  region: Nullable(Type.String()),
  serverName: Nullable(Type.String()),
  conversationId: Nullable(Type.String()),
  liveStreamId: Nullable(Type.String()),
  activeSessionId: Nullable(Type.String()),
  sessionStartedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  closedAt: Nullable(Timestamp),
  closeReason: Nullable(RoomCloseReason),
});
export type Room = Static<typeof Room>;

export const RtcTokenPermissions = Type.Object({
  join: Type.Boolean(),
  subscribe: Type.Boolean(),
  publish: Type.Boolean(),
  publishAudio: Type.Boolean(),
  publishVideo: Type.Boolean(),
  publishData: Type.Boolean(),
  /** May change the participant's own metadata, which is the backend's otherwise. */
  updateMetadata: Type.Boolean(),
});
export type RtcTokenPermissions = Static<typeof RtcTokenPermissions>;

export const RtcTokenPermissionsDto = Type.Partial(RtcTokenPermissions);
export type RtcTokenPermissionsDto = Static<typeof RtcTokenPermissionsDto>;

/** What a token allows when its minting says nothing. */
export const defaultPermissions: RtcTokenPermissions = {
  join: true,
  subscribe: true,
  publish: false,
  publishAudio: false,
  publishVideo: false,
  publishData: false,
  updateMetadata: false,
};

export const TrackLayer = Type.Object({
  rid: Type.String(),
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  bitrate: Nullable(Type.Number()),
});

export const Track = Type.Object({
  id: Type.String(),
  kind: TrackKind,
  source: TrackSource,
  name: Nullable(Type.String()),
  metadata: Nullable(Type.String()),
  muted: Type.Boolean(),
  codec: Nullable(Type.String()),
  width: Nullable(Type.Integer()),
  height: Nullable(Type.Integer()),
  simulcast: Type.Boolean(),
  layers: Type.Array(TrackLayer),
  publishedAt: Timestamp,
});
export type Track = Static<typeof Track>;

export const Participant = Type.Object({
  identity: Type.String(),
  sessionId: Type.String(),
  kind: ParticipantKind,
  state: ParticipantState,
  metadata: Nullable(Type.String()),
  permissions: RtcTokenPermissions,
  joinedAt: Timestamp,
  connectionId: Nullable(Type.String()),
  quality: Nullable(ConnectionQuality),
  region: Nullable(Type.String()),
  isPublisher: Type.Boolean(),
  tracks: Type.Array(Track),
});
export type Participant = Static<typeof Participant>;

/** The room as its dashboard page shows it; `participants` is null when the media node cannot be reached. */
export const RoomDetail = Type.Object({ ...Room.properties, participants: Nullable(Type.Array(Participant)) });
export type RoomDetail = Static<typeof RoomDetail>;

const maxParticipants = Type.Integer({ minimum: 1, maximum: 100_000 });

/** Room metadata as JSON; it travels in signaling frames, so it may not grow with a setting. */
export const roomMetadataBytesMax = 4096;

export const CreateRoom = Type.Object({
  name: Name,
  metadata: Type.Optional(Metadata),
  maxParticipants: Type.Optional(maxParticipants),
  duplicateIdentity: Type.Optional(DuplicateIdentity),
  /** Where the room should be placed, if a node there has room. */
  region: Type.Optional(Type.String({ maxLength: 64 })),
  recording: Type.Optional(Type.Boolean()),
});
export type CreateRoom = Static<typeof CreateRoom>;

export const UpdateRoom = Type.Object({
  metadata: Type.Optional(Nullable(Metadata)),
  maxParticipants: Type.Optional(Nullable(maxParticipants)),
  duplicateIdentity: Type.Optional(DuplicateIdentity),
  recording: Type.Optional(Type.Boolean()),
});
export type UpdateRoom = Static<typeof UpdateRoom>;

/** The participant's own text; a string, and counted in characters. */
export const ParticipantMetadata = Type.String({ maxLength: 1024 });

/** How long an RTC token may live, minted or signed offline. */
export const rtcTokenSeconds = { min: 30, max: 21_600 } as const;

export const MintRtcToken = Type.Object({
  participantIdentity: Identity,
  permissions: Type.Optional(RtcTokenPermissionsDto),
  ttlSeconds: Type.Optional(Type.Integer({ minimum: rtcTokenSeconds.min, maximum: rtcTokenSeconds.max })),
  metadata: Type.Optional(ParticipantMetadata),
});
export type MintRtcToken = Static<typeof MintRtcToken>;

export const MintTestToken = Type.Object({ participantIdentity: Type.Optional(Identity) });

export const IceServer = Type.Object({
  urls: Type.Array(Type.String()),
  username: Type.Optional(Type.String()),
  credential: Type.Optional(Type.String()),
});
export type IceServer = Static<typeof IceServer>;

export const RtcToken = Type.Object({
  id: Type.String(),
  tokenId: Type.String(),
  token: Type.String(),
  tokenType: Type.Literal('Bearer'),
  expiresAt: Timestamp,
  expiresIn: Type.Integer(),
  roomId: Type.String(),
  roomName: Type.String(),
  participantIdentity: Type.String(),
  permissions: RtcTokenPermissions,
  metadata: Nullable(Type.String()),
  signalingUrl: Type.String(),
  iceServers: Type.Array(IceServer),
});
export type RtcToken = Static<typeof RtcToken>;

export const RevokedRtcToken = Type.Object({
  id: Type.String(),
  tokenId: Type.String(),
  roomId: Type.String(),
  participantIdentity: Type.String(),
  expiresAt: Timestamp,
  revokedAt: Timestamp,
});
export type RevokedRtcToken = Static<typeof RevokedRtcToken>;

export const UpdateParticipant = Type.Object({
  permissions: Type.Optional(RtcTokenPermissionsDto),
  metadata: Type.Optional(Nullable(ParticipantMetadata)),
});
export type UpdateParticipant = Static<typeof UpdateParticipant>;

export const MuteTrack = Type.Object({ muted: Type.Optional(Type.Boolean()) });

export const RemovedParticipant = Type.Object({
  identity: Type.String(),
  sessionId: Type.String(),
  state: ParticipantState,
  reason: DisconnectReason,
  leftAt: Timestamp,
});
export type RemovedParticipant = Static<typeof RemovedParticipant>;

/** Text of up to 8 KiB, or bytes as base64. */
export const dataPayloadBytesMax = 8192;
const Payload = {
  payload: Type.String({ maxLength: 12_000 }),
  encoding: Type.Optional(Type.Enum(['utf8', 'base64'])),
  topic: Type.Optional(Type.String({ maxLength: 64 })),
  to: Type.Optional(Type.Array(Identity, { maxItems: 100 })),
  reliable: Type.Optional(Type.Boolean()),
};
export const SendRoomData = Type.Object(Payload);
export type SendRoomData = Static<typeof SendRoomData>;
export const SentRoomData = Type.Object({ delivered: Type.Integer() });

/** One stay of one participant in a room: what minutes are counted from. */
export const RoomSession = Type.Object({
  id: Type.String(),
  sessionId: Type.String(),
  roomId: Type.String(),
  roomSessionId: Type.String(),
  participantIdentity: Type.String(),
  kind: ParticipantKind,
  connectionId: Nullable(Type.String()),
  serverName: Nullable(Type.String()),
  region: Nullable(Type.String()),
  joinedAt: Timestamp,
  leftAt: Nullable(Timestamp),
  durationMs: Nullable(Type.Integer()),
  disconnectReason: Nullable(DisconnectReason),
});
export type RoomSession = Static<typeof RoomSession>;
