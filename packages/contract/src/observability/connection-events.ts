import type { ConnectionState, ErrorCategory } from './enums.ts';

/** What a step of a connection means: the state it leads to and, where it is a failure, how it is classified. */
export interface ConnectionEventRow {
  state?: ConnectionState;
  /** A failure of this category unless its `data.code` says more (see `classifiedCodes`). */
  error?: { category: ErrorCategory; code: string };
}

/** Every step, seen by the server or reported by the client; both use this list. */
export const connectionEvents = {
  'signaling.connecting': { state: 'CONNECTING' },
  'signaling.connected': {},
  'signaling.reconnecting': { state: 'RECONNECTING' },
  'signaling.reconnected': { state: 'CONNECTED' },
  'signaling.disconnected': { state: 'RECONNECTING' },
  'join.requested': { state: 'CONNECTING' },
  'join.succeeded': { state: 'CONNECTED' },
  'join.failed': { state: 'FAILED', error: { category: 'SIGNALING', code: 'JOIN_FAILED' } },
  'ice.checking': {},
  'ice.connected': { state: 'CONNECTED' },
  'ice.completed': {},
  'ice.disconnected': { state: 'RECONNECTING' },
  'ice.failed': { state: 'RECONNECTING', error: { category: 'ICE', code: 'ICE_FAILED' } },
  'ice.restarted': {},
  'dtls.connecting': {},
  'dtls.connected': {},
  'dtls.failed': { state: 'RECONNECTING', error: { category: 'DTLS', code: 'DTLS_FAILED' } },
  'transport.fallback': {},
  'track.published': {},
  'track.publish_failed': { error: { category: 'MEDIA', code: 'PUBLISH_FAILED' } },
  'track.unpublished': {},
  'track.subscribed': {},
  'track.subscribe_failed': { error: { category: 'MEDIA', code: 'SUBSCRIBE_FAILED' } },
  'track.unsubscribed': {},
  'track.muted': {},
  'track.unmuted': {},
  'track.first_frame': {},
  'track.stalled': {},
  'track.recovered': {},
  'device.changed': {},
  'device.permission_denied': { error: { category: 'DEVICE', code: 'DEVICE_PERMISSION_DENIED' } },
  'device.failed': { error: { category: 'DEVICE', code: 'DEVICE_FAILED' } },
  'quality.changed': {},
  'stats.report': {},
  /** Samples of every 5 seconds, by track; kept apart from the timeline. */
  'stats.sample': {},
  'network.changed': {},
  'page.hidden': {},
  'page.visible': {},
  error: { error: { category: 'CLIENT', code: 'CLIENT_ERROR' } },
  left: { state: 'DISCONNECTED' },
} as const satisfies Record<string, ConnectionEventRow>;

export type ConnectionEventType = keyof typeof connectionEvents;
export const connectionEventTypes = Object.keys(connectionEvents) as ConnectionEventType[];

/** What a code says about a failure: its category, a sentence, what to do, and whether trying again may help. */
export interface ClassifiedCode {
  category: ErrorCategory;
  message: string;
  hint: string;
  isRetryable: boolean;
}

const code = (category: ErrorCategory, isRetryable: boolean, message: string, hint: string): ClassifiedCode => ({
  category,
  message,
  hint,
  isRetryable,
});

