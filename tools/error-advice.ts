/** What to do about an error, where its own sentence does not say it all. By code; by status where a code has none. */
import type { ErrorCode } from '@parley/contract';

export const adviceByStatus: Readonly<Record<number, string>> = {
  400: 'The request itself is wrong: the same request will fail again. Mend it; `details`, where given, names fields.',
  401: 'The credential is missing, unknown, expired or of another kind. Get a fresh one; do not repeat with the same.',
  403: 'The credential is good but may not do this. Use one that may, or have the permission granted.',
  404: 'There is no such thing in this project and environment, or this credential may not see it. Check the id and which environment the key belongs to.',
  405: 'The path exists with another method; the header `allow` names which.',
  409: 'The thing is in a state that does not allow this. Read it, decide, and ask again only if its state has changed.',
  413: 'Send less; `limit` says how much may be sent. Limits are in docs/guides/limits.md.',
  414: 'Put long values into the body.',
  415: 'Send JSON with `Content-Type: application/json`.',
  422: 'The request is well formed but contradicts an earlier one or a rule.',
  429: 'Wait for `retryAfterSeconds`, then go on. The SDKs do so by themselves for short waits.',
  431: 'Send fewer or shorter headers.',
  500: 'A fault of ours. Repeat it if it may be repeated, and report the request id if it stays.',
  501: 'Whoever runs this instance has switched it off.',
  502: 'The media node could not do it. Repeat it; if it stays, look at the fleet page.',
  503: 'Something the service stands on is not there now. Repeat after `retryAfterSeconds`; `parley status` says what.',
  504: 'The media node did not answer in time. Repeat it; if it stays, look at the fleet page.',
};

export const advice: Readonly<Partial<Record<ErrorCode, string>>> = {
  SVC_INVALID_JSON:
    'The body could not be parsed. A frequent cause is text that was built by hand: use a JSON encoder.',
  SVC_INVALID_CURSOR: 'Cursors belong to one list of one project and are opaque. Start again without one.',
  SVC_INVALID_IDEMPOTENCY_KEY: 'Use 1 to 255 printable ASCII characters, for example a UUID. The SDK makes its own.',
  SVC_IDEMPOTENCY_MISMATCH:
    'The key was used for another body. A new request needs a new key; a repetition the same body.',
  SVC_IDEMPOTENCY_IN_PROGRESS: 'The first request with this key still runs. Repeat in a moment: you get its answer.',
  SVC_USER_REQUIRED: 'An API key stands for no user. Name one: `{ "userId": "ada" }`.',
  SVC_VALIDATION_FAILED:
    '`details` lists each field with the rule it breaks. Types of the SDK keep most of these from compiling.',
  SVC_UNAUTHENTICATED: 'Send `Authorization: Bearer <credential>`.',
  SVC_INVALID_API_KEY: 'The key is unknown or revoked. Make a new one in the dashboard, under API keys.',
  SVC_WRONG_CREDENTIAL_TYPE:
    'The route takes another kind of credential, for example an API key instead of a token. Its reference says which.',
  SVC_ORIGIN_NOT_ALLOWED: 'The page is not on the list of allowed origins. Add it in the dashboard, under Settings.',
  SVC_PERMISSION_DENIED: 'Your role lacks `permission`. An owner of the project can change it, under Members.',
  SVC_PUBLISH_NOT_ALLOWED: 'Mint the RTC token with `permissions: speaker()` or `{ publish: true }`.',
  SVC_DATA_NOT_ALLOWED: 'Mint the RTC token with `withData(…)` or `{ publishData: true }`.',
  SVC_NOT_A_MEMBER: 'Add the user with `chat.members.add`, then join again.',
  SVC_SCOPE_MISSING: 'Mint the chat token with this scope, or without `scopes`.',
  SVC_ROOM_NAME_TAKEN: 'An open room has this name. Use it, or close it first; names are free again afterwards.',
  SVC_ROOM_FULL: 'Raise `maxParticipants` of the room, or SIGNALING_MAX_PARTICIPANTS_PER_ROOM.',
  SVC_INVALID_STATE_TRANSITION:
    '`from` and `to` say which step was not possible. Somebody else may have made it: read the stream.',
  SVC_STREAM_ENDED: 'An ended stream stays ended. Create a new one.',
  SVC_INVALID_WEBHOOK_URL:
    'Production endpoints are public https addresses. In development loopback is allowed; `parley listen` forwards to any local address.',
  SVC_NO_MEDIA_SERVER:
    'No node takes rooms. Start one with `parley sfu`, or undrain one; `parley nodes list` shows them.',
  SVC_MEDIA_UNAVAILABLE:
    'The node of the room does not answer. The room moves by itself when the node is given up; repeat it.',
  SVC_QUOTA_EXCEEDED: 'The minutes are used up and USAGE_ENFORCE is on. Raise USAGE_FREE_RTC_MINUTES, or turn it off.',
  SVC_RATE_LIMITED: 'Each route has a budget per window: see docs/guides/limits.md. Wait for `retryAfterSeconds`.',
  SVC_DRAINING: 'This process is about to stop. Repeat: another one answers.',
};
