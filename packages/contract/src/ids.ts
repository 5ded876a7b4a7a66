/** Prefixes of public ids. The text after the prefix is opaque to callers. */
export const idPrefixes = {
  room: 'room_',
  roomSession: 'rs_',
  participantSession: 'ps_',
  track: 'trk_',
  rtcToken: 'rtk_',
  chatToken: 'ctk_',
  conversation: 'conv_',
  message: 'msg_',
  attachment: 'att_',
  stream: 'stream_',
  audit: 'aud_',
  request: 'req_',
  event: 'evt_',
  webhook: 'wh_',
  delivery: 'whd_',
  error: 'err_',
} as const;

export type IdKind = keyof typeof idPrefixes;
