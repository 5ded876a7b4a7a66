import { type Static, Type } from 'typebox';
import { ChatToken } from '../chat/schemas.ts';
import { RtcToken } from '../rooms/schemas.ts';
import { Identity, Metadata, Nullable, Timestamp } from '../schema.ts';
import { LiveStreamHostRole, LiveStreamStatus, LiveStreamVisibility } from './enums.ts';

const text = Nullable(Type.String());

export const LiveStream = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  streamId: Type.String(),
  title: Type.String(),
  description: text,
  thumbnailUrl: text,
  category: text,
  tags: Type.Array(Type.String()),
  language: text,
  visibility: LiveStreamVisibility,
  status: LiveStreamStatus,
  metadata: Metadata,
  hostIdentity: Type.String(),
  roomId: Type.String(),
  roomName: Type.String(),
  conversationId: Type.String(),
  viewerCount: Nullable(Type.Integer()),
  peakViewerCount: Type.Integer(),
  scheduledAt: Nullable(Timestamp),
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
  durationMs: Nullable(Type.Integer()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type LiveStream = Static<typeof LiveStream>;

export const LiveStreamHost = Type.Object({
  identity: Type.String(),
  role: LiveStreamHostRole,
  registeredAt: Timestamp,
  removedAt: Nullable(Timestamp),
});
export type LiveStreamHost = Static<typeof LiveStreamHost>;

export const LiveStreamWithHosts = Type.Object({ ...LiveStream.properties, hosts: Type.Array(LiveStreamHost) });
export type LiveStreamWithHosts = Static<typeof LiveStreamWithHosts>;

const Title = Type.String({ minLength: 1, maxLength: 200 });
const about = {
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  thumbnailUrl: Type.Optional(Type.String({ maxLength: 2048 })),
  category: Type.Optional(Type.String({ maxLength: 64 })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50 })),
  language: Type.Optional(Type.String({ maxLength: 16 })),
  visibility: Type.Optional(LiveStreamVisibility),
} as const;

export const CreateLiveStream = Type.Object({
  title: Title,
  hostIdentity: Identity,
  ...about,
  metadata: Type.Optional(Metadata),
  scheduledAt: Type.Optional(Type.String({ maxLength: 64 })),
});
export type CreateLiveStream = Static<typeof CreateLiveStream>;

export const UpdateLiveStream = Type.Object({
  title: Type.Optional(Title),
  ...about,
  metadata: Type.Optional(Nullable(Metadata)),
});
export type UpdateLiveStream = Static<typeof UpdateLiveStream>;

export const RegisterHost = Type.Object({ identity: Identity, role: Type.Optional(LiveStreamHostRole) });
export type RegisterHost = Static<typeof RegisterHost>;
export const ViewerIdentity = Type.Object({ identity: Identity });

/** RTC and chat credentials in one answer. */
export const StreamCredentials = Type.Object({
  streamId: Type.String(),
  identity: Type.String(),
  role: Type.Enum(['HOST', 'CO_HOST', 'VIEWER']),
  rtc: RtcToken,
  chat: ChatToken,
  room: Type.Object({ id: Type.String(), name: Type.String() }),
  conversation: Type.Object({ id: Type.String() }),
});
export type StreamCredentials = Static<typeof StreamCredentials>;

export const ViewerLeft = Type.Object({ streamId: Type.String(), identity: Type.String(), at: Timestamp });
