import { type Static, Type } from 'typebox';
import { EnvironmentQuery, Nullable, PageQuery, Timestamp } from '../schema.ts';

const number = Nullable(Type.Number());
const text = Nullable(Type.String());

/** What is measured of a track, by the short names of samples; null where nothing is known. */
export const trackMeasures = ['kbps', 'loss', 'rtt', 'jitter', 'fps', 'freeze', 'height'] as const;
export type TrackMeasure = (typeof trackMeasures)[number];

/** From 1, unusable, to 5; null while nothing was measured. */
const score = number;

/** One room session. */
export const Call = Type.Object({
  id: Type.String(),
  roomId: Type.String(),
  roomName: text,
  startedAt: Timestamp,
  /** When the last sample of it came. */
  lastSampleAt: Timestamp,
  participantCount: Type.Integer(),
  score,
  /** That of the participant who had it worst. */
  worstScore: score,
});
export type Call = Static<typeof Call>;

export const CallPoint = Type.Object({
  at: Timestamp,
  kbps: number,
  lossPercent: number,
  rttMs: number,
  jitterMs: number,
  fps: number,
  /** How long the picture stood still in these seconds. */
  freezeMs: number,
  /** Of the picture: that of the layer which was sent or received. */
  height: number,
});
export type CallPoint = Static<typeof CallPoint>;

export const CallTrack = Type.Object({
  id: Type.String(),
  direction: Type.Enum(['out', 'in']),
  kind: Type.Enum(['audio', 'video']),
  /** By the SDK of the participant, or by the media node at the other end of its path. */
  measuredBy: Type.Enum(['client', 'node']),
  /** Who published it, where that is known. */
  publisher: text,
  source: text,
  points: Type.Array(CallPoint),
});
export type CallTrack = Static<typeof CallTrack>;

export const CallStep = Type.Object({
  at: Timestamp,
  type: Type.String(),
  source: Type.Enum(['SERVER', 'CLIENT']),
  trackId: text,
  detail: text,
});
export type CallStep = Static<typeof CallStep>;

export const CallParticipant = Type.Object({
  name: Type.String(),
  score,
  audioMos: number,
  videoScore: number,
  stays: Type.Array(
    Type.Object({
      connectionId: Type.String(),
      state: Type.String(),
      from: Timestamp,
      until: Nullable(Timestamp),
      transport: text,
    }),
  ),
  steps: Type.Array(CallStep),
  tracks: Type.Array(CallTrack),
  /** What the browser believed it could send. */
  bandwidth: Type.Array(Type.Object({ at: Timestamp, kbps: number })),
});
export type CallParticipant = Static<typeof CallParticipant>;

/** Something that was wrong, in a sentence, and the rule that says so. */
export const CallFinding = Type.Object({
  rule: Type.String(),
  because: Type.String(),
  participant: text,
  trackId: text,
  from: Timestamp,
  until: Timestamp,
  sentence: Type.String(),
});
export type CallFinding = Static<typeof CallFinding>;

export const CallDetail = Type.Object({
  ...Call.properties,
  /** Null in a call that is shared without names. */
  roomId: text,
  findings: Type.Array(CallFinding),
  participants: Type.Array(CallParticipant),
  nodes: Type.Array(
    Type.Object({ name: Type.String(), points: Type.Array(Type.Object({ at: Timestamp, cpuPercent: number })) }),
  ),
});
export type CallDetail = Static<typeof CallDetail>;

export const CallsQuery = Type.Object({
  sort: Type.Optional(Type.Enum(['newest', 'worst'])),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
  roomId: Type.Optional(Type.String({ maxLength: 128 })),
  maxScore: Type.Optional(Type.Number({ minimum: 1, maximum: 5 })),
  ...PageQuery,
  ...EnvironmentQuery,
});
export type CallsQuery = Static<typeof CallsQuery>;

export const NewCallLink = Type.Object({ withoutNames: Type.Optional(Type.Boolean()) });
export const CallLink = Type.Object({ url: Type.String(), expiresAt: Timestamp });
export const ReadSharedCall = Type.Object({ token: Type.String({ minLength: 1, maxLength: 2048 }) });