/** Failures we can name. A code that is not here keeps the category of its event. */
export const classifiedCodes: Readonly<Record<string, ClassifiedCode>> = {
  SVC_INVALID_TOKEN: code(
    'AUTHENTICATION',
    false,
    'The RTC token is not valid.',
    'Mint a new token on your backend; check that it comes from this instance and was not cut.',
  ),
  SVC_TOKEN_EXPIRED: code(
    'AUTHENTICATION',
    true,
    'The RTC token had expired.',
    'Mint the token right before joining, or give the SDK a function that fetches one.',
  ),
  SVC_TOKEN_REVOKED: code(
    'AUTHENTICATION',
    false,
    'The RTC token was revoked.',
    'Your backend revoked it; mint a new one if the participant may come back.',
  ),
  SVC_UNAUTHENTICATED: code(
    'AUTHENTICATION',
    false,
    'No RTC token was presented.',
    'Pass the token to Room, or send it in the join frame within 5 seconds.',
  ),
  SVC_JOIN_NOT_ALLOWED: code(
    'PERMISSION',
    false,
    'The token does not allow joining.',
    'Mint it with permissions: { join: true }.',
  ),
  SVC_PUBLISH_NOT_ALLOWED: code(
    'PERMISSION',
    false,
    'The token does not allow publishing.',
    'Mint it with permissions: { publish: true }.',
  ),
  SVC_SUBSCRIBE_NOT_ALLOWED: code(
    'PERMISSION',
    false,
    'The token does not allow subscribing.',
    'Mint it with permissions: { subscribe: true }.',
  ),
  SVC_DATA_NOT_ALLOWED: code(
    'PERMISSION',
    false,
    'The token does not allow data messages.',
    'Mint it with permissions: { publishData: true }.',
  ),
  SVC_ORIGIN_NOT_ALLOWED: code(
    'PERMISSION',
    false,
    "The page's origin is not allowed.",
    "Add it to the project's allowed origins.",
  ),
  SVC_ROOM_FULL: code(
    'CAPACITY',
    true,
    'The room was full.',
    'Raise SIGNALING_MAX_PARTICIPANTS_PER_ROOM, or use a live stream for an audience.',
  ),
  SVC_NO_MEDIA_SERVER: code(
    'CAPACITY',
    true,
    'No media server could take the room.',
    'Start a media node, undrain one, or raise its capacity.',
  ),
  SVC_RATE_LIMITED: code(
    'CAPACITY',
    true,
    'A signaling limit was reached.',
    'Many clients behind one address share it: raise SIGNALING_MAX_CONNECTIONS_PER_WINDOW.',
  ),
  SVC_MEDIA_UNAVAILABLE: code(
    'SERVER',
    true,
    'The media server could not be reached.',
    'Check that the node runs and that its internalUrl is reachable from the server.',
  ),
  SVC_MEDIA_TIMEOUT: code(
    'SERVER',
    true,
    'The media server did not answer in time.',
    'Look at the load of the node on the fleet page.',
  ),
  SVC_ROOM_CLOSED: code('SIGNALING', false, 'The room was closed.', 'Create a room, or join another one.'),
  SVC_ROOM_NOT_FOUND: code(
    'SIGNALING',
    false,
    'The room does not exist.',
    'The token names a room that is gone: mint one for a room that exists.',
  ),
  SVC_SERVICE_UNAVAILABLE: code(
    'SERVER',
    true,
    'The server could not answer.',
    'Look at diagnostics: a dependency is down.',
  ),
  NODE_LOST: code(
    'SERVER',
    true,
    'The media node of the room died.',
    'Clients rejoin and the room moves to another node; see the fleet page.',
  ),
  JOIN_FAILED: code('SIGNALING', true, 'The join did not succeed.', 'The timeline shows the step that failed.'),
  CONNECTION_TIMEOUT: code(
    'NETWORK',
    true,
    'The connection went silent.',
    "The client's network was gone for longer than the resume time.",
  ),
  ICE_FAILED: code(
    'ICE',
    true,
    'No network path to the media node worked.',
    'Open the UDP port of the node, check SFU_ANNOUNCED_HOST, or configure TURN.',
  ),
  DTLS_FAILED: code(
    'DTLS',
    true,
    'The encrypted channel could not be set up.',
    'A middlebox may be altering UDP; try TURN over TLS.',
  ),
  PUBLISH_FAILED: code(
    'MEDIA',
    true,
    'A track could not be published.',
    'The data of the event says which track and why.',
  ),
  SUBSCRIBE_FAILED: code(
    'MEDIA',
    true,
    'A track could not be received.',
    'The data of the event says which track and why.',
  ),
  DEVICE_PERMISSION_DENIED: code(
    'DEVICE',
    false,
    'Camera or microphone was not allowed.',
    'The person must allow the device in the browser; the page must be on https or localhost.',
  ),
  DEVICE_FAILED: code(
    'DEVICE',
    true,
    'A camera or microphone could not be opened.',
    'Another program may be using it.',
  ),
  CLIENT_ERROR: code('CLIENT', false, 'The client reported an error.', 'The data of the event holds what it said.'),
};
