/** What to do about an error: by code, or by status where a code has no entry. */
import { type ErrorCode, errors } from './errors.ts';

const adviceByStatus: Readonly<Record<number, string>> = {
  400: 'The request itself is wrong: the same request will fail again. Fix it; `details`, where given, names fields.',
  401: 'The credential is missing, unknown, expired or of another kind. Get a fresh one; do not retry with the same.',
  403: 'The credential is good but may not do this. Use one that may, or get the permission.',
  404: 'There is no such resource in this project and environment, or this credential may not see it. Check the id and which environment the key belongs to.',
  405: 'The path exists with another method; the header `allow` names which.',
  409: 'The resource is in a state that does not allow this. Read it, and retry only if its state has changed.',
  413: 'Send less; `limit` says how much may be sent. Limits are in docs/guides/limits.md.',
  414: 'Put long values into the body.',
  415: 'Send JSON with `Content-Type: application/json`.',
  422: 'The request is well formed but contradicts an earlier one or a rule.',
  429: 'Wait for `retryAfterSeconds`, then retry. The SDKs do so for short waits.',
  431: 'Send fewer or shorter headers.',
  500: 'An internal fault. Retry if the request is idempotent, and report the request id if it persists.',
  501: 'The operator of this instance has switched it off.',
  502: 'The media node failed. Retry; if it persists, look at the fleet page.',
  503: 'A dependency of the service is down. Retry after `retryAfterSeconds`; `parley status` shows which.',
  504: 'The media node did not answer in time. Retry; if it persists, look at the fleet page.',
};

const advice: Readonly<Partial<Record<ErrorCode, string>>> = {
  SVC_INVALID_JSON:
    'The body could not be parsed. A frequent cause is text that was built by hand: use a JSON encoder.',
  SVC_INVALID_CURSOR: 'Cursors belong to one list of one project and are opaque. Start again without one.',
  SVC_INVALID_IDEMPOTENCY_KEY: 'Use 1 to 255 printable ASCII characters, for example a UUID. The SDK makes its own.',
  SVC_ICE_RESTART_UNSUPPORTED:
    'WHIP and WHEP sessions keep their ICE credentials: `DELETE` the session and send a new offer.',
  SVC_IDEMPOTENCY_MISMATCH:
    'The key was used for another body. A new request needs a new key; a retry needs the same body.',
  SVC_IDEMPOTENCY_IN_PROGRESS: 'The first request with this key still runs. Retry in a moment: you get its answer.',
  SVC_USER_REQUIRED: 'An API key is no user. Name one: `{ "userId": "ada" }`.',
  SVC_VALIDATION_FAILED:
    '`details` lists each field with the rule it breaks. Types of the SDK keep most of these from compiling.',
  SVC_UNAUTHENTICATED: 'Send `Authorization: Bearer <credential>`.',
  SVC_INVALID_API_KEY: 'The key is unknown or revoked. Make a new one in the dashboard, under API keys.',
  SVC_API_KEY_EXPIRED: 'The key was made with `expiresAt`. Make a new one in the dashboard, under API keys.',
  SVC_NETWORK_NOT_ALLOWED:
    'The key was made with `allowedNetworks`, and this request came from elsewhere. Behind a proxy of your own, TRUST_PROXY must name it.',
  SVC_TOKEN_LIFETIME:
    'A token signed with a signing key must live as long as minted ones may: 30 to 21,600 seconds for a room, 60 to 21,600 for chat, counted from `iat`.',
  SVC_WRONG_CREDENTIAL_TYPE:
    'The route takes another kind of credential, for example an API key instead of a token. Its reference says which.',
  SVC_ORIGIN_NOT_ALLOWED: 'The page is not on the list of allowed origins. Add it in the dashboard, under Settings.',
  SVC_PERMISSION_DENIED: 'Your role lacks `permission`. An owner of the project can change it, under Members.',
  SVC_PUBLISH_NOT_ALLOWED: 'Mint the RTC token with `permissions: speaker()` or `{ publish: true }`.',
  SVC_DATA_NOT_ALLOWED: 'Mint the RTC token with `withData(…)` or `{ publishData: true }`.',
  SVC_METADATA_NOT_ALLOWED:
    'Metadata is set by your backend: `rooms.updateParticipant`. To let participants change their own, mint the RTC token with `{ updateMetadata: true }`, and trust it no more than anything else a client says.',
  SVC_NOT_A_MEMBER: 'Add the user with `chat.members.add`, then join again.',
  SVC_DIRECT_MEMBERS_FIXED:
    'Nobody else can be added. `chat.direct.open` with all of their ids gives the conversation of those people; for a changing circle create a conversation of type GROUP.',
  SVC_SCOPE_MISSING:
    'Mint the chat token with this scope, or without `scopes`. An API key that was made with `scopes` needs a new key that has it.',
  SVC_USER_BANNED: 'Somebody banned the user with `users.revoke`. `users.get` says until when; `users.unban` lifts it.',
  SVC_CHAT_BANNED:
    '`until` (null: for good) and `reason` say what a moderator decided; `conversationId` where, null for all chat. `chat.moderation.unban` and `unbanEverywhere` lift it.',
  SVC_CHAT_MUTED:
    'The user reads on and cannot send. `until` (null: for good) and `reason` say what a moderator decided; `chat.moderation.unmute` and `unmuteEverywhere` lift it.',
  SVC_CHAT_BLOCKED:
    'One of the two people of a direct conversation has blocked the other; which of them is not said. `chat.blocks.list` has what the user blocked, `chat.blocks.remove` lifts it.',
  SVC_ROOM_NAME_TAKEN: 'An open room has this name. Use it, or close it first; names are free again afterwards.',
  SVC_ROOM_FULL: 'Raise `maxParticipants` of the room, or SIGNALING_MAX_PARTICIPANTS_PER_ROOM.',
  SVC_INVALID_STATE_TRANSITION:
    '`from` and `to` say which step was not possible. Another caller may have made it: read the stream.',
  SVC_STREAM_ENDED: 'An ended stream stays ended. Create a new one.',
  SVC_INVALID_WEBHOOK_URL:
    'Production endpoints are public https addresses. In development loopback is allowed; `parley listen` forwards to any local address.',
  SVC_NO_MEDIA_SERVER:
    'No node accepts rooms. Start one with `parley sfu`, or undrain one; `parley nodes list` shows them.',
  SVC_MEDIA_UNAVAILABLE:
    'The node of the room does not answer. The room moves to another node when this one is declared offline; retry.',
  SVC_QUOTA_EXCEEDED: 'The minutes are used up and USAGE_ENFORCE is on. Raise USAGE_FREE_RTC_MINUTES, or turn it off.',
  SVC_RATE_LIMITED: 'Each route has a budget per window: see docs/guides/limits.md. Wait for `retryAfterSeconds`.',
  SVC_DRAINING: 'This process is draining. Retry: another one answers.',
};

/** What to do about an error, for people who read of it. */
export function adviceOn(code: ErrorCode): string {
  const { status, message } = errors[code];
  return advice[code] ?? adviceByStatus[status] ?? message;
}
