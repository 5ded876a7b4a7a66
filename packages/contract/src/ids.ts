/** Prefixes of public ids. The text after the prefix is opaque to callers. */
export const idPrefixes = {
  room: 'room_',
  roomSession: 'rs_',
  participantSession: 'ps_',
  track: 'trk_',
  signingKey: 'sgk_',
  rtcToken: 'rtk_',
  chatToken: 'ctk_',
  conversation: 'conv_',
  message: 'msg_',
  report: 'rep_',
  scheduled: 'sch_',
  chatDeletion: 'cdl_',
  attachment: 'att_',
  stream: 'stream_',
  audit: 'aud_',
  request: 'req_',
  event: 'evt_',
  webhook: 'wh_',
  delivery: 'whd_',
  error: 'err_',
  alert: 'alr_',
  dataJob: 'job_',
  device: 'dev_',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** What a public id of this kind looks like: its prefix and 24 characters of Crockford's base32. */
export const idPattern = (kind: IdKind): string => `^${idPrefixes[kind]}[0-9a-hjkmnp-tv-z]{24}$`;
