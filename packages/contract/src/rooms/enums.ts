import { type Static, Type } from 'typebox';

export const RoomStatus = Type.Enum(['ACTIVE', 'CLOSED']);
export type RoomStatus = Static<typeof RoomStatus>;

/** Who closed a room. */
export const RoomCloseReason = Type.Enum(['API', 'DASHBOARD', 'STREAM_ENDED']);
export type RoomCloseReason = Static<typeof RoomCloseReason>;

/** What happens to somebody in the room when the same identity joins again. */
export const DuplicateIdentity = Type.Enum(['KICK_OLD', 'REJECT_NEW']);
export type DuplicateIdentity = Static<typeof DuplicateIdentity>;

/** Viewers of a live stream are counted and announced apart from the members of a room. */
export const ParticipantKind = Type.Enum(['MEMBER', 'VIEWER']);
export type ParticipantKind = Static<typeof ParticipantKind>;

export const ParticipantState = Type.Enum(['JOINING', 'JOINED', 'ACTIVE', 'DISCONNECTED']);
export type ParticipantState = Static<typeof ParticipantState>;

export const TrackKind = Type.Enum(['AUDIO', 'VIDEO']);
export const TrackSource = Type.Enum(['CAMERA', 'MICROPHONE', 'SCREEN_SHARE', 'SCREEN_SHARE_AUDIO', 'UNKNOWN']);

export const ConnectionQuality = Type.Enum(['EXCELLENT', 'GOOD', 'POOR', 'LOST']);
export type ConnectionQuality = Static<typeof ConnectionQuality>;

/** Why a participant left. */
export const DisconnectReason = Type.Enum([
  'CLIENT_INITIATED',
  'DUPLICATE_IDENTITY',
  'PARTICIPANT_REMOVED',
  'TOKEN_REVOKED',
  'TOKEN_EXPIRED',
  'ROOM_CLOSED',
  'STREAM_ENDED',
  'SERVER_SHUTDOWN',
  'NODE_DRAINED',
  'CONNECTION_TIMEOUT',
  'SIGNAL_CLOSED',
  'MEDIA_FAILURE',
  'JOIN_FAILURE',
  'RATE_LIMITED',
  'UNKNOWN',
]);
export type DisconnectReason = Static<typeof DisconnectReason>;
