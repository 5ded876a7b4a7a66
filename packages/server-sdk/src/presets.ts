import type { RtcTokenPermissionsDto } from '@parley/contract/types.gen';

/** Watches and listens. */
export const viewer = (): RtcTokenPermissionsDto => ({ join: true, subscribe: true, publish: false });

/** Watches, listens and publishes sound and picture. */
export const speaker = (): RtcTokenPermissionsDto => ({ join: true, subscribe: true, publish: true });

/** Watches, listens and publishes sound only. */
export const audioOnly = (): RtcTokenPermissionsDto => ({
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
});

/** The same, and data messages too: `withData(speaker())`. */
export const withData = (permissions: RtcTokenPermissionsDto): RtcTokenPermissionsDto => ({
  ...permissions,
  publishData: true,
});
