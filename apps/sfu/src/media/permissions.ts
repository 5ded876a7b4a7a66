import type { MediaPermissions, MediaTrackKind } from '@parley/contract/media-control';

/** S14: without `publish` nothing; exactly one of the two flags narrows to that kind; both or neither mean any. */
export function mayPublish(permissions: MediaPermissions, kind: MediaTrackKind): boolean {
  if (!permissions.publish) return false;
  if (permissions.publishAudio === permissions.publishVideo) return true;
  return kind === 'AUDIO' ? permissions.publishAudio : permissions.publishVideo;
}
