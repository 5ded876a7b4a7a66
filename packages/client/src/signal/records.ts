import type {
  FrameData,
  Joined,
  Participant,
  RtcTokenPermissions,
  SignalingClientFrames,
  SignalingServerFrames,
  Track,
} from '@parley/contract';

/** The records of the contract under the names the SDK uses; types only, so that no schema is bundled. */
export type Permissions = RtcTokenPermissions;
export type TrackRecord = Pick<Track, 'id' | 'kind' | 'source' | 'name' | 'muted'>;
export type TrackSource = Track['source'];
export type JoinedFrame = Joined;

export interface ParticipantRecord
  extends Pick<Participant, 'identity' | 'sessionId' | 'metadata' | 'permissions' | 'quality'> {
  tracks: TrackRecord[];
}

export type TrackSettings = FrameData<SignalingClientFrames['track.settings']>['updates'][number];

/** What arrives of a subscribed track. */
export type StreamRecord = FrameData<SignalingServerFrames['stream.state']>;
