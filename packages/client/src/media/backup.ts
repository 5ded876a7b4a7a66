import type { LocalTrack } from './local-track.ts';

/** What is sent on a line: a track, or the same once more in its backup codec. */
export type Sent = Pick<
  LocalTrack,
  | 'id'
  | 'kind'
  | 'source'
  | 'name'
  | 'metadata'
  | 'options'
  | 'mediaStreamTrack'
  | 'isMutedByUser'
  | 'isStopped'
  | 'mutedByServer'
> & { backupOf?: LocalTrack };

/** The same once more in VP8, in layers as a camera has them. */
export const backupOf = (track: LocalTrack): Sent => ({
  id: null,
  kind: track.kind,
  source: track.source,
  name: track.name,
  metadata: track.metadata,
  options: { ...track.options, codec: 'vp8' },
  mediaStreamTrack: track.mediaStreamTrack,
  isMutedByUser: track.isMutedByUser,
  isStopped: track.isStopped,
  mutedByServer() {},
  backupOf: track,
});
