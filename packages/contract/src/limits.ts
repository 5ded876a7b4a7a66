/** A ceiling a deployment may change: its variable, default, unit and what it bounds. */
export interface LimitRow {
  default: number;
  unit: string;
  bounds: string;
  min: number;
  max: number;
}

const int = (value: number, unit: string, bounds: string, min = 1, max = Number.MAX_SAFE_INTEGER): LimitRow => ({
  default: value,
  unit,
  bounds,
  min,
  max,
});

/** Metadata of a track travels in one frame with the rest of it, also where each character is written as an escape. */
export const trackMetadataBytesMax = 2048;

/** The 25 limits of the specification, in its order. */
const specified = {
  SIGNALING_MAX_PARTICIPANTS_PER_ROOM: int(50, 'participants', 'Participants per room'),
  SIGNALING_MAX_MESSAGE_BYTES: int(16384, 'bytes', 'Signaling frame size', 1024),
  SIGNALING_MAX_MESSAGES_PER_WINDOW: int(100, 'messages', 'Signaling messages per connection per window'),
  SIGNALING_MAX_CONNECTIONS_PER_WINDOW: int(20, 'connections', 'Signaling connection attempts per IP per window'),
  RTC_TOKEN_DEFAULT_TTL_SECONDS: int(600, 'seconds', 'RTC token default lifetime', 30, 21600),
  SFU_HEARTBEAT_TIMEOUT_SECONDS: int(30, 'seconds', 'Media-node heartbeat timeout'),
  CHAT_MAX_TEXT_LENGTH: int(4000, 'characters', 'Message text'),
  CHAT_MAX_METADATA_BYTES: int(4096, 'bytes', 'Message metadata'),
  CHAT_MAX_FRAME_BYTES: int(65536, 'bytes', 'Chat WebSocket frame', 1024),
  CHAT_MAX_REACTIONS_PER_MESSAGE: int(200, 'reactions', 'Reactions per message'),
  CHAT_MAX_ROOM_SUBSCRIPTIONS: int(20, 'conversations', 'Conversations per chat connection'),
  CHAT_MAX_HISTORY_PAGE_SIZE: int(100, 'messages', 'Message history page size'),
  CHAT_SEND_RATE_LIMIT: int(30, 'messages', 'Chat sends per user per window'),
  CHAT_TOKEN_DEFAULT_TTL_SECONDS: int(3600, 'seconds', 'Chat token default lifetime', 60, 21600),
  CHAT_TOKEN_MAX_TTL_SECONDS: int(21600, 'seconds', 'Chat token maximum lifetime', 60, 21600),
  CHAT_PRESENCE_TTL_SECONDS: int(45, 'seconds', 'Presence; expiry is the offline transition'),
  CHAT_TYPING_TTL_SECONDS: int(7, 'seconds', 'Typing indicator'),
  STORAGE_MAX_ATTACHMENT_BYTES: int(26214400, 'bytes', 'Attachment size'),
  STORAGE_UPLOAD_URL_TTL_SECONDS: int(900, 'seconds', 'Signed upload URL lifetime'),
  STORAGE_DOWNLOAD_URL_TTL_SECONDS: int(900, 'seconds', 'Signed download URL lifetime'),
  WEBHOOK_MAX_ATTEMPTS: int(6, 'attempts', 'Webhook delivery attempts'),
  WEBHOOK_BACKOFF_BASE_MS: int(10000, 'ms', 'Webhook retry backoff base'),
  WEBHOOK_TIMEOUT_MS: int(5000, 'ms', 'Webhook delivery timeout'),
  WEBHOOK_DISABLE_AFTER_FAILURES: int(50, 'failures', 'Consecutive failures before an endpoint is disabled'),
  RATE_LIMIT_WINDOW_SECONDS: int(60, 'seconds', 'Rate-limit window'),
} as const;

