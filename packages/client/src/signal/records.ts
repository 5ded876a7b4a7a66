import type { Joined, RosterEntry } from '@parley/contract';
import type { Participant, RtcTokenPermissions, Track } from '@parley/contract/types.gen';

/** `StreamRecord`: what arrives of a subscribed track. */
export type { StreamRecord, TrackSettings } from '@parley/contract/types.gen';

/** The records of the contract under the names the SDK uses; types only, so that no schema is bundled. */
export type Permissions = RtcTokenPermissions;
export type TrackRecord = Pick<Track, 'id' | 'kind' | 'source' | 'name' | 'muted'> &
  Partial<Pick<Track, 'metadata'>> & { mutedByServer?: boolean };
export type TrackSource = Track['source'];
export type JoinedFrame = Joined;
export type { RosterEntry };

export interface ParticipantRecord
  extends Pick<Participant, 'identity' | 'sessionId' | 'metadata' | 'permissions' | 'quality'> {
  tracks: TrackRecord[];
}
