import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { LiveStreamHostRole, LiveStreamVisibility } from './enums.ts';

const streamId = Type.String();
const someone = { streamId, identity: Type.String(), at: Timestamp };

export const liveStreamEvents = eventRows({
  'live_stream.created': {
    since: '0.1.0',
    isCore: true,
    when: 'A stream was created (before it is live).',
    data: Type.Object({
      streamId,
      title: Type.String(),
      visibility: LiveStreamVisibility,
      hostIdentity: Type.String(),
      createdAt: Timestamp,
    }),
  },
  'live_stream.started': {
    since: '0.1.0',
    isCore: true,
    when: 'Start moved a stream from CREATED to LIVE.',
    data: Type.Object({ streamId, startedAt: Timestamp }),
  },
  'live_stream.ended': {
    since: '0.1.0',
    isCore: true,
    when: 'End moved a stream to ENDED; durationMs is null if it never started.',
    data: Type.Object({ streamId, endedAt: Timestamp, durationMs: Nullable(Type.Integer()) }),
  },
  'live_stream.host_joined': {
    since: '0.1.0',
    isCore: true,
    when: 'A host or co-host was registered and credentials were minted.',
    data: Type.Object({ ...someone, role: LiveStreamHostRole }),
  },
  'live_stream.host_left': {
    since: '0.1.0',
    isCore: true,
    when: 'A co-host was removed.',
    data: Type.Object(someone),
  },
  'live_stream.viewer_joined': {
    since: '0.1.0',
    isCore: true,
    when: 'A viewer token was minted.',
    data: Type.Object(someone),
  },
  'live_stream.viewer_left': {
    since: '0.1.0',
    isCore: true,
    when: 'Your backend called leave for a viewer; never inferred from a dropped media connection.',
    data: Type.Object(someone),
  },
});