/** Ours, beyond the specification. 0 means "none" where the minimum is 0. */
const added = {
  SIGNALING_MAX_PARTICIPANTS_OF_LARGE_ROOMS: int(
    1000,
    'participants',
    'Participants that a room may ask for with `maxParticipants`; 0 for no more than any room has',
    0,
    1000,
  ),
  SIGNALING_MAX_DATA_SENT_PER_SECOND: int(
    50,
    'messages',
    'Data messages of one participant that others get by signaling, for want of a data channel, per second',
  ),
  SIGNALING_MAX_DATA_RECEIVED_PER_SECOND: int(
    20,
    'messages',
    'Data messages that one participant gets by signaling, for want of a data channel, per second',
  ),
  SIGNALING_MAX_TRACK_METADATA_BYTES: int(1024, 'bytes', 'Metadata of a track', 0, trackMetadataBytesMax),
  CHAT_REACT_RATE_LIMIT: int(60, 'reactions', 'Chat reactions per user per window'),
  CHAT_TYPE_RATE_LIMIT: int(120, 'signals', 'Typing signals per user per window'),
  CHAT_SUBSCRIBE_RATE_LIMIT: int(60, 'frames', 'Chat subscribe frames per user per window'),
  CHAT_CONNECT_RATE_LIMIT: int(20, 'connections', 'Chat connections per user per window'),
  CHAT_EDIT_RATE_LIMIT: int(60, 'edits', 'Message edits per user per window'),
  CHAT_DELETE_RATE_LIMIT: int(120, 'deletions', 'Message deletions per user per window'),
  CHAT_READ_RATE_LIMIT: int(600, 'marks', 'Read marks set per user per window'),
  CHAT_PRESENCE_RATE_LIMIT: int(120, 'changes', 'Presence changes per user per window'),
  CHAT_HISTORY_RATE_LIMIT: int(1200, 'readings', 'Pages of messages, changes and members read per user per window'),
  CHAT_SEARCH_RATE_LIMIT: int(120, 'searches', 'Searches of messages per user per window'),
  CHAT_UNSUBSCRIBE_RATE_LIMIT: int(300, 'frames', 'Chat unsubscribe frames per user per window'),
  CHAT_DIRECT_RATE_LIMIT: int(30, 'conversations', 'Direct conversations opened per user per window'),
  CHAT_MANAGE_RATE_LIMIT: int(120, 'changes', 'Changes of conversations and members per user per window'),
  CHAT_TOKEN_RATE_LIMIT: int(60, 'tokens', 'Tokens taken on open chat connections per user per window'),
  CHAT_UPLOAD_RATE_LIMIT: int(120, 'uploads', 'Uploads begun per user per window'),
  CHAT_MAX_SANCTIONS: int(10_000, 'users', 'Bans, and mutes, of a conversation, and of an environment'),
  CHAT_MAX_BLOCKS: int(1_000, 'users', 'Users whom one user has blocked'),
  CHAT_MAX_RUNNING_DELETIONS: int(
    100,
    'deletions',
    'Deletions of all messages of a user at once, per project and environment',
  ),
  CHAT_MAX_OPEN_REPORTS: int(10_000, 'reports', 'Open reports of messages per project and environment'),
  CHAT_REPORT_RATE_LIMIT: int(30, 'reports', 'Reports of messages per user per window'),
  CHAT_MAX_USERS: int(10_000_000, 'users', 'Records of chat users per project and environment'),
  CHAT_MAX_SCHEDULED: int(100, 'messages', 'Scheduled messages of one user that wait in one conversation'),
  CHAT_MAX_CONVERSATIONS: int(1_000_000, 'conversations', 'Conversations per project and environment'),
  STORAGE_MAX_BYTES_PER_USER: int(10 * 2 ** 30, 'bytes', 'Files of one user per project and environment'),
  STORAGE_MAX_BYTES_PER_PROJECT: int(2 ** 40, 'bytes', 'Files per project and environment'),
  PROJECTS_MAX_PER_ACCOUNT: int(1000, 'projects', 'Active projects that one account owns'),
  INVITATIONS_MAX_PER_SENDER: int(500, 'invitations', 'Invitations mailed for one member per hour'),
  INVITATIONS_MAX_PER_ADDRESS: int(10, 'invitations', 'Invitations mailed to one address per hour'),
  CHAT_RETENTION_DAYS: int(0, 'days', 'Message retention; 0 keeps messages', 0, 3650),
  CHAT_EDIT_WINDOW_SECONDS: int(0, 'seconds', 'How long a message may be edited; 0 is unlimited', 0),
  LIVE_STREAM_MAX_VIEWERS: int(500, 'viewers', 'Viewers per live stream; 0 for no ceiling', 0),
  USAGE_FREE_RTC_MINUTES: int(20000, 'minutes', 'Free RTC minutes per account'),
  RTC_SESSION_MAX_AGE_SECONDS: int(
    86400,
    'seconds',
    'How long after its minting an RTC token is refreshed while its participant is connected; 0 for ever',
    0,
  ),
  AUTH_REFRESH_GRACE_SECONDS: int(
    0,
    'seconds',
    'How long tabs that refresh at once may use one refresh token; 0 not at all',
    0,
    60,
  ),
  WEBHOOK_MAX_CONCURRENCY: int(256, 'requests', 'Webhook requests in flight per process', 2),
  WEBHOOK_MAX_CONCURRENCY_PER_ENDPOINT: int(32, 'requests', 'Webhook requests in flight per endpoint and process'),
  WEBHOOK_MAX_ENDPOINTS: int(10_000, 'endpoints', 'Webhook endpoints per project'),
  PUSH_MAX_DEVICES_PER_USER: int(25, 'devices', 'Devices of one user; the oldest makes room for a new one'),
  PUSH_MAX_ATTEMPTS: int(6, 'attempts', 'Attempts to send a notification'),
  PUSH_BACKOFF_BASE_MS: int(10_000, 'ms', 'Notification retry backoff base'),
  PUSH_TIMEOUT_MS: int(10_000, 'ms', 'Notification request timeout'),
  PUSH_MAX_CONCURRENCY: int(128, 'requests', 'Notification requests in flight per process', 2),
  WEBHOOK_RETENTION_DAYS: int(30, 'days', 'How long events and deliveries are kept', 1, 3650),
  OBSERVABILITY_RETENTION_DAYS: int(30, 'days', 'How long connections and their timelines are kept', 1, 3650),
  OBSERVABILITY_REQUESTS_PER_SECOND: int(
    10,
    'requests',
    'Requests of a project and environment that a process keeps in the request log per second, and as many failed ones; 0 for none',
    0,
  ),
  OBSERVABILITY_MAX_REQUESTS: int(200_000, 'requests', 'Requests in the request log per project and environment'),
  DATA_MAX_OPEN_JOBS: int(1000, 'jobs', 'Exports, erasures and imports per project and environment that are not done'),
  DATA_EXPORT_SECONDS: int(86400, 'seconds', 'How long an export and the files it links to can be fetched', 60, 604800),
  DATA_IMPORT_MAX_BYTES: int(256 * 2 ** 20, 'bytes', 'File of an import'),
  DATA_ERASURE_SETTLE_MS: int(
    3000,
    'ms',
    'How long an erasure waits before it looks again for what other processes were still writing',
    0,
    60000,
  ),
  ALERTS_MAX_RULES: int(100, 'alerts', 'Alerts per project and environment'),
  ALERTS_RETENTION_DAYS: int(90, 'days', 'How long the history of alerts is kept', 1, 3650),
  AUDIT_RETENTION_DAYS: int(0, 'days', 'How long audit and security entries are kept; 0 for ever', 0, 3650),
  AUDIT_MAX_FAILURES_PER_HOUR: int(20, 'entries', 'Failures recorded per account and hour'),
  HTTP_MAX_BODY_BYTES: int(262144, 'bytes', 'Request body', 65536),
  HTTP_MAX_LOOP_DELAY_MS: int(
    1000,
    'ms',
    'Mean event-loop delay, three seconds in a row, above which requests are refused; 0 for never',
    0,
  ),
  HTTP_DRAIN_SECONDS: int(10, 'seconds', 'How long a stopping server lets requests in flight finish', 0, 600),
  TLS_MAX_PENDING_PER_ADDRESS: int(
    256,
    'connections',
    'Connections of one address that are in their TLS handshake or have sent nothing yet, per process',
  ),
  TLS_MAX_PENDING_MS: int(10_000, 'ms', 'How long a connection may be in its handshake, and then send nothing', 100),
  TLS_MAX_RELAYED_PER_ADDRESS: int(256, 'connections', 'TURN connections of one address on PORT, per process', 0),
  SOCKETS_DRAIN_SECONDS: int(5, 'seconds', 'Over how long a stopping server spreads its sockets to others', 0, 600),
  SOCKETS_MAX_PER_PROCESS: int(20000, 'sockets', 'Open sockets per process'),
  SOCKETS_MAX_PER_SUBJECT: int(100, 'sockets', 'Open sockets per chat user or RTC token and process'),
  SOCKETS_MAX_MALFORMED_FRAMES: int(20, 'frames', 'Frames that cannot be read per connection per window'),
  SOCKETS_MAX_INVALID_FRAMES: int(
    1000,
    'frames',
    'Frames of unknown type or with invalid fields per connection per window',
  ),
  SOCKETS_MAX_PINGS: int(1200, 'frames', 'Pings per connection per window'),
} as const;

export const limitRows: Readonly<Record<LimitName, LimitRow>> = { ...specified, ...added };
export type LimitName = keyof typeof specified | keyof typeof added;

/** The limits in force. */
export type Limits = Readonly<Record<LimitName, number>>;

/** Reads the limits from variables; each bad one is named. */
export function readLimits(variables: Readonly<Record<string, string | undefined>>): {
  limits: Limits;
  problems: string[];
} {
  const problems: string[] = [];
  const entries = (Object.keys(limitRows) as LimitName[]).map((name) => {
    const text = variables[name];
    const { default: value, min, max, unit } = limitRows[name];
    if (text === undefined || text === '') return [name, value];
    const number = Number(text);
    if (!/^\d{1,15}$/.test(text) || number < min || number > max) {
      problems.push(`${name} must be a whole number of ${unit} from ${min} to ${max}, not "${text}".`);
    }
    return [name, number];
  });
  return { limits: Object.fromEntries(entries) as Limits, problems };
}
