import type { Joined, Participant, RtcTokenPermissions, Track } from '@parley/contract';

/** The records of the contract under the names the SDK uses; types only, nothing of them is loaded. */
export type Permissions = RtcTokenPermissions;
export type TrackRecord = Pick<Track, 'id' | 'kind' | 'source' | 'name' | 'muted'>;
export type TrackSource = Track['source'];
export type JoinedFrame = Joined;

export interface ParticipantRecord
  extends Pick<Participant, 'identity' | 'sessionId' | 'metadata' | 'permissions' | 'quality'> {
  tracks: TrackRecord[];
}

export interface TrackSettings {
  trackId: string;
  enabled?: boolean;
  width?: number;
  height?: number;
  maxLayer?: number;
  priority?: number;
}
