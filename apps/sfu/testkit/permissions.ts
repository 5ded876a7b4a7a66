import type { MediaPermissions } from '@parley/contract/media-control';

/** Neither kind is named, so both may be published. */
export const everything: MediaPermissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: false,
  publishVideo: false,
  publishData: true,
};
