import { Type } from 'typebox';
import { routes } from '../route.ts';

const token = ['rtcToken'] as const;
const joins = [
  'SVC_BAD_REQUEST',
  'SVC_ROOM_NOT_FOUND',
  'SVC_ROOM_CLOSED',
  'SVC_ROOM_FULL',
  'SVC_JOIN_NOT_ALLOWED',
  'SVC_DUPLICATE_IDENTITY',
  'SVC_NO_MEDIA_SERVER',
  'SVC_MEDIA_UNAVAILABLE',
  'SVC_MEDIA_TIMEOUT',
  'SVC_PAYLOAD_TOO_LARGE',
  'SVC_UNSUPPORTED_MEDIA_TYPE',
] as const;
/** Far more than a client has candidates, or sessions to end. */
const budget = 120;
const leaves = {
  by: token,
  budget,
  returns: [200, null],
  throws: ['SVC_ROOM_NOT_FOUND', 'SVC_PARTICIPANT_NOT_FOUND'],
} as const;

const trickles = {
  by: token,
  budget,
  speaks: 'application/trickle-ice-sdpfrag',
  returns: [204, null],
  throws: [
    'SVC_BAD_REQUEST',
    'SVC_ROOM_NOT_FOUND',
    'SVC_PARTICIPANT_NOT_FOUND',
    'SVC_ICE_RESTART_UNSUPPORTED',
    'SVC_MEDIA_UNAVAILABLE',
    'SVC_MEDIA_TIMEOUT',
    'SVC_PAYLOAD_TOO_LARGE',
    'SVC_UNSUPPORTED_MEDIA_TYPE',
  ],
} as const;

/** Plain WebRTC without our SDK: one SDP offer, one answer. The answer names the session in `location`. */
export const signalingRoutes = routes({
  publishByWhip: {
    at: 'POST /v1/rooms/{id}/whip',
    by: token,
    budget: 20,
    speaks: 'application/sdp',
    returns: [201, Type.String()],
    throws: [...joins, 'SVC_PUBLISH_NOT_ALLOWED'],
    does: 'Joins and publishes what the SDP offer sends (WHIP); answers with the SDP answer.',
  },
  trickleWhip: {
    at: 'PATCH /v1/rooms/{id}/whip/{sessionId}',
    ...trickles,
    does: 'Takes further ICE candidates of a WHIP session (RFC 9725).',
  },
  endWhip: {
    at: 'DELETE /v1/rooms/{id}/whip/{sessionId}',
    ...leaves,
    does: 'Ends a WHIP session.',
  },
  watchByWhep: {
    at: 'POST /v1/rooms/{id}/whep',
    by: token,
    budget: 20,
    speaks: 'application/sdp',
    returns: [201, Type.String()],
    throws: [...joins, 'SVC_SUBSCRIBE_NOT_ALLOWED'],
    does: "Joins and receives the room's tracks on the lines of the SDP offer (WHEP); answers with the SDP answer.",
  },
  trickleWhep: {
    at: 'PATCH /v1/rooms/{id}/whep/{sessionId}',
    ...trickles,
    does: 'Takes further ICE candidates of a WHEP session.',
  },
  endWhep: {
    at: 'DELETE /v1/rooms/{id}/whep/{sessionId}',
    ...leaves,
    does: 'Ends a WHEP session.',
  },
});
