// Generated from packages/contract by tools/generate.ts. Do not edit.

export interface Accepted {
  accepted: true;
}

export interface AccountSession {
  id: string;
  current: boolean;
  userAgent: string | null;
  device: string | null;
  ip: string | null;
  place: string | null;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
}

export interface AddConversationMember {
  userId: string;
  role?: ChatMemberRole;
  metadata?: Record<string, unknown> | null;
}

export interface AddMember {
  email: string;
  role: DashboardRole;
}

export interface AddPasskey {
  name: string;
  credential: {
    id: string;
    rawId: string;
    type: 'public-key';
    response: {
      clientDataJSON: string;
      attestationObject: string;
    };
  };
}

export interface AddReaction {
  emoji: string;
  userId?: string;
}

export interface Alert {
  id: string;
  projectId: string;
  environment: Environment;
  name: string;
  kind: AlertKind;
  bound: number | null;
  windowMinutes: number | null;
  meter: UsageMeter | null;
  period: AlertPeriod | null;
  target: string | null;
  emails: string[];
  webhook: boolean;
  state: AlertState;
  since: string;
  silencedUntil: string | null;
  value: number | null;
  detail: string | null;
  evaluatedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface AlertChange {
  id: string;
  at: string;
  state: AlertState;
  value: number | null;
  detail: string | null;
  notified: boolean;
}

export interface AlertHistoryQuery {
  limit?: number;
  cursor?: string;
}

export type AlertKind = 'JOIN_SUCCESS_BELOW' | 'WEBHOOK_FAILING' | 'NODE_OFFLINE' | 'USAGE_ABOVE';

export type AlertPeriod = 'DAY' | 'MONTH';

export type AlertState = 'OK' | 'FIRING' | 'SILENCED';

export interface AlertsQuery {
  limit?: number;
  cursor?: string;
  state?: AlertState;
}

export interface ApiKey {
  id: string;
  publicId: string;
  name: string;
  environment: Environment;
  status: ApiKeyStatus;
  prefix: string;
  createdBy: string | null;
  scopes: ApiKeyScope[] | null;
  expiresAt: string | null;
  allowedNetworks: string[] | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
  createdAt: string;
  revokedAt: string | null;
}

export type ApiKeyScope = 'rooms' | 'tokens' | 'chat' | 'streams' | 'webhooks' | 'users' | 'alerts' | 'read';

export type ApiKeyStatus = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

export interface ApiRequest {
  id: string;
  requestId: string;
  at: string;
  method: string;
  route: string;
  status: number;
  ms: number;
  credential: RequestCredential;
  keyId: string | null;
  error: {
    code: string;
    message: string;
    fix: string;
  } | null;
  skipped: number;
}

export type ApnsEnvironment = 'PRODUCTION' | 'SANDBOX';

export interface Attachment {
  id: string;
  publicId: string;
  conversationId: string;
  filename: string;
  mimeType: string;
  size: number;
  status: AttachmentStatus;
  uploaderId: string | null;
  metadata: Record<string, unknown>;
  checksum: string | null;
  createdAt: string;
  completedAt: string | null;
  messageId: string | null;
  media?: AttachmentMedia | null;
  scan?: AttachmentScan | null;
}

export interface AttachmentDownload {
  url: string;
  expiresAt: string;
  filename: string;
  mimeType: string;
  size: number;
}

export interface AttachmentMedia {
  kind: 'image' | 'audio';
  width?: number;
  height?: number;
  animated?: boolean;
  thumbhash?: string;
  sizes?: PictureSize[];
  durationMs?: number | null;
  waveform?: number[] | null;
}

export type AttachmentScan = 'PENDING' | 'CLEAN' | 'REJECTED' | 'SKIPPED';

export interface AttachmentScanned {
  attachmentId: string;
  conversationId: string;
  messageId: string | null;
  uploaderId: string | null;
  result: AttachmentScan;
  reason: string | null;
  at: string;
}

export type AttachmentStatus = 'PENDING' | 'UPLOADED' | 'ATTACHED' | 'EXPIRED';

export interface AttachmentUpload {
  attachment: Attachment;
  uploadUrl: string;
  method: 'PUT';
  headers: Record<string, string>;
  expiresAt: string;
}

export interface AuditEntry {
  id: string;
  publicId: string;
  projectId: string;
  environment: Environment | null;
  actorId: string;
  actorEmail: string;
  action: string;
  resourceType: string;
  resourceId: string;
  metadata: Record<string, unknown>;
  requestId: string;
  ipAddress: string;
  userAgent: string | null;
  createdAt: string;
}

export interface AuditExportQuery {
  action?: string;
  actorId?: string;
  resourceId?: string;
  from?: string;
  to?: string;
}

export interface AuditQuery {
  action?: string;
  actorId?: string;
  resourceId?: string;
  limit?: number;
  before?: string;
}

export interface BadgeQuery {
  cursor?: string;
}

export interface BanProjectChatUserQuery {
  environment?: string;
}

export interface BlocksQuery {
  limit?: number;
  cursor?: string;
  userId?: string;
}

export interface Call {
  id: string;
  roomId: string;
  roomName: string | null;
  startedAt: string;
  lastSampleAt: string;
  participantCount: number;
  score: number | null;
  worstScore: number | null;
}

export interface CallDetail {
  id: string;
  roomId: string | null;
  roomName: string | null;
  startedAt: string;
  lastSampleAt: string;
  participantCount: number;
  score: number | null;
  worstScore: number | null;
  findings: CallFinding[];
  participants: CallParticipant[];
  nodes: Array<{
    name: string;
    points: Array<{
      at: string;
      cpuPercent: number | null;
    }>;
  }>;
}

export interface CallFinding {
  rule: string;
  because: string;
  participant: string | null;
  trackId: string | null;
  from: string;
  until: string;
  sentence: string;
}

export interface CallLink {
  url: string;
  expiresAt: string;
}

export interface CallParticipant {
  name: string;
  score: number | null;
  audioMos: number | null;
  videoScore: number | null;
  stays: Array<{
    connectionId: string;
    state: string;
    from: string;
    until: string | null;
    transport: string | null;
  }>;
  steps: CallStep[];
  tracks: CallTrack[];
  bandwidth: Array<{
    at: string;
    kbps: number | null;
  }>;
}

export interface CallPoint {
  at: string;
  kbps: number | null;
  lossPercent: number | null;
  rttMs: number | null;
  jitterMs: number | null;
  fps: number | null;
  freezeMs: number | null;
  height: number | null;
}

export interface CallStep {
  at: string;
  type: string;
  source: ConnectionEventSource;
  trackId: string | null;
  detail: string | null;
}

export interface CallTrack {
  id: string;
  direction: 'out' | 'in';
  kind: 'audio' | 'video';
  measuredBy: 'client' | 'node';
  publisher: string | null;
  source: string | null;
  points: CallPoint[];
}

export interface CallsQuery {
  sort?: 'newest' | 'worst';
  days?: number;
  roomId?: string;
  maxScore?: number;
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface CastVote {
  optionIds: number[];
  userId?: string;
}

export interface Change {
  change: number;
  type: string;
}

export interface ChangeConversationMember {
  role?: ChatMemberRole;
  metadata?: Record<string, unknown> | null;
}

export interface ChangeInboxEntry {
  muted?: boolean;
  mutedUntil?: string | null;
  pinned?: boolean;
  hidden?: boolean;
  userId?: string;
}

export interface ChangeMember {
  role: DashboardRole;
}

export interface ChangePage {
  changes: Change[];
  nextCursor: string;
  change: number;
  complete: boolean;
}

export interface ChangePassword {
  currentPassword: string;
  password: string;
}

export interface ChangeScheduled {
  text?: string;
  metadata?: Record<string, unknown> | null;
  mentions?: MentionsDraft | null;
  sendAt?: string;
}

export interface ChangesQuery {
  since?: string;
  limit?: number;
}

export interface ChatBlock {
  userId: string;
  blockedId: string;
  createdAt: string;
}

export interface ChatConnection {
  id: string;
  userId: string;
  connectedAt: string;
  disconnectedAt: string | null;
  closeCode: number | null;
  subscriptions: number;
  messagesSent: number;
  userAgent: string | null;
  ip: string | null;
}

export interface ChatDeletion {
  id: string;
  userId: string;
  conversationId: string | null;
  status: 'RUNNING' | 'DONE';
  deleted: number;
  createdAt: string;
  finishedAt: string | null;
}

export type ChatMemberRole = 'OWNER' | 'ADMIN' | 'MODERATOR' | 'MEMBER' | 'GUEST';

export interface ChatOverview {
  conversations: {
    total: number;
    active: number;
    archived: number;
  };
  members: number;
  messages: {
    total: number;
    last24h: number;
    last7d: number;
  };
  connections: {
    active: number;
  };
  reactions: number;
  attachments: number;
  hours: Array<{
    at: string;
    messages: number;
  }>;
  asOf: string;
}

export interface ChatReport {
  id: string;
  conversationId: string;
  messageId: string;
  senderId: string | null;
  source: 'USER' | 'WORD_LIST';
  reporterId: string | null;
  reason: string;
  note: string | null;
  status: ReportStatus;
  action: string | null;
  resolvedAt: string | null;
  createdAt: string;
}

export interface ChatToken {
  id: string;
  publicId: string;
  tokenId: string;
  token: string;
  tokenType: 'Bearer';
  userId: string;
  scopes: string[];
  conversations: string[] | null;
  expiresAt: string;
  expiresIn: number;
  websocketUrl: string;
}

export interface ChatUser {
  userId: string;
  name: string | null;
  avatarUrl: string | null;
  role: string | null;
  metadata: Record<string, unknown>;
  createdAt: string | null;
  updatedAt: string | null;
}

export interface ChatUserFields {
  name?: string | null;
  avatarUrl?: string | null;
  role?: string | null;
  metadata?: Record<string, unknown> | null;
}

export interface ChatUserMetadata {
  userId: string;
  hasRecord: boolean;
  hasName: boolean;
  hasAvatar: boolean;
  role: string | null;
  metadataBytes: number;
  createdAt: string | null;
  updatedAt: string | null;
  isConnected: boolean;
  lastSeenAt: string | null;
}

export interface ChatUserOverview {
  userId: string;
  hasRecord: boolean;
  hasName: boolean;
  hasAvatar: boolean;
  role: string | null;
  metadataBytes: number;
  createdAt: string | null;
  updatedAt: string | null;
  isConnected: boolean;
  lastSeenAt: string | null;
  sanctions: Sanction[];
}

export interface ChatUsersQuery {
  limit?: number;
  cursor?: string;
  ids?: string;
}

export interface ClassifiedError {
  id: string;
  category: ErrorCategory;
  code: string;
  message: string;
  hint: string | null;
  retryable: boolean;
  connectionId: string | null;
  roomId: string | null;
  participantIdentity: string | null;
  occurredAt: string;
  count: number;
  context: Record<string, unknown>;
  createdAt: string;
}

export interface CloseProjectRoomQuery {
  environment?: string;
}

export interface Connection {
  id: string;
  connectionId: string;
  roomId: string | null;
  roomName: string | null;
  participantIdentity: string | null;
  tokenId: string | null;
  state: ConnectionState;
  serverName: string | null;
  region: string | null;
  clientIp: string | null;
  userAgent: string | null;
  sdk: {
    name: string | null;
    version: string | null;
  } | null;
  transport: string | null;
  startedAt: string;
  connectedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  timeToConnectMs: number | null;
  disconnectReason: string | null;
  reconnectCount: number;
  quality: {
    rttMs: number | null;
    packetLossPercent: number | null;
    jitterMs: number | null;
    mos: number | null;
  };
  errorCount: number;
  createdAt: string;
}

export interface ConnectionDetail {
  id: string;
  connectionId: string;
  roomId: string | null;
  roomName: string | null;
  participantIdentity: string | null;
  tokenId: string | null;
  state: ConnectionState;
  serverName: string | null;
  region: string | null;
  clientIp: string | null;
  userAgent: string | null;
  sdk: {
    name: string | null;
    version: string | null;
  } | null;
  transport: string | null;
  startedAt: string;
  connectedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  timeToConnectMs: number | null;
  disconnectReason: string | null;
  reconnectCount: number;
  quality: {
    rttMs: number | null;
    packetLossPercent: number | null;
    jitterMs: number | null;
    mos: number | null;
  };
  errorCount: number;
  createdAt: string;
  events: ConnectionEvent[];
  errors: ClassifiedError[];
}

export interface ConnectionEvent {
  id: string;
  type: string;
  source: ConnectionEventSource;
  timestamp: string;
  receivedAt: string;
  happenedAt: string;
  data: Record<string, unknown>;
}

export type ConnectionEventSource = 'SERVER' | 'CLIENT';

export interface ConnectionMetrics {
  window: {
    from: string;
    to: string;
  };
  connections: {
    total: number;
    active: number;
    succeeded: number;
    failed: number;
    successRate: number | null;
    byState: Record<string, number>;
  };
  timeToConnectMs: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
  };
  durationMs: {
    avg: number | null;
    p50: number | null;
    p95: number | null;
  };
  errors: {
    total: number;
    byCategory: Record<string, number>;
  };
  quality: {
    rttMs: number | null;
    packetLossPercent: number | null;
    jitterMs: number | null;
    mos: number | null;
  };
  series: {
    minutes: MetricsPoint[];
    hours: MetricsPoint[];
  };
  asOf: string;
}

export type ConnectionQuality = 'EXCELLENT' | 'GOOD' | 'POOR' | 'LOST';

export type ConnectionState = 'CONNECTING' | 'CONNECTED' | 'RECONNECTING' | 'DISCONNECTED' | 'FAILED';

export interface ConnectionsQuery {
  state?: ConnectionState;
  roomId?: string;
  limit?: number;
  cursor?: string;
}

export interface Conversation {
  id: string;
  publicId: string;
  uuid: string;
  name: string;
  type: ConversationType;
  status: ConversationStatus;
  roomId: string | null;
  liveStreamId: string | null;
  retentionDays: number | null;
  effectiveRetentionDays: number | null;
  slowModeSeconds: number;
  metadata: Record<string, unknown>;
  memberCount: number;
  messageCount: number;
  lastMessageAt: string | null;
  lastMessageId: string | null;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
  myRole?: ChatMemberRole | null;
  unreadCount?: number | null;
  lastReadMessageId?: string | null;
}

export interface ConversationMember {
  userId: string;
  role: ChatMemberRole;
  metadata: Record<string, unknown>;
  active: boolean;
  joinedAt: string;
  removedAt: string | null;
  lastReadMessageId: string | null;
  lastReadAt: string | null;
}

export interface ConversationOverview {
  id: string;
  publicId: string;
  uuid: string;
  name: string;
  type: ConversationType;
  status: ConversationStatus;
  roomId: string | null;
  liveStreamId: string | null;
  retentionDays: number | null;
  effectiveRetentionDays: number | null;
  slowModeSeconds: number;
  metadata: Record<string, unknown>;
  memberCount: number;
  messageCount: number;
  lastMessageAt: string | null;
  lastMessageId: string | null;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
  myRole?: ChatMemberRole | null;
  unreadCount?: number | null;
  lastReadMessageId?: string | null;
  pins: {
    count: number;
    max: number;
  };
  polls: {
    open: number;
    closed: number;
    voters: number;
    isCapped: boolean;
  };
  scheduled: {
    waiting: number;
    failed: number;
    nextAt: string | null;
    isCapped: boolean;
  };
}

export type ConversationStatus = 'ACTIVE' | 'ARCHIVED' | 'DELETED';

export type ConversationType = 'DIRECT' | 'GROUP' | 'CHANNEL' | 'ROOM';

export interface CreateAlert {
  name: string;
  kind: AlertKind;
  bound?: number;
  windowMinutes?: number;
  meter?: UsageMeter;
  period?: AlertPeriod;
  target?: string;
  emails?: string[];
  webhook?: boolean;
}

export interface CreateApiKey {
  name: string;
  environment?: Environment;
  scopes?: ApiKeyScope[];
  expiresAt?: string;
  allowedNetworks?: string[];
}

export interface CreateConversation {
  name: string;
  type?: ConversationType;
  roomId?: string;
  retentionDays?: number | null;
  members?: Array<string | AddConversationMember>;
  metadata?: Record<string, unknown> | null;
}

export interface CreateLiveStream {
  title: string;
  hostIdentity: string;
  description?: string;
  thumbnailUrl?: string;
  category?: string;
  tags?: string[];
  language?: string;
  visibility?: LiveStreamVisibility;
  metadata?: Record<string, unknown>;
  scheduledAt?: string;
}

export interface CreateProject {
  name: string;
}

export interface CreateProjectAlertQuery {
  environment?: string;
}

export interface CreateProjectLiveStreamQuery {
  environment?: string;
}

export interface CreateProjectRoomQuery {
  environment?: string;
}

export interface CreateRoom {
  name: string;
  metadata?: Record<string, unknown>;
  maxParticipants?: number;
  duplicateIdentity?: DuplicateIdentity;
  region?: string;
  recording?: boolean;
}

export interface CreateSigningKey {
  name: string;
  environment?: Environment;
  algorithm: SigningAlgorithm;
  publicKey?: string;
}

export interface CreateWebhook {
  url: string;
  environment?: Environment;
  events?: string[];
  description?: string;
  headers?: Record<string, string>;
}

export type DashboardRole = 'OWNER' | 'ADMIN' | 'DEVELOPER' | 'VIEWER';

export interface DataJob {
  id: string;
  kind: DataJobKind;
  state: DataJobState;
  userId: string | null;
  progress: number;
  error: string | null;
  url: string | null;
  size: number | null;
  createdAt: string;
  finishedAt: string | null;
  expiresAt: string | null;
}

export type DataJobKind = 'EXPORT' | 'ERASURE' | 'IMPORT';

export interface DataJobMetadata {
  id: string;
  kind: DataJobKind;
  state: DataJobState;
  userId: string | null;
  progress: number;
  error: string | null;
  size: number | null;
  createdAt: string;
  finishedAt: string | null;
  expiresAt: string | null;
}

export type DataJobState = 'WAITING' | 'QUEUED' | 'RUNNING' | 'DONE' | 'FAILED';

export interface DeleteMessages {
  conversation?: string;
}

export interface DeleteProjectAlertQuery {
  environment?: string;
}

export interface DeleteProjectUserMessagesQuery {
  environment?: string;
}

export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: DeliveryStatus;
  attempts: number;
  maxAttempts: number;
  nextAttemptAt: string | null;
  lastStatusCode: number | null;
  lastError: string | null;
  lastDurationMs: number | null;
  createdAt: string;
  deliveredAt: string | null;
  failedAt: string | null;
  attemptLog: DeliveryAttempt[];
}

export interface DeliveryAttempt {
  number: number;
  at: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  responseExcerpt: string | null;
}

export type DeliveryStatus = 'PENDING' | 'RETRYING' | 'DELIVERED' | 'FAILED' | 'CANCELLED';

export interface Dependency {
  name: string;
  status: DependencyStatus;
  latencyMs: number | null;
  checkedAt: string;
  message: string | null;
}

export type DependencyStatus = 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';

export interface Diagnostics {
  status: DependencyStatus;
  checkedAt: string;
  dependencies: Dependency[];
}

export type DisconnectReason = 'CLIENT_INITIATED' | 'DUPLICATE_IDENTITY' | 'PARTICIPANT_REMOVED' | 'TOKEN_REVOKED' | 'TOKEN_EXPIRED' | 'ROOM_CLOSED' | 'STREAM_ENDED' | 'SERVER_SHUTDOWN' | 'NODE_DRAINED' | 'CONNECTION_TIMEOUT' | 'SIGNAL_CLOSED' | 'MEDIA_FAILURE' | 'JOIN_FAILURE' | 'RATE_LIMITED' | 'UNKNOWN';

export interface DownloadQuery {
  size?: number;
}

export interface DrainServer {
  force?: boolean;
}

export type DuplicateIdentity = 'KICK_OLD' | 'REJECT_NEW';

export interface EditMessage {
  text?: string;
  metadata?: Record<string, unknown> | null;
  mentions?: MentionsDraft | null;
}

export interface EmailOnly {
  email: string;
}

export interface EndProjectLiveStreamQuery {
  environment?: string;
}

export interface EndUser {
  userId: string;
  banned: boolean;
  bannedUntil: string | null;
  reason: string | null;
  revokedAt: string | null;
}

export type Environment = 'DEVELOPMENT' | 'PRODUCTION';

export interface EraseUser {
  messages: 'delete' | 'anonymize';
}

export type ErrorCategory = 'AUTHENTICATION' | 'PERMISSION' | 'SIGNALING' | 'ICE' | 'DTLS' | 'MEDIA' | 'DEVICE' | 'NETWORK' | 'CAPACITY' | 'SERVER' | 'CLIENT' | 'UNKNOWN';

export interface ErrorDetail {
  field: string;
  rule: string;
  message: string;
}

export interface ErrorEnvelope {
  code: string;
  legacyCode: string;
  message: string;
  requestId: string;
  path: string;
  details?: ErrorDetail[];
  retryAfterSeconds?: number;
}

export interface ErrorWithConnection {
  id: string;
  category: ErrorCategory;
  code: string;
  message: string;
  hint: string | null;
  retryable: boolean;
  connectionId: string | null;
  roomId: string | null;
  participantIdentity: string | null;
  occurredAt: string;
  count: number;
  context: Record<string, unknown>;
  createdAt: string;
  connection: Connection | null;
}

export interface ErrorsQuery {
  category?: ErrorCategory;
  connectionId?: string;
  limit?: number;
  cursor?: string;
}

export interface Face {
  userId: string;
  name: string | null;
  avatarUrl: string | null;
}

export interface FactorAdded {
  recoveryCodes: string[] | null;
}

export interface FactorChallenge {
  challenge: string;
  rpId: string;
  allowCredentials: Array<{
    type: 'public-key';
    id: string;
  }>;
  userVerification: 'required' | 'preferred';
  timeout: number;
  factors: FactorKind[];
}

export type FactorKind = 'TOTP' | 'PASSKEY' | 'RECOVERY_CODE';

export interface Factors {
  totp: {
    createdAt: string;
  } | null;
  passkeys: Passkey[];
  recoveryCodesLeft: number;
  passkeysAvailable: boolean;
}

export interface FirstAccount {
  token: string;
  email: string;
  password: string;
  name?: string;
}

export interface FleetTotals {
  servers: number;
  activeRooms: number;
  activeParticipants: number;
  capacityRooms: number | null;
  utilizationPercent: number | null;
  networkInBps: number | null;
  networkOutBps: number | null;
  serversByStatus: {
    ACTIVE: number;
    DRAINING: number;
    DRAINED: number;
    OFFLINE: number;
  };
  byRegion: Array<{
    region: string;
    servers: number;
    activeRooms: number;
    activeParticipants: number;
    capacityRooms: number | null;
    utilizationPercent: number | null;
    networkInBps: number | null;
    networkOutBps: number | null;
  }>;
  asOf: string;
}

export interface ForUser {
  userId?: string;
}

export interface ForwardDraft {
  messageId: string;
}

export interface ForwardedFrom {
  messageId: string;
  senderId: string | null;
  createdAt: string;
}

export interface GetChatOverviewQuery {
  environment?: string;
}

export interface GetProjectAlertQuery {
  environment?: string;
}

export interface GetProjectCallQuery {
  environment?: string;
}

export interface GetProjectChatUserQuery {
  environment?: string;
}

export interface GetProjectConnectionQuery {
  environment?: string;
}

export interface GetProjectConversationQuery {
  environment?: string;
}

export interface GetProjectDiagnosticsQuery {
  environment?: string;
}

export interface GetProjectErrorQuery {
  environment?: string;
}

export interface GetProjectLiveStreamQuery {
  environment?: string;
}

export interface GetProjectMetricsQuery {
  environment?: string;
}

export interface GetProjectModerationQuery {
  environment?: string;
}

export interface GetProjectPushQuery {
  environment?: string;
}

export interface GetProjectRequestQuery {
  environment?: string;
}

export interface GetProjectRoomQuery {
  environment?: string;
}

export interface Heartbeat {
  activeRooms: number;
  activeParticipants: number;
  cpuPercent?: number;
  memoryPercent?: number;
  networkInBps?: number;
  networkOutBps?: number;
  coreCpuPercents?: number[];
  packetsInPerSecond?: number;
  packetsOutPerSecond?: number;
  lossInPercent?: number;
  lossOutPercent?: number;
  dataDropped?: number;
  leaving?: boolean;
  publicHost?: string;
}

export interface HeartbeatAnswer {
  status: RtcServerStatus;
  draining: boolean;
  observedAddress: string;
  commands: unknown[];
}

export interface HistoryQuery {
  limit?: number;
  before?: string;
  after?: string;
  threadRootId?: string;
  senderId?: string;
  includeDeleted?: boolean;
}

export type HookFailure = 'open' | 'closed';

export interface HookSummary {
  origin: string;
  timeoutMs: number;
  onFailure: HookFailure;
}

export interface IceServer {
  urls: string[];
  username?: string;
  credential?: string;
}

export interface ImportConversations {
  size: number;
}

export interface ImportUpload {
  job: DataJob;
  uploadUrl: string;
  method: 'PUT';
  headers: Record<string, string>;
  expiresAt: string;
}

export interface ImposeSanction {
  until?: string;
  reason?: string;
}

export interface InboxBadge {
  unreadConversations: number;
  unreadMessages: number;
  unreadMentions: number;
  changesAt?: string;
}

export interface InboxEntry {
  conversation: Conversation;
  lastMessage: MessagePreview | null;
  lastActivityAt: string;
  unreadCount: number;
  unreadMentions: number;
  lastReadMessageId: string | null;
  lastReadSeq: number | null;
  lastReadAt: string | null;
  muted: boolean;
  mutedUntil: string | null;
  pinned: boolean;
  pinnedAt: string | null;
  hidden: boolean;
  faces: Face[];
}

export interface InboxQuery {
  limit?: number;
  cursor?: string;
  unread?: boolean;
  pinned?: boolean;
  archived?: boolean;
  hidden?: boolean;
  type?: ConversationType;
}

export interface InstanceSecurityQuery {
  action?: string;
  limit?: number;
  before?: string;
  userId?: string;
}

export type LinkPolicy = 'allowed' | 'forbidden' | 'moderators';

export interface LinkPreview {
  url: string;
  title: string;
  description: string | null;
  siteName: string | null;
  imageUrl: string | null;
}

export interface LinkPreviewSettings {
  enabled: boolean;
}

export interface ListApiKeysQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListChatConnectionsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListDataJobsQuery {
  limit?: number;
  cursor?: string;
  kind?: DataJobKind;
}

export interface ListDeliveriesQuery {
  limit?: number;
  cursor?: string;
  status?: DeliveryStatus;
  eventType?: string;
  eventId?: string;
}

export interface ListProjectAlertHistoryQuery {
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface ListProjectAlertsQuery {
  limit?: number;
  cursor?: string;
  state?: AlertState;
  environment?: string;
}

export interface ListProjectChatBansQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectChatDeletionsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectChatMutesQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectChatShadowsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectChatUsersQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  userId?: string;
}

export interface ListProjectConnectionsQuery {
  state?: ConnectionState;
  roomId?: string;
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface ListProjectConversationMembersQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectConversationSanctionsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectConversationsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  name?: string;
  type?: ConversationType;
  userId?: string;
}

export interface ListProjectDataJobsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  kind?: DataJobKind;
}

export interface ListProjectErrorsQuery {
  category?: ErrorCategory;
  connectionId?: string;
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface ListProjectLiveStreamsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  title?: string;
  status?: LiveStreamStatus;
}

export interface ListProjectMessagesQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectPresenceQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListProjectReportsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  status?: ReportStatus;
}

export interface ListProjectRoomsQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
  name?: string;
  serverName?: string;
}

export interface ListRevokedUsersQuery {
  limit?: number;
  cursor?: string;
  banned?: boolean;
}

export interface ListSigningKeysQuery {
  environment?: string;
  limit?: number;
  cursor?: string;
}

export interface ListWebhooksQuery {
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface LiveStream {
  id: string;
  publicId: string;
  streamId: string;
  title: string;
  description: string | null;
  thumbnailUrl: string | null;
  category: string | null;
  tags: string[];
  language: string | null;
  visibility: LiveStreamVisibility;
  status: LiveStreamStatus;
  metadata: Record<string, unknown>;
  hostIdentity: string;
  roomId: string;
  roomName: string;
  conversationId: string;
  viewerCount: number | null;
  peakViewerCount: number;
  scheduledAt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  createdAt: string;
  updatedAt: string;
}

export interface LiveStreamHost {
  identity: string;
  role: LiveStreamHostRole;
  registeredAt: string;
  removedAt: string | null;
}

export type LiveStreamHostRole = 'HOST' | 'CO_HOST';

export type LiveStreamStatus = 'CREATED' | 'LIVE' | 'ENDED';

export type LiveStreamVisibility = 'PUBLIC' | 'UNLISTED' | 'PRIVATE';

export interface LiveStreamWithHosts {
  id: string;
  publicId: string;
  streamId: string;
  title: string;
  description: string | null;
  thumbnailUrl: string | null;
  category: string | null;
  tags: string[];
  language: string | null;
  visibility: LiveStreamVisibility;
  status: LiveStreamStatus;
  metadata: Record<string, unknown>;
  hostIdentity: string;
  roomId: string;
  roomName: string;
  conversationId: string;
  viewerCount: number | null;
  peakViewerCount: number;
  scheduledAt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  createdAt: string;
  updatedAt: string;
  hosts: LiveStreamHost[];
}

export interface Login {
  email: string;
  password: string;
}

export interface MarkDelivered {
  seq: number;
  userId?: string;
}

export interface MarkUnread {
  messageId?: string;
  userId?: string;
}

export interface MediaReach {
  relays: string[];
}

export type MemberStatus = 'ACTIVE' | 'INVITED';

export interface Mentions {
  users: string[];
  here: boolean;
  all: boolean;
}

export interface MentionsDraft {
  users?: string[];
  here?: boolean;
  all?: boolean;
}

export interface Message {
  id: string;
  publicId: string;
  conversationId: string;
  seq: number;
  change: number;
  type: MessageType;
  text: string | null;
  senderId: string | null;
  senderRole: ChatMemberRole | null;
  replyTo: string | null;
  threadRootId: string | null;
  replyCount: number;
  lastReplyAt: string | null;
  clientMessageId: string | null;
  attachmentId: string | null;
  attachment: Attachment | null;
  metadata: Record<string, unknown>;
  reactions: ReactionSummary[];
  edited: boolean;
  editedAt: string | null;
  deleted: boolean;
  deletedAt: string | null;
  deletedBy: string | null;
  clientSentAt: number | null;
  createdAt: string;
  updatedAt: string;
  mentions?: Mentions | null;
  attachments?: Attachment[];
  linkPreview?: LinkPreview;
  poll?: Poll;
  forwardedFrom?: ForwardedFrom;
}

export interface MessageDraft {
  conversationId: string;
  userId: string;
  text: string;
  replyTo: string | null;
  metadata: Record<string, unknown>;
  revision: number;
  updatedAt: string;
}

export interface MessageMetadata {
  id: string;
  publicId: string;
  seq: number;
  type: MessageType;
  senderId: string | null;
  status: MessageStatus;
  threadRootId: string | null;
  createdAt: string;
  editedAt: string | null;
  deletedAt: string | null;
  latencyMs: number | null;
}

export interface MessagePage {
  messages: Message[];
  nextCursor: string | null;
  latestCursor: string | null;
}

export interface MessagePreview {
  id: string;
  seq: number;
  type: MessageType;
  text: string | null;
  senderId: string | null;
  attachmentId: string | null;
  edited: boolean;
  deleted: boolean;
  createdAt: string;
}

export type MessageStatus = 'SENT' | 'EDITED' | 'DELETED';

export type MessageType = 'text' | 'attachment' | 'custom' | 'system' | 'event';

export interface MetricsPoint {
  at: string;
  started: number;
  succeeded: number;
  failed: number;
  active: number;
  successRate: number | null;
  timeToConnectMs: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
  };
  errors: Record<string, number>;
  messages: number;
  deliveries: {
    delivered: number;
    failed: number;
  };
}

export interface MintChatToken {
  userId: string;
  conversations?: string[];
  scopes?: string[];
  ttlSeconds?: number;
}

export interface MintRtcToken {
  participantIdentity: string;
  permissions?: RtcTokenPermissionsDto;
  ttlSeconds?: number;
  metadata?: string;
}

export interface MintTestToken {
  participantIdentity?: string;
}

export interface MintTestTokenQuery {
  environment?: string;
}

export interface ModerationHook {
  url: string;
  timeoutMs: number;
  onFailure: HookFailure;
  secretHint: string;
}

export interface ModerationOverview {
  wordLists: WordList[];
  links: LinkPolicy;
  updatedAt: string | null;
  hook: ModerationHook | null;
  scan: ModerationHook | null;
  linkPreviews: boolean;
}

export interface ModerationSettings {
  wordLists: WordList[];
  links: LinkPolicy;
  updatedAt: string | null;
}

export interface ModerationSummary {
  wordLists: Array<{
    name: string;
    action: WordAction;
    words: number;
    patterns: number;
  }>;
  links: LinkPolicy;
}

export interface MuteProjectChatUserQuery {
  environment?: string;
}

export interface MuteProjectTrackQuery {
  environment?: string;
}

export interface MuteTrack {
  muted?: boolean;
}

export interface NewApiKey {
  id: string;
  publicId: string;
  name: string;
  environment: Environment;
  status: ApiKeyStatus;
  prefix: string;
  createdBy: string | null;
  scopes: ApiKeyScope[] | null;
  expiresAt: string | null;
  allowedNetworks: string[] | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
  createdAt: string;
  revokedAt: string | null;
  key: string;
}

export interface NewCallLink {
  withoutNames?: boolean;
}

export interface NewModerationHook {
  url: string;
  timeoutMs: number;
  onFailure: HookFailure;
  secretHint: string;
  secret: string | null;
}

export interface NewSigningKey {
  id: string;
  name: string;
  environment: Environment;
  algorithm: SigningAlgorithm;
  status: SigningKeyStatus;
  publicKey: string | null;
  createdBy: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  revokedAt: string | null;
  key: string | null;
}

export interface NewWebhook {
  id: string;
  projectId: string;
  environment: Environment;
  url: string;
  events: string[];
  status: WebhookStatus;
  consecutiveFailures: number;
  lastDeliveryAt: string | null;
  lastError: string | null;
  description: string | null;
  headerNames: string[];
  secretHint: string;
  previousSecretExpiresAt: string | null;
  createdAt: string;
  updatedAt: string;
  disabledAt: string | null;
  secret: string;
}

export interface OAuthExchange {
  code: string;
  state: string;
  redirectUri: string;
  iss?: string;
}

export interface OAuthProvider {
  provider: string;
  label: string;
}

export interface OAuthStart {
  redirectUri: string;
  state?: string;
}

export interface OAuthStarted {
  authorizationUrl: string;
  state: string;
}

export interface OpenDirect {
  userIds: string[];
}

export interface Participant {
  identity: string;
  sessionId: string;
  kind: ParticipantKind;
  state: ParticipantState;
  metadata: string | null;
  permissions: RtcTokenPermissions;
  joinedAt: string;
  connectionId: string | null;
  quality: ConnectionQuality | null;
  region: string | null;
  isPublisher: boolean;
  tracks: Track[];
}

export type ParticipantKind = 'MEMBER' | 'VIEWER';

export type ParticipantState = 'JOINING' | 'JOINED' | 'ACTIVE' | 'DISCONNECTED';

export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface PasskeyAdded {
  passkey: Passkey;
  recoveryCodes: string[] | null;
}

export interface PasskeyAssertion {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
  };
}

export interface PasskeyCreation {
  challenge: string;
  rp: {
    id: string;
    name: string;
  };
  user: {
    id: string;
    name: string;
    displayName: string;
  };
  pubKeyCredParams: Array<{
    type: 'public-key';
    alg: number;
  }>;
  excludeCredentials: Array<{
    type: 'public-key';
    id: string;
  }>;
  authenticatorSelection: {
    residentKey: 'preferred';
    userVerification: 'preferred';
  };
  attestation: 'none';
  timeout: number;
}

export interface PasskeyLogin {
  passkey: PasskeyAssertion;
}

export interface PasskeyRequest {
  challenge: string;
  rpId: string;
  allowCredentials: Array<{
    type: 'public-key';
    id: string;
  }>;
  userVerification: 'required' | 'preferred';
  timeout: number;
}

export interface PictureSize {
  size: number;
  width: number;
  height: number;
  bytes: number;
}

export interface Pin {
  conversationId: string;
  messageId: string;
  pinnedBy: string;
  pinnedAt: string;
  message: Message;
}

export interface Poll {
  question: string;
  options: Array<{
    id: number;
    text: string;
    votes: number;
  }>;
  maxVotes: number;
  anonymous: boolean;
  closesAt: string | null;
  closedAt: string | null;
  voters: number;
  ownVotes?: number[];
}

export interface PollDraft {
  question: string;
  options: string[];
  maxVotes?: number;
  anonymous?: boolean;
  closesAt?: string | null;
}

export interface PollVote {
  userId: string;
  optionIds: number[];
  votedAt: string;
}

export interface PollVotesQuery {
  limit?: number;
  cursor?: string;
  optionId?: number;
}

export interface Presence {
  userId: string;
  status: PresenceStatus;
  since: string;
  lastSeenAt: string;
  connections: number;
}

export type PresenceStatus = 'ONLINE' | 'AWAY' | 'OFFLINE';

export interface Project {
  id: string;
  name: string;
  slug: string;
  status: ProjectStatus;
  environment: Environment | null;
  allowedOrigins: string[];
  allowLocalhostOrigins: boolean;
  requireSecondFactor: boolean;
  role: DashboardRole | null;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
}

export interface ProjectMember {
  userId: string | null;
  email: string;
  name: string | null;
  role: DashboardRole;
  status: MemberStatus;
  addedAt: string;
}

export type ProjectStatus = 'ACTIVE' | 'ARCHIVED';

export interface ProjectUsageReportQuery {
  from?: string;
  to?: string;
  environment?: string;
}

export type PushContent = 'NONE' | 'PREVIEW';

export interface PushDevice {
  id: string;
  userId: string;
  kind: PushKind;
  hint: string;
  createdAt: string;
  updatedAt: string;
}

export interface PushKey {
  publicKey: string;
}

export type PushKind = 'WEB_PUSH' | 'FCM' | 'APNS';

export type PushLevel = 'ALL' | 'MENTIONS' | 'OFF';

export interface PushOverview {
  settings: PushSettings;
  services: PushService[];
}

export interface PushPreferences {
  userId: string;
  level: PushLevel | null;
  quietHours: QuietHours | null;
}

export interface PushService {
  kind: PushKind;
  devices: number;
  waiting: number;
  retrying: number;
}

export interface PushSettings {
  content: PushContent;
  level: PushLevel;
  webPush: {
    publicKey: string;
    subject: string;
  };
  fcm: {
    projectId: string;
    clientEmail: string;
  } | null;
  apns: {
    teamId: string;
    keyId: string;
  } | null;
  updatedAt: string;
}

export interface PutChatUsers {
  users: Array<{
    userId: string;
    name?: string | null;
    avatarUrl?: string | null;
    role?: string | null;
    metadata?: Record<string, unknown> | null;
  }>;
}

export interface PutPushDevice {
  kind: PushKind;
  userId?: string;
  endpoint?: string;
  keys?: {
    p256dh: string;
    auth: string;
  };
  token?: string;
  topic?: string;
  environment?: ApnsEnvironment;
}

export interface QuietHours {
  from: string;
  until: string;
  timeZone: string;
}

export interface ReactionSummary {
  emoji: string;
  count: number;
  userIds: string[];
  reacted?: boolean;
}

export interface ReadReceipt {
  userId: string;
  lastReadMessageId: string | null;
  lastReadSeq: number | null;
  lastReadAt: string | null;
  lastDeliveredSeq: number | null;
  lastDeliveredAt: string | null;
}

export interface ReadSharedCall {
  token: string;
}

export interface ReadState {
  userId: string;
  lastReadMessageId: string | null;
  lastReadSeq: number | null;
  lastReadAt: string | null;
  unreadCount: number;
  firstUnreadMessageId: string | null;
}

export interface RecoverWebhook {
  since: string;
  until?: string;
}

export interface Recovery {
  queued: number;
  complete: boolean;
}

export interface RecoveryCodes {
  recoveryCodes: string[];
}

export interface Register {
  email: string;
  password: string;
  name?: string;
}

export interface RegisterHost {
  identity: string;
  role?: LiveStreamHostRole;
}

export interface RegisterServer {
  name: string;
  region: string;
  publicHost: string;
  internalUrl: string;
  capacity?: number;
  version?: string;
}

export interface Registered {
  user: {
    email: string;
    name: string | null;
  };
  verificationRequired: boolean;
}

export interface RegisteredServer {
  name: string;
  region: string;
  publicHost: string;
  internalUrl?: string;
  capacity: number | null;
  version: string | null;
  status: RtcServerStatus;
  draining: boolean;
  activeRooms: number | null;
  activeParticipants: number | null;
  cpuPercent: number | null;
  memoryPercent: number | null;
  networkInBps: number | null;
  networkOutBps: number | null;
  coreCpuPercents: number[] | null;
  packetsInPerSecond: number | null;
  packetsOutPerSecond: number | null;
  lossInPercent: number | null;
  lossOutPercent: number | null;
  registeredAt: string;
  lastHeartbeatAt: string | null;
  drainStartedAt: string | null;
  createdAt: string;
  observedAddress: string;
  heartbeatIntervalSeconds: number;
  heartbeatTimeoutSeconds: number;
}

export interface Registration {
  policy: RegistrationPolicy;
  domains: string[];
  verificationRequired: boolean;
  sendsMail: boolean;
}

export type RegistrationPolicy = 'OPEN' | 'INVITE' | 'CLOSED';

export interface RemoveParticipantQuery {
  revokeTokens?: boolean;
}

export interface RemoveProjectMemberQuery {
  revokeTokens?: boolean;
}

export interface RemoveProjectModerationHookQuery {
  environment?: string;
}

export interface RemoveProjectParticipantQuery {
  environment?: string;
  revokeTokens?: boolean;
}

export interface RemoveProjectScanHookQuery {
  environment?: string;
}

export interface RemovedParticipant {
  identity: string;
  sessionId: string;
  state: ParticipantState;
  reason: DisconnectReason;
  leftAt: string;
}

export interface RenamePasskey {
  name: string;
}

export interface ReportMessage {
  reason: ReportReason;
  note?: string;
}

export interface ReportMetadata {
  id: string;
  conversationId: string;
  messageId: string;
  senderId: string | null;
  source: 'USER' | 'WORD_LIST';
  reporterId: string | null;
  reason: string;
  status: ReportStatus;
  action: string | null;
  resolvedAt: string | null;
  createdAt: string;
}

export type ReportReason = 'spam' | 'harassment' | 'hate' | 'violence' | 'sexual' | 'illegal' | 'other';

export type ReportStatus = 'OPEN' | 'RESOLVED';

export interface ReportsQuery {
  limit?: number;
  cursor?: string;
  status?: ReportStatus;
  conversation?: string;
}

export interface RequestAttachment {
  filename: string;
  mimeType: string;
  size: number;
  uploaderId?: string;
  metadata?: Record<string, unknown> | null;
  waveform?: number[];
}

export type RequestCredential = 'apiKey' | 'chatToken' | 'rtcToken' | 'session';

export type RequestOutcome = 'OK' | 'FAILED' | 'CLIENT_ERROR' | 'SERVER_ERROR';

export interface RequestsQuery {
  outcome?: RequestOutcome;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  route?: string;
  code?: string;
  keyId?: string;
  requestId?: string;
  limit?: number;
  cursor?: string;
  environment?: string;
}

export interface ResetPassword {
  token: string;
  password: string;
}

export interface ResolveProjectReportQuery {
  environment?: string;
}

export interface ResolveReport {
  action: 'none' | 'delete_message' | 'mute' | 'ban' | 'shadow';
  everywhere?: boolean;
  until?: string;
  reason?: string;
}

export interface RevokeApiKeyQuery {
  revokeTokens?: boolean;
}

export interface RevokeUser {
  bannedUntil?: string;
  reason?: string;
}

export interface RevokedChatToken {
  id: string;
  tokenId: string;
  revokedAt: string;
}

export interface RevokedRtcToken {
  id: string;
  tokenId: string;
  roomId: string;
  participantIdentity: string;
  expiresAt: string;
  revokedAt: string;
}

export interface Room {
  id: string;
  publicId: string;
  name: string;
  projectId: string;
  environment: Environment;
  status: RoomStatus;
  metadata: Record<string, unknown>;
  maxParticipants: number;
  duplicateIdentity: DuplicateIdentity;
  recording: boolean;
  participantCount: number | null;
  publisherCount: number | null;
  region: string | null;
  serverName: string | null;
  conversationId: string | null;
  liveStreamId: string | null;
  activeSessionId: string | null;
  sessionStartedAt: string | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  closeReason: RoomCloseReason | null;
}

export type RoomCloseReason = 'API' | 'DASHBOARD' | 'STREAM_ENDED';

export interface RoomDetail {
  id: string;
  publicId: string;
  name: string;
  projectId: string;
  environment: Environment;
  status: RoomStatus;
  metadata: Record<string, unknown>;
  maxParticipants: number;
  duplicateIdentity: DuplicateIdentity;
  recording: boolean;
  participantCount: number | null;
  publisherCount: number | null;
  region: string | null;
  serverName: string | null;
  conversationId: string | null;
  liveStreamId: string | null;
  activeSessionId: string | null;
  sessionStartedAt: string | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  closeReason: RoomCloseReason | null;
  participants: Participant[] | null;
}

export interface RoomSession {
  id: string;
  sessionId: string;
  roomId: string;
  roomSessionId: string;
  participantIdentity: string;
  kind: ParticipantKind;
  connectionId: string | null;
  serverName: string | null;
  region: string | null;
  joinedAt: string;
  leftAt: string | null;
  durationMs: number | null;
  disconnectReason: DisconnectReason | null;
}

export type RoomStatus = 'ACTIVE' | 'CLOSED';

export interface RotateProjectModerationHookQuery {
  environment?: string;
}

export interface RotateProjectScanHookQuery {
  environment?: string;
}

export interface RotateWebhookSecret {
  gracePeriodSeconds?: number;
}

export interface RtcServer {
  name: string;
  region: string;
  publicHost: string;
  internalUrl?: string;
  capacity: number | null;
  version: string | null;
  status: RtcServerStatus;
  draining: boolean;
  activeRooms: number | null;
  activeParticipants: number | null;
  cpuPercent: number | null;
  memoryPercent: number | null;
  networkInBps: number | null;
  networkOutBps: number | null;
  coreCpuPercents: number[] | null;
  packetsInPerSecond: number | null;
  packetsOutPerSecond: number | null;
  lossInPercent: number | null;
  lossOutPercent: number | null;
  registeredAt: string;
  lastHeartbeatAt: string | null;
  drainStartedAt: string | null;
  createdAt: string;
}

export interface RtcServerLoad {
  points: ServerLoadPoint[];
  drain: {
    startedAt: string;
    rooms: number;
    roomsAtStart: number | null;
  } | null;
}

export type RtcServerStatus = 'ACTIVE' | 'DRAINING' | 'DRAINED' | 'OFFLINE';

export interface RtcToken {
  id: string;
  tokenId: string;
  token: string;
  tokenType: 'Bearer';
  expiresAt: string;
  expiresIn: number;
  roomId: string;
  roomName: string;
  participantIdentity: string;
  permissions: RtcTokenPermissions;
  metadata: string | null;
  signalingUrl: string;
  iceServers: IceServer[];
}

export interface RtcTokenPermissions {
  join: boolean;
  subscribe: boolean;
  publish: boolean;
  publishAudio: boolean;
  publishVideo: boolean;
  publishData: boolean;
  updateMetadata: boolean;
}

export interface RtcTokenPermissionsDto {
  join?: boolean;
  subscribe?: boolean;
  publish?: boolean;
  publishAudio?: boolean;
  publishVideo?: boolean;
  publishData?: boolean;
  updateMetadata?: boolean;
}

export interface Sanction {
  kind: SanctionKind;
  userId: string;
  conversationId: string | null;
  until: string | null;
  reason: string | null;
  imposedBy: string;
  createdAt: string;
}

export type SanctionKind = 'BAN' | 'MUTE' | 'SHADOW';

export interface ScanResult {
  result: 'CLEAN' | 'REJECTED';
  reason?: string;
}

export interface ScheduleMessage {
  text?: string;
  type?: MessageType;
  replyTo?: string;
  clientMessageId?: string;
  attachmentId?: string;
  attachmentIds?: string[];
  metadata?: Record<string, unknown> | null;
  senderId?: string;
  mentions?: MentionsDraft | null;
  poll?: PollDraft | null;
  forward?: ForwardDraft | null;
  sendAt: string;
}

export interface ScheduledMessage {
  id: string;
  conversationId: string;
  messageId: string;
  userId: string | null;
  draft: Record<string, unknown>;
  sendAt: string;
  status: ScheduledStatus;
  failure: string | null;
  createdAt: string;
  updatedAt: string;
}

export type ScheduledStatus = 'PENDING' | 'SENDING' | 'SENT' | 'FAILED';

export interface SearchPage {
  results: SearchResult[];
  nextCursor: string | null;
  complete: boolean;
}

export interface SearchQuery {
  q: string;
  conversation?: string;
  senderId?: string;
  from?: string;
  to?: string;
  hasAttachment?: boolean;
  sort?: 'best' | 'newest';
  limit?: number;
  cursor?: string;
}

export interface SearchResult {
  message: Message;
  score: number;
  ranges: TextRange[];
}

export interface SecondFactor {
  challenge: string;
  code?: string;
  recoveryCode?: string;
  passkey?: PasskeyAssertion;
}

export interface SecurityEntry {
  id: string;
  userId: string;
  userEmail: string;
  action: string;
  device: string | null;
  place: string | null;
  metadata: Record<string, unknown>;
  requestId: string;
  createdAt: string;
}

export interface SecurityQuery {
  action?: string;
  limit?: number;
  before?: string;
}

export interface SendMessage {
  text?: string;
  type?: MessageType;
  replyTo?: string;
  clientMessageId?: string;
  attachmentId?: string;
  attachmentIds?: string[];
  metadata?: Record<string, unknown> | null;
  senderId?: string;
  clientSentAt?: number;
  mentions?: MentionsDraft | null;
  poll?: PollDraft | null;
  forward?: ForwardDraft | null;
}

export interface SendRoomData {
  payload: string;
  encoding?: 'utf8' | 'base64';
  topic?: string;
  to?: string[];
  reliable?: boolean;
}

export interface SentRoomData {
  delivered: number;
}

export interface ServerLoadPoint {
  at: string;
  cpuPercent: number | null;
  memoryPercent: number | null;
  networkInBps: number | null;
  networkOutBps: number | null;
  coreCpuPercents: number[] | null;
  packetsInPerSecond: number | null;
  packetsOutPerSecond: number | null;
  lossInPercent: number | null;
  lossOutPercent: number | null;
  activeRooms: number | null;
  activeParticipants: number | null;
}

export interface Session {
  accessToken: string;
  tokenType: 'Bearer';
  expiresIn: number;
  user: User;
}

export interface SetDraft {
  text: string;
  replyTo?: string;
  metadata?: Record<string, unknown> | null;
}

export interface SetHook {
  url: string;
  timeoutMs?: number;
  onFailure?: HookFailure;
}

export interface SetModeration {
  wordLists?: WordList[];
  links?: LinkPolicy;
}

export interface SetProjectLinkPreviewsQuery {
  environment?: string;
}

export interface SetProjectModerationHookQuery {
  environment?: string;
}

export interface SetProjectModerationQuery {
  environment?: string;
}

export interface SetProjectScanHookQuery {
  environment?: string;
}

export interface SetPushPreferences {
  userId?: string;
  level?: PushLevel | null;
  quietHours?: QuietHours | null;
}

export interface SetScanHook {
  url: string;
  timeoutMs?: number;
  onFailure?: HookFailure;
}

export interface ShadowProjectChatUserQuery {
  environment?: string;
}

export interface ShareCallQuery {
  environment?: string;
}

export type SigningAlgorithm = 'HS256' | 'EdDSA' | 'ES256';

export interface SigningKey {
  id: string;
  name: string;
  environment: Environment;
  algorithm: SigningAlgorithm;
  status: SigningKeyStatus;
  publicKey: string | null;
  createdBy: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  revokedAt: string | null;
}

export type SigningKeyStatus = 'ACTIVE' | 'REVOKED';

export interface SilenceAlert {
  until: string | null;
}

export interface SilenceProjectAlertQuery {
  environment?: string;
}

export interface StepUp {
  code?: string;
  recoveryCode?: string;
  passkey?: PasskeyAssertion;
  password?: string;
}

export interface StreamCredentials {
  streamId: string;
  identity: string;
  role: 'HOST' | 'CO_HOST' | 'VIEWER';
  rtc: RtcToken;
  chat: ChatToken;
  room: {
    id: string;
    name: string;
  };
  conversation: {
    id: string;
  };
}

export interface StreamEventsQuery {
  types?: string;
}

export interface StreamProjectChangesQuery {
  environment?: string;
}

export interface StreamRecord {
  trackId: string;
  state: 'ACTIVE' | 'PAUSED';
  reason: 'BANDWIDTH' | 'SETTINGS' | 'MUTED' | null;
  layer: number | null;
}

export interface TelemetryAccepted {
  accepted: boolean;
  truncated?: boolean;
}

export interface TelemetryEvent {
  connectionId: string;
  type: 'signaling.connecting' | 'signaling.connected' | 'signaling.reconnecting' | 'signaling.reconnected' | 'signaling.disconnected' | 'join.requested' | 'join.succeeded' | 'join.failed' | 'ice.checking' | 'ice.connected' | 'ice.completed' | 'ice.disconnected' | 'ice.failed' | 'ice.restarted' | 'dtls.connecting' | 'dtls.connected' | 'dtls.failed' | 'transport.fallback' | 'track.published' | 'track.publish_failed' | 'track.unpublished' | 'track.subscribed' | 'track.subscribe_failed' | 'track.unsubscribed' | 'track.muted' | 'track.unmuted' | 'track.first_frame' | 'track.stalled' | 'track.recovered' | 'device.changed' | 'device.permission_denied' | 'device.failed' | 'quality.changed' | 'stats.report' | 'stats.sample' | 'network.changed' | 'page.hidden' | 'page.visible' | 'error' | 'left';
  timestamp?: string;
  data?: Record<string, unknown>;
}

export interface TestWebhook {
  eventType?: string;
}

export interface TextRange {
  start: number;
  end: number;
}

export interface TokenOnly {
  token: string;
}

export interface TotpCode {
  code: string;
}

export interface TotpStarted {
  secret: string;
  otpauthUrl: string;
}

export interface Track {
  id: string;
  kind: TrackKind;
  source: TrackSource;
  name: string | null;
  metadata: string | null;
  muted: boolean;
  codec: string | null;
  width: number | null;
  height: number | null;
  simulcast: boolean;
  layers: TrackLayer[];
  publishedAt: string;
}

export type TrackKind = 'AUDIO' | 'VIDEO';

export interface TrackLayer {
  rid: string;
  width: number | null;
  height: number | null;
  bitrate: number | null;
}

export interface TrackSettings {
  trackId: string;
  enabled?: boolean;
  width?: number;
  height?: number;
  fps?: number;
  maxLayer?: number;
  priority?: number;
}

export type TrackSource = 'CAMERA' | 'MICROPHONE' | 'SCREEN_SHARE' | 'SCREEN_SHARE_AUDIO' | 'UNKNOWN';

export interface Typing {
  userId: string;
  startedAt: string;
  expiresAt: string;
}

export interface UnbanProjectChatUserQuery {
  environment?: string;
}

export interface UnbanProjectConversationUserQuery {
  environment?: string;
}

export interface UnmuteProjectChatUserQuery {
  environment?: string;
}

export interface UnmuteProjectConversationUserQuery {
  environment?: string;
}

export interface UnshadowProjectChatUserQuery {
  environment?: string;
}

export interface UnshadowProjectConversationUserQuery {
  environment?: string;
}

export interface UpdateAlert {
  name?: string;
  bound?: number;
  windowMinutes?: number;
  meter?: UsageMeter;
  period?: AlertPeriod;
  target?: string | null;
  emails?: string[];
  webhook?: boolean;
}

export interface UpdateAllowedOrigins {
  allowedOrigins: string[];
  allowLocalhostOrigins?: boolean;
}

export interface UpdateConversation {
  name?: string;
  status?: ProjectStatus;
  retentionDays?: number | null;
  slowModeSeconds?: number;
  metadata?: Record<string, unknown> | null;
}

export interface UpdateLiveStream {
  title?: string;
  description?: string;
  thumbnailUrl?: string;
  category?: string;
  tags?: string[];
  language?: string;
  visibility?: LiveStreamVisibility;
  metadata?: Record<string, unknown> | null;
}

export interface UpdateParticipant {
  permissions?: RtcTokenPermissionsDto;
  metadata?: string | null;
}

export interface UpdateProject {
  name?: string;
}

export interface UpdateProjectAlertQuery {
  environment?: string;
}

export interface UpdateProjectLiveStreamQuery {
  environment?: string;
}

export interface UpdateProjectParticipantQuery {
  environment?: string;
}

export interface UpdateProjectPushQuery {
  environment?: string;
}

export interface UpdateProjectSecurity {
  requireSecondFactor: boolean;
}

export interface UpdatePushSettings {
  content?: PushContent;
  level?: PushLevel;
  webPushSubject?: string;
  fcm?: {
    project_id: string;
    client_email: string;
    private_key: string;
  } | null;
  apns?: {
    teamId: string;
    keyId: string;
    key: string;
  } | null;
}

export interface UpdateRoom {
  metadata?: Record<string, unknown> | null;
  maxParticipants?: number | null;
  duplicateIdentity?: DuplicateIdentity;
  recording?: boolean;
}

export interface UpdateWebhook {
  url?: string;
  events?: string[];
  description?: string | null;
  headers?: Record<string, string>;
  enabled?: boolean;
}

export interface Usage {
  freeMinutes: number;
  usedMinutes: number;
  remainingMinutes: number;
  percentUsed: number;
  periodStart: string | null;
  periodEnd: string | null;
  asOf: string;
}

export interface UsageAmounts {
  messages: number;
  minutes: number;
  recordedMinutes: number;
  storedBytes: number;
  sentBytes: number;
  cost: string | null;
}

export interface UsageDay {
  date: string;
  minutes: number;
  sessions: number;
}

export interface UsageDetail {
  freeMinutes: number;
  usedMinutes: number;
  remainingMinutes: number;
  percentUsed: number;
  periodStart: string | null;
  periodEnd: string | null;
  asOf: string;
  sessions: UsageSession[];
  daily: UsageDay[];
  projects: UsageOfProject[];
}

export type UsageMeter = 'messages' | 'minutes' | 'recordedMinutes' | 'storedBytes' | 'sentBytes';

export interface UsageOfProject {
  projectId: string;
  name: string;
  minutes: number;
  sessions: number;
}

export interface UsagePrices {
  currency: string | null;
  messages: string | null;
  minutes: string | null;
  recordedMinutes: string | null;
  storedBytes: string | null;
  sentBytes: string | null;
}

export interface UsageQuery {
  limit?: number;
  days?: number;
}

export interface UsageReport {
  from: string;
  to: string;
  currency: string | null;
  days: UsageReportDay[];
  keys: UsageReportKey[] | null;
  total: UsageAmounts;
  asOf: string;
}

export interface UsageReportDay {
  date: string;
  messages: number;
  minutes: number;
  recordedMinutes: number;
  storedBytes: number;
  sentBytes: number;
  cost: string | null;
}

export interface UsageReportKey {
  keyId: string | null;
  messages: number;
  minutes: number;
  recordedMinutes: number;
  storedBytes: number;
  sentBytes: number;
  cost: string | null;
}

export interface UsageReportQuery {
  from?: string;
  to?: string;
}

export interface UsageSession {
  id: string;
  projectId: string;
  environment: Environment;
  roomId: string;
  roomName: string;
  participantIdentity: string;
  startedAt: string;
  endedAt: string | null;
  seconds: number;
  minutes: number;
}

export interface User {
  id: string;
  email: string;
  name: string | null;
  emailVerified: boolean;
  isOperator: boolean;
  createdAt: string;
}

export interface VerificationLink {
  email: string;
  expiresAt: string;
}

export interface VerifyEmail {
  token: string;
  password?: string;
  name?: string;
}

export interface ViewerIdentity {
  identity: string;
}

export interface ViewerLeft {
  streamId: string;
  identity: string;
  at: string;
}

export interface Webhook {
  id: string;
  projectId: string;
  environment: Environment;
  url: string;
  events: string[];
  status: WebhookStatus;
  consecutiveFailures: number;
  lastDeliveryAt: string | null;
  lastError: string | null;
  description: string | null;
  headerNames: string[];
  secretHint: string;
  previousSecretExpiresAt: string | null;
  createdAt: string;
  updatedAt: string;
  disabledAt: string | null;
}

export interface WebhookEventType {
  type: string;
  since: string;
  core: boolean;
  onRequest: 'project:read' | 'project:update' | 'project:archive' | 'project:secure' | 'member:read' | 'member:manage' | 'api_key:read' | 'api_key:create' | 'api_key:revoke' | 'room:read' | 'room:manage' | 'chat:read' | 'chat:manage' | 'live_stream:read' | 'live_stream:manage' | 'webhook:read' | 'webhook:manage' | 'observability:read' | 'alert:manage' | 'usage:read' | 'audit:read' | 'server:read' | 'server:manage' | 'security:read' | null;
  description: string;
}

export type WebhookStatus = 'ENABLED' | 'DISABLED' | 'AUTO_DISABLED';

export type WordAction = 'reject' | 'mask' | 'flag';

export interface WordList {
  name: string;
  words?: string[];
  patterns?: string[];
  action: WordAction;
}

/** What each webhook event carries. */
export interface EventRecords {
  'live_stream.created': {
  streamId: string;
  title: string;
  visibility: LiveStreamVisibility;
  hostIdentity: string;
  createdAt: string;
};
  'live_stream.started': {
  streamId: string;
  startedAt: string;
};
  'live_stream.ended': {
  streamId: string;
  endedAt: string;
  durationMs: number | null;
};
  'live_stream.host_joined': {
  streamId: string;
  identity: string;
  at: string;
  role: LiveStreamHostRole;
};
  'live_stream.host_left': ViewerLeft;
  'live_stream.viewer_joined': ViewerLeft;
  'live_stream.viewer_left': ViewerLeft;
  'message.created': {
  conversationId: string;
  roomId: string | null;
  message: Message;
};
  'message.updated': {
  conversationId: string;
  message: Message;
  previousEditedAt: string | null;
  at: string;
};
  'message.deleted': {
  conversationId: string;
  messageId: string;
  senderId: string | null;
  deletedBy: string | null;
  deletedAt: string;
  message: Message;
};
  'reaction.added': {
  conversationId: string;
  messageId: string;
  userId: string;
  emoji: string;
  count: number;
  at: string;
};
  'reaction.removed': {
  conversationId: string;
  messageId: string;
  userId: string;
  emoji: string;
  count: number;
  at: string;
};
  'conversation.created': {
  conversation: Conversation;
  members: Array<{
    userId: string;
    role: ChatMemberRole;
  }>;
};
  'member.added': {
  conversationId: string;
  userId: string;
  role: ChatMemberRole;
  reactivated: boolean;
  at: string;
};
  'member.removed': {
  conversationId: string;
  userId: string;
  removedBy: string | null;
  at: string;
};
  'member.updated': {
  conversationId: string;
  userId: string;
  role: ChatMemberRole;
  at: string;
};
  'conversation.updated': {
  conversationId: string;
  conversation: Conversation;
  at: string;
};
  'conversation.deleted': {
  conversationId: string;
  at: string;
};
  'message.read': {
  conversationId: string;
  userId: string;
  messageId: string;
  seq: number;
  at: string;
};
  'inbox.updated': {
  conversationId: string;
  userId: string;
  at: string;
};
  'message.mentioned': {
  conversationId: string;
  messageId: string;
  senderId: string | null;
  userIds: string[];
  here: boolean;
  all: boolean;
  at: string;
};
  'chat_user.updated': {
  user: ChatUser;
  at: string;
};
  'chat_user.deleted': {
  userId: string;
  at: string;
};
  'message.pinned': {
  conversationId: string;
  messageId: string;
  userId: string;
  at: string;
};
  'message.unpinned': {
  conversationId: string;
  messageId: string;
  userId: string;
  at: string;
};
  'poll.voted': {
  conversationId: string;
  messageId: string;
  counts: number[];
  voters: number;
  at: string;
  userId: string | null;
  optionIds: number[] | null;
};
  'poll.closed': {
  conversationId: string;
  messageId: string;
  counts: number[];
  voters: number;
  at: string;
  closedBy: string | null;
};
  'scheduled.failed': {
  scheduledId: string;
  conversationId: string;
  userId: string | null;
  code: string;
  at: string;
};
  'user.banned': {
  sanction: Sanction;
};
  'user.unbanned': {
  sanction: Sanction;
};
  'user.muted': {
  sanction: Sanction;
};
  'user.unmuted': {
  sanction: Sanction;
};
  'user.shadowed': {
  sanction: Sanction;
};
  'user.unshadowed': {
  sanction: Sanction;
};
  'message.shadowed': {
  conversationId: string;
  roomId: string | null;
  message: Message;
};
  'user.blocked': {
  block: ChatBlock;
};
  'user.unblocked': {
  block: ChatBlock;
};
  'report.created': {
  report: ChatReport;
};
  'report.resolved': {
  report: ChatReport;
};
  'user.messages_deleted': {
  deletion: ChatDeletion;
};
  'moderation.updated': {
  settings: ModerationSummary;
  at: string;
};
  'moderation_hook.updated': {
  asked: 'message.pre_send' | 'attachment.scan';
  action: 'set' | 'rotated' | 'removed';
  hook: HookSummary | null;
  at: string;
};
  'attachment.scanned': AttachmentScanned;
  'webhook.disabled': {
  webhookId: string;
  url: string;
  consecutiveFailures: number;
  lastError: string | null;
  disabledAt: string;
};
  'audit.recorded': {
  entry: AuditEntry;
};
  'alert.firing': {
  alertId: string;
  name: string;
  kind: AlertKind;
  bound: number | null;
  value: number | null;
  detail: string | null;
  at: string;
};
  'alert.resolved': {
  alertId: string;
  name: string;
  kind: AlertKind;
  bound: number | null;
  value: number | null;
  detail: string | null;
  at: string;
};
  'data_job.done': {
  jobId: string;
  kind: DataJobKind;
  progress: number;
  error: string | null;
  at: string;
};
  'data_job.failed': {
  jobId: string;
  kind: DataJobKind;
  progress: number;
  error: string | null;
  at: string;
};
}

/** What each route takes and gives. */
export interface RouteRecords {
  getRegistration: { input: {}; answer: Registration };
  register: { input: { body: Register }; answer: Registered };
  createFirstAccount: { input: { body: FirstAccount }; answer: Session };
  login: { input: { body: Login }; answer: Session };
  verifyEmail: { input: { body: VerifyEmail }; answer: Session };
  readVerificationLink: { input: { body: TokenOnly }; answer: VerificationLink };
  resendVerification: { input: { body: EmailOnly }; answer: Accepted };
  requestPasswordReset: { input: { body: EmailOnly }; answer: Accepted };
  confirmPasswordReset: { input: { body: ResetPassword }; answer: Session };
  listOAuthProviders: { input: {}; answer: OAuthProvider[] };
  startOAuth: { input: { provider: string; body: OAuthStart }; answer: OAuthStarted };
  exchangeOAuth: { input: { provider: string; body: OAuthExchange }; answer: Session };
  refreshSession: { input: {}; answer: Session };
  logout: { input: {}; answer: undefined };
  getMe: { input: {}; answer: User };
  changePassword: { input: { body: ChangePassword }; answer: undefined };
  listSessions: { input: {}; answer: AccountSession[] };
  endSession: { input: { sessionId: string }; answer: undefined };
  endAllSessions: { input: {}; answer: undefined };
  finishLogin: { input: { body: SecondFactor }; answer: Session };
  startPasskeyLogin: { input: {}; answer: PasskeyRequest };
  loginWithPasskey: { input: { body: PasskeyLogin }; answer: Session };
  startStepUp: { input: {}; answer: FactorChallenge };
  stepUp: { input: { body?: StepUp }; answer: undefined };
  getFactors: { input: {}; answer: Factors };
  startTotp: { input: {}; answer: TotpStarted };
  confirmTotp: { input: { body: TotpCode }; answer: FactorAdded };
  removeTotp: { input: {}; answer: undefined };
  startPasskey: { input: {}; answer: PasskeyCreation };
  addPasskey: { input: { body: AddPasskey }; answer: PasskeyAdded };
  renamePasskey: { input: { passkeyId: string; body: RenamePasskey }; answer: Passkey };
  removePasskey: { input: { passkeyId: string }; answer: undefined };
  renewRecoveryCodes: { input: {}; answer: RecoveryCodes };
  getOwnProject: { input: {}; answer: Project };
  listProjects: { input: { query?: AlertHistoryQuery }; answer: Project[] };
  createProject: { input: { body: CreateProject }; answer: Project };
  getProject: { input: { projectId: string }; answer: Project };
  updateProject: { input: { projectId: string; body?: UpdateProject }; answer: Project };
  updateAllowedOrigins: { input: { projectId: string; body: UpdateAllowedOrigins }; answer: Project };
  updateProjectSecurity: { input: { projectId: string; body: UpdateProjectSecurity }; answer: Project };
  archiveProject: { input: { projectId: string }; answer: Project };
  listProjectMembers: { input: { projectId: string; query?: AlertHistoryQuery }; answer: ProjectMember[] };
  addProjectMember: { input: { projectId: string; body: AddMember }; answer: ProjectMember };
  changeProjectMember: { input: { projectId: string; userId: string; body: ChangeMember }; answer: ProjectMember };
  removeProjectMember: { input: { projectId: string; userId: string; query?: RemoveProjectMemberQuery }; answer: ProjectMember };
  listApiKeys: { input: { projectId: string; query?: ListApiKeysQuery }; answer: ApiKey[] };
  createApiKey: { input: { projectId: string; body: CreateApiKey }; answer: NewApiKey };
  revokeApiKey: { input: { projectId: string; publicId: string; query?: RevokeApiKeyQuery }; answer: ApiKey };
  listSigningKeys: { input: { projectId: string; query?: ListSigningKeysQuery }; answer: SigningKey[] };
  createSigningKey: { input: { projectId: string; body: CreateSigningKey }; answer: NewSigningKey };
  revokeSigningKey: { input: { projectId: string; signingKeyId: string }; answer: SigningKey };
  listAuditLogs: { input: { projectId: string; query?: AuditQuery }; answer: AuditEntry[] };
  exportAuditLogs: { input: { projectId: string; query?: AuditExportQuery }; answer: undefined };
  listSecurityLog: { input: { query?: SecurityQuery }; answer: SecurityEntry[] };
  listInstanceSecurityLog: { input: { query?: InstanceSecurityQuery }; answer: SecurityEntry[] };
  listRevokedUsers: { input: { query?: ListRevokedUsersQuery }; answer: EndUser[] };
  getUser: { input: { userId: string }; answer: EndUser };
  revokeUser: { input: { userId: string; body?: Partial<RevokeUser> }; answer: EndUser };
  unbanUser: { input: { userId: string }; answer: EndUser };
  exportUser: { input: { userId: string }; answer: DataJob };
  eraseUser: { input: { userId: string; body: EraseUser }; answer: DataJob };
  importConversations: { input: { body: ImportConversations }; answer: ImportUpload };
  startImport: { input: { jobId: string }; answer: DataJob };
  listDataJobs: { input: { query?: ListDataJobsQuery }; answer: DataJob[] };
  listProjectDataJobs: { input: { projectId: string; query?: ListProjectDataJobsQuery }; answer: DataJobMetadata[] };
  getDataJob: { input: { jobId: string }; answer: DataJob };
  getMediaReach: { input: {}; answer: MediaReach };
  listServers: { input: {}; answer: RtcServer[] };
  getFleetTotals: { input: {}; answer: FleetTotals };
  getServer: { input: { name: string }; answer: RtcServer };
  getServerLoad: { input: { name: string }; answer: RtcServerLoad };
  drainServer: { input: { name: string; body?: Partial<DrainServer> }; answer: RtcServer };
  undrainServer: { input: { name: string }; answer: RtcServer };
  registerServer: { input: { body: RegisterServer }; answer: RegisteredServer };
  deregisterServer: { input: { name: string }; answer: undefined };
  heartbeatServer: { input: { name: string; body: Heartbeat }; answer: HeartbeatAnswer };
  listRooms: { input: { query?: AlertHistoryQuery }; answer: Room[] };
  createRoom: { input: { body: CreateRoom }; answer: Room };
  getRoom: { input: { id: string }; answer: Room };
  updateRoom: { input: { id: string; body?: UpdateRoom }; answer: Room };
  closeRoom: { input: { id: string }; answer: Room };
  listRoomParticipants: { input: { id: string }; answer: Participant[] };
  listRoomSessions: { input: { id: string; query?: AlertHistoryQuery }; answer: RoomSession[] };
  removeParticipant: { input: { id: string; identity: string; query?: RemoveParticipantQuery }; answer: RemovedParticipant };
  updateParticipant: { input: { id: string; identity: string; body?: UpdateParticipant }; answer: Participant };
  muteTrack: { input: { id: string; identity: string; trackId: string; body?: Partial<MuteTrack> }; answer: Track };
  sendRoomData: { input: { id: string; body: SendRoomData }; answer: SentRoomData };
  mintRtcToken: { input: { roomId: string; body: MintRtcToken }; answer: RtcToken };
  revokeRtcToken: { input: { roomId: string; tokenId: string }; answer: RevokedRtcToken };
  listProjectRooms: { input: { projectId: string; query?: ListProjectRoomsQuery }; answer: Room[] };
  createProjectRoom: { input: { projectId: string; query?: CreateProjectRoomQuery; body: CreateRoom }; answer: Room };
  getProjectRoom: { input: { projectId: string; roomId: string; query?: GetProjectRoomQuery }; answer: RoomDetail };
  closeProjectRoom: { input: { projectId: string; roomId: string; query?: CloseProjectRoomQuery }; answer: Room };
  mintTestToken: { input: { projectId: string; roomId: string; query?: MintTestTokenQuery; body?: Partial<MintTestToken> }; answer: RtcToken };
  removeProjectParticipant: { input: { projectId: string; roomId: string; identity: string; query?: RemoveProjectParticipantQuery }; answer: RemovedParticipant };
  updateProjectParticipant: { input: { projectId: string; roomId: string; identity: string; query?: UpdateProjectParticipantQuery; body?: UpdateParticipant }; answer: Participant };
  muteProjectTrack: { input: { projectId: string; roomId: string; identity: string; trackId: string; query?: MuteProjectTrackQuery; body?: Partial<MuteTrack> }; answer: Track };
  publishByWhip: { input: { id: string; body: string }; answer: string };
  trickleWhip: { input: { id: string; sessionId: string; body: string }; answer: undefined };
  endWhip: { input: { id: string; sessionId: string }; answer: undefined };
  watchByWhep: { input: { id: string; body: string }; answer: string };
  trickleWhep: { input: { id: string; sessionId: string; body: string }; answer: undefined };
  endWhep: { input: { id: string; sessionId: string }; answer: undefined };
  listLiveStreams: { input: { query?: AlertHistoryQuery }; answer: LiveStream[] };
  createLiveStream: { input: { body: CreateLiveStream }; answer: LiveStream };
  getLiveStream: { input: { streamId: string }; answer: LiveStream };
  updateLiveStream: { input: { streamId: string; body?: UpdateLiveStream }; answer: LiveStream };
  startLiveStream: { input: { streamId: string }; answer: LiveStream };
  endLiveStream: { input: { streamId: string }; answer: LiveStream };
  registerHost: { input: { streamId: string; body: RegisterHost }; answer: StreamCredentials };
  removeHost: { input: { streamId: string; identity: string }; answer: LiveStreamHost };
  createViewerToken: { input: { streamId: string; body: ViewerIdentity }; answer: StreamCredentials };
  leaveLiveStream: { input: { streamId: string; body: ViewerIdentity }; answer: ViewerLeft };
  listProjectLiveStreams: { input: { projectId: string; query?: ListProjectLiveStreamsQuery }; answer: LiveStream[] };
  createProjectLiveStream: { input: { projectId: string; query?: CreateProjectLiveStreamQuery; body: CreateLiveStream }; answer: LiveStream };
  getProjectLiveStream: { input: { projectId: string; streamId: string; query?: GetProjectLiveStreamQuery }; answer: LiveStreamWithHosts };
  updateProjectLiveStream: { input: { projectId: string; streamId: string; query?: UpdateProjectLiveStreamQuery; body?: UpdateLiveStream }; answer: LiveStream };
  endProjectLiveStream: { input: { projectId: string; streamId: string; query?: EndProjectLiveStreamQuery }; answer: LiveStream };
  listConnections: { input: { query?: ConnectionsQuery }; answer: Connection[] };
  getConnection: { input: { connectionId: string }; answer: ConnectionDetail };
  listErrors: { input: { query?: ErrorsQuery }; answer: ClassifiedError[] };
  getError: { input: { errorId: string }; answer: ErrorWithConnection };
  getMetrics: { input: {}; answer: ConnectionMetrics };
  getDiagnostics: { input: {}; answer: Diagnostics };
  listProjectConnections: { input: { projectId: string; query?: ListProjectConnectionsQuery }; answer: Connection[] };
  getProjectConnection: { input: { projectId: string; connectionId: string; query?: GetProjectConnectionQuery }; answer: ConnectionDetail };
  listProjectErrors: { input: { projectId: string; query?: ListProjectErrorsQuery }; answer: ClassifiedError[] };
  getProjectError: { input: { projectId: string; errorId: string; query?: GetProjectErrorQuery }; answer: ErrorWithConnection };
  getProjectMetrics: { input: { projectId: string; query?: GetProjectMetricsQuery }; answer: ConnectionMetrics };
  getProjectDiagnostics: { input: { projectId: string; query?: GetProjectDiagnosticsQuery }; answer: Diagnostics };
  listProjectCalls: { input: { projectId: string; query?: CallsQuery }; answer: Call[] };
  getProjectCall: { input: { projectId: string; callId: string; query?: GetProjectCallQuery }; answer: CallDetail };
  shareCall: { input: { projectId: string; callId: string; query?: ShareCallQuery; body?: Partial<NewCallLink> }; answer: CallLink };
  readSharedCall: { input: { body: ReadSharedCall }; answer: CallDetail };
  listProjectRequests: { input: { projectId: string; query?: RequestsQuery }; answer: ApiRequest[] };
  getProjectRequest: { input: { projectId: string; requestId: string; query?: GetProjectRequestQuery }; answer: ApiRequest };
  streamProjectChanges: { input: { projectId: string; query?: StreamProjectChangesQuery }; answer: undefined };
  sendTelemetry: { input: { body: TelemetryEvent }; answer: TelemetryAccepted };
  getUsage: { input: {}; answer: Usage };
  getUsageDetail: { input: { query?: UsageQuery }; answer: UsageDetail };
  getProjectUsage: { input: { projectId: string; query?: UsageQuery }; answer: UsageDetail };
  getUsageReport: { input: { query?: UsageReportQuery }; answer: UsageReport };
  getProjectUsageReport: { input: { projectId: string; query?: ProjectUsageReportQuery }; answer: UsageReport };
  exportProjectUsage: { input: { projectId: string; query?: ProjectUsageReportQuery }; answer: undefined };
  getUsagePrices: { input: { projectId: string }; answer: UsagePrices };
  setUsagePrices: { input: { projectId: string; body: UsagePrices }; answer: UsagePrices };
  listWebhookEventTypes: { input: {}; answer: WebhookEventType[] };
  streamEvents: { input: { query?: StreamEventsQuery }; answer: undefined };
  listWebhooks: { input: { projectId: string; query?: ListWebhooksQuery }; answer: Webhook[] };
  createWebhook: { input: { projectId: string; body: CreateWebhook }; answer: NewWebhook };
  getWebhook: { input: { projectId: string; webhookId: string }; answer: Webhook };
  updateWebhook: { input: { projectId: string; webhookId: string; body?: UpdateWebhook }; answer: Webhook };
  deleteWebhook: { input: { projectId: string; webhookId: string }; answer: undefined };
  enableWebhook: { input: { projectId: string; webhookId: string }; answer: Webhook };
  disableWebhook: { input: { projectId: string; webhookId: string }; answer: Webhook };
  rotateWebhookSecret: { input: { projectId: string; webhookId: string; body?: Partial<RotateWebhookSecret> }; answer: NewWebhook };
  testWebhook: { input: { projectId: string; webhookId: string; body?: Partial<TestWebhook> }; answer: Delivery };
  recoverWebhook: { input: { projectId: string; webhookId: string; body: RecoverWebhook }; answer: Recovery };
  listDeliveries: { input: { projectId: string; webhookId: string; query?: ListDeliveriesQuery }; answer: Delivery[] };
  getDelivery: { input: { projectId: string; webhookId: string; deliveryId: string }; answer: Delivery };
  resendDelivery: { input: { projectId: string; webhookId: string; deliveryId: string }; answer: Delivery };
  listAlerts: { input: { query?: AlertsQuery }; answer: Alert[] };
  createAlert: { input: { body: CreateAlert }; answer: Alert };
  getAlert: { input: { alertId: string }; answer: Alert };
  updateAlert: { input: { alertId: string; body?: UpdateAlert }; answer: Alert };
  deleteAlert: { input: { alertId: string }; answer: undefined };
  silenceAlert: { input: { alertId: string; body: SilenceAlert }; answer: Alert };
  listAlertHistory: { input: { alertId: string; query?: AlertHistoryQuery }; answer: AlertChange[] };
  listProjectAlerts: { input: { projectId: string; query?: ListProjectAlertsQuery }; answer: Alert[] };
  createProjectAlert: { input: { projectId: string; query?: CreateProjectAlertQuery; body: CreateAlert }; answer: Alert };
  getProjectAlert: { input: { projectId: string; alertId: string; query?: GetProjectAlertQuery }; answer: Alert };
  updateProjectAlert: { input: { projectId: string; alertId: string; query?: UpdateProjectAlertQuery; body?: UpdateAlert }; answer: Alert };
  deleteProjectAlert: { input: { projectId: string; alertId: string; query?: DeleteProjectAlertQuery }; answer: undefined };
  silenceProjectAlert: { input: { projectId: string; alertId: string; query?: SilenceProjectAlertQuery; body: SilenceAlert }; answer: Alert };
  listProjectAlertHistory: { input: { projectId: string; alertId: string; query?: ListProjectAlertHistoryQuery }; answer: AlertChange[] };
  listConversations: { input: { query?: AlertHistoryQuery }; answer: Conversation[] };
  createConversation: { input: { body: CreateConversation }; answer: Conversation };
  getConversation: { input: { room: string }; answer: Conversation };
  updateConversation: { input: { room: string; body?: UpdateConversation }; answer: Conversation };
  deleteConversation: { input: { room: string }; answer: Conversation };
  listUserConversations: { input: { userId: string; query?: AlertHistoryQuery }; answer: Conversation[] };
  listConversationMembers: { input: { room: string; query?: AlertHistoryQuery }; answer: ConversationMember[] };
  addConversationMember: { input: { room: string; body: AddConversationMember }; answer: ConversationMember };
  changeConversationMember: { input: { room: string; userId: string; body?: ChangeConversationMember }; answer: ConversationMember };
  removeConversationMember: { input: { room: string; userId: string }; answer: ConversationMember };
  listMessages: { input: { room: string; query?: HistoryQuery }; answer: MessagePage };
  sendMessage: { input: { room: string; body?: SendMessage }; answer: Message };
  listChanges: { input: { room: string; query?: ChangesQuery }; answer: ChangePage };
  listPresence: { input: { room: string; query?: AlertHistoryQuery }; answer: Presence[] };
  listTyping: { input: { room: string; query?: AlertHistoryQuery }; answer: Typing[] };
  listReadReceipts: { input: { room: string; query?: AlertHistoryQuery }; answer: ReadReceipt[] };
  getReadState: { input: { room: string; query?: ForUser }; answer: ReadState };
  requestAttachment: { input: { room: string; body: RequestAttachment }; answer: AttachmentUpload };
  completeAttachment: { input: { attachmentId: string }; answer: Attachment };
  getAttachmentDownload: { input: { attachmentId: string; query?: DownloadQuery }; answer: AttachmentDownload };
  getMessage: { input: { messageId: string }; answer: Message };
  editMessage: { input: { messageId: string; body?: EditMessage }; answer: Message };
  deleteMessage: { input: { messageId: string; query?: ForUser }; answer: Message };
  addReaction: { input: { messageId: string; query?: ForUser; body: AddReaction }; answer: ReactionSummary[] };
  removeReaction: { input: { messageId: string; emoji: string; query?: ForUser }; answer: undefined };
  markRead: { input: { messageId: string; query?: ForUser; body?: Partial<ForUser> }; answer: ReadState };
  getThread: { input: { messageId: string; query?: AlertHistoryQuery }; answer: Message[] };
  mintChatToken: { input: { body: MintChatToken }; answer: ChatToken };
  revokeChatToken: { input: { tokenId: string }; answer: RevokedChatToken };
  openDirectConversation: { input: { body: OpenDirect }; answer: Conversation };
  listChatUsers: { input: { query?: ChatUsersQuery }; answer: ChatUser[] };
  putChatUsers: { input: { body: PutChatUsers }; answer: ChatUser[] };
  getChatUser: { input: { userId: string }; answer: ChatUser };
  putChatUser: { input: { userId: string; body?: ChatUserFields }; answer: ChatUser };
  updateChatUser: { input: { userId: string; body?: ChatUserFields }; answer: ChatUser };
  deleteChatUser: { input: { userId: string }; answer: undefined };
  listInbox: { input: { query?: InboxQuery }; answer: InboxEntry[] };
  getInboxBadge: { input: { query?: BadgeQuery }; answer: InboxBadge };
  listUserInbox: { input: { userId: string; query?: InboxQuery }; answer: InboxEntry[] };
  getUserInboxBadge: { input: { userId: string; query?: BadgeQuery }; answer: InboxBadge };
  changeInboxEntry: { input: { room: string; body?: ChangeInboxEntry }; answer: InboxEntry };
  markUnread: { input: { room: string; body?: Partial<MarkUnread> }; answer: InboxEntry };
  markDelivered: { input: { room: string; body: MarkDelivered }; answer: ReadReceipt };
  searchMessages: { input: { query: SearchQuery }; answer: SearchPage };
  scheduleMessage: { input: { room: string; body: ScheduleMessage }; answer: ScheduledMessage };
  listScheduled: { input: { room: string; query?: BlocksQuery }; answer: ScheduledMessage[] };
  getScheduled: { input: { scheduledId: string }; answer: ScheduledMessage };
  changeScheduled: { input: { scheduledId: string; body?: ChangeScheduled }; answer: ScheduledMessage };
  cancelScheduled: { input: { scheduledId: string }; answer: undefined };
  pinMessage: { input: { messageId: string; query?: ForUser }; answer: Pin };
  unpinMessage: { input: { messageId: string; query?: ForUser }; answer: undefined };
  listPins: { input: { room: string }; answer: Pin[] };
  castVote: { input: { messageId: string; query?: ForUser; body: CastVote }; answer: Poll };
  retractVote: { input: { messageId: string; query?: ForUser }; answer: Poll };
  closePoll: { input: { messageId: string; query?: ForUser }; answer: Poll };
  listPollVotes: { input: { messageId: string; query?: PollVotesQuery }; answer: PollVote[] };
  setDraft: { input: { room: string; query?: ForUser; body: SetDraft }; answer: MessageDraft };
  getDraft: { input: { room: string; query?: ForUser }; answer: MessageDraft };
  deleteDraft: { input: { room: string; query?: ForUser }; answer: undefined };
  listDrafts: { input: { query?: BlocksQuery }; answer: MessageDraft[] };
  getScanHook: { input: {}; answer: ModerationHook };
  setScanHook: { input: { body: SetScanHook }; answer: NewModerationHook };
  rotateScanHook: { input: {}; answer: NewModerationHook };
  removeScanHook: { input: {}; answer: undefined };
  setScanResult: { input: { attachmentId: string; body: ScanResult }; answer: Attachment };
  getLinkPreviews: { input: {}; answer: LinkPreviewSettings };
  setLinkPreviews: { input: { body: LinkPreviewSettings }; answer: LinkPreviewSettings };
  listConversationBans: { input: { room: string; query?: AlertHistoryQuery }; answer: Sanction[] };
  banFromConversation: { input: { room: string; userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unbanFromConversation: { input: { room: string; userId: string }; answer: undefined };
  listConversationMutes: { input: { room: string; query?: AlertHistoryQuery }; answer: Sanction[] };
  muteInConversation: { input: { room: string; userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unmuteInConversation: { input: { room: string; userId: string }; answer: undefined };
  listChatBans: { input: { query?: AlertHistoryQuery }; answer: Sanction[] };
  banFromChat: { input: { userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unbanFromChat: { input: { userId: string }; answer: undefined };
  listChatMutes: { input: { query?: AlertHistoryQuery }; answer: Sanction[] };
  muteInChat: { input: { userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unmuteInChat: { input: { userId: string }; answer: undefined };
  listConversationShadows: { input: { room: string; query?: AlertHistoryQuery }; answer: Sanction[] };
  shadowInConversation: { input: { room: string; userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unshadowInConversation: { input: { room: string; userId: string }; answer: undefined };
  listShadowMessages: { input: { room: string; query?: AlertHistoryQuery }; answer: Message[] };
  listChatShadows: { input: { query?: AlertHistoryQuery }; answer: Sanction[] };
  shadowInChat: { input: { userId: string; body?: Partial<ImposeSanction> }; answer: Sanction };
  unshadowInChat: { input: { userId: string }; answer: undefined };
  getChatModeration: { input: {}; answer: ModerationSettings };
  setChatModeration: { input: { body?: SetModeration }; answer: ModerationSettings };
  getModerationHook: { input: {}; answer: ModerationHook };
  setModerationHook: { input: { body: SetHook }; answer: NewModerationHook };
  rotateModerationHook: { input: {}; answer: NewModerationHook };
  removeModerationHook: { input: {}; answer: undefined };
  reportMessage: { input: { messageId: string; body: ReportMessage }; answer: ChatReport };
  listChatReports: { input: { query?: ReportsQuery }; answer: ChatReport[] };
  getChatReport: { input: { reportId: string }; answer: ChatReport };
  resolveChatReport: { input: { reportId: string; body: ResolveReport }; answer: ChatReport };
  deleteUserMessages: { input: { userId: string; body?: Partial<DeleteMessages> }; answer: ChatDeletion };
  getChatDeletion: { input: { deletionId: string }; answer: ChatDeletion };
  listBlocks: { input: { query?: BlocksQuery }; answer: ChatBlock[] };
  blockUser: { input: { blockedId: string; query?: ForUser }; answer: ChatBlock };
  unblockUser: { input: { blockedId: string; query?: ForUser }; answer: undefined };
  getChatOverview: { input: { projectId: string; query?: GetChatOverviewQuery }; answer: ChatOverview };
  listChatConnections: { input: { projectId: string; query?: ListChatConnectionsQuery }; answer: ChatConnection[] };
  listProjectConversations: { input: { projectId: string; query?: ListProjectConversationsQuery }; answer: Conversation[] };
  getProjectConversation: { input: { projectId: string; conversationId: string; query?: GetProjectConversationQuery }; answer: ConversationOverview };
  listProjectConversationMembers: { input: { projectId: string; conversationId: string; query?: ListProjectConversationMembersQuery }; answer: ConversationMember[] };
  listProjectMessages: { input: { projectId: string; conversationId: string; query?: ListProjectMessagesQuery }; answer: MessageMetadata[] };
  listProjectChatUsers: { input: { projectId: string; query?: ListProjectChatUsersQuery }; answer: ChatUserMetadata[] };
  getProjectChatUser: { input: { projectId: string; userId: string; query?: GetProjectChatUserQuery }; answer: ChatUserOverview };
  listProjectPresence: { input: { projectId: string; conversationId: string; query?: ListProjectPresenceQuery }; answer: Presence[] };
  listProjectChatBans: { input: { projectId: string; query?: ListProjectChatBansQuery }; answer: Sanction[] };
  banProjectChatUser: { input: { projectId: string; userId: string; query?: BanProjectChatUserQuery; body?: Partial<ImposeSanction> }; answer: Sanction };
  unbanProjectChatUser: { input: { projectId: string; userId: string; query?: UnbanProjectChatUserQuery }; answer: undefined };
  listProjectChatMutes: { input: { projectId: string; query?: ListProjectChatMutesQuery }; answer: Sanction[] };
  muteProjectChatUser: { input: { projectId: string; userId: string; query?: MuteProjectChatUserQuery; body?: Partial<ImposeSanction> }; answer: Sanction };
  unmuteProjectChatUser: { input: { projectId: string; userId: string; query?: UnmuteProjectChatUserQuery }; answer: undefined };
  listProjectChatShadows: { input: { projectId: string; query?: ListProjectChatShadowsQuery }; answer: Sanction[] };
  shadowProjectChatUser: { input: { projectId: string; userId: string; query?: ShadowProjectChatUserQuery; body?: Partial<ImposeSanction> }; answer: Sanction };
  unshadowProjectChatUser: { input: { projectId: string; userId: string; query?: UnshadowProjectChatUserQuery }; answer: undefined };
  listProjectConversationSanctions: { input: { projectId: string; conversationId: string; query?: ListProjectConversationSanctionsQuery }; answer: Sanction[] };
  unbanProjectConversationUser: { input: { projectId: string; conversationId: string; userId: string; query?: UnbanProjectConversationUserQuery }; answer: undefined };
  unmuteProjectConversationUser: { input: { projectId: string; conversationId: string; userId: string; query?: UnmuteProjectConversationUserQuery }; answer: undefined };
  unshadowProjectConversationUser: { input: { projectId: string; conversationId: string; userId: string; query?: UnshadowProjectConversationUserQuery }; answer: undefined };
  getProjectModeration: { input: { projectId: string; query?: GetProjectModerationQuery }; answer: ModerationOverview };
  setProjectModeration: { input: { projectId: string; query?: SetProjectModerationQuery; body?: SetModeration }; answer: ModerationSettings };
  setProjectModerationHook: { input: { projectId: string; query?: SetProjectModerationHookQuery; body: SetHook }; answer: NewModerationHook };
  rotateProjectModerationHook: { input: { projectId: string; query?: RotateProjectModerationHookQuery }; answer: NewModerationHook };
  removeProjectModerationHook: { input: { projectId: string; query?: RemoveProjectModerationHookQuery }; answer: undefined };
  deleteProjectUserMessages: { input: { projectId: string; userId: string; query?: DeleteProjectUserMessagesQuery; body?: Partial<DeleteMessages> }; answer: ChatDeletion };
  listProjectChatDeletions: { input: { projectId: string; query?: ListProjectChatDeletionsQuery }; answer: ChatDeletion[] };
  listProjectReports: { input: { projectId: string; query?: ListProjectReportsQuery }; answer: ReportMetadata[] };
  resolveProjectReport: { input: { projectId: string; reportId: string; query?: ResolveProjectReportQuery; body: ResolveReport }; answer: ReportMetadata };
  setProjectScanHook: { input: { projectId: string; query?: SetProjectScanHookQuery; body: SetScanHook }; answer: NewModerationHook };
  rotateProjectScanHook: { input: { projectId: string; query?: RotateProjectScanHookQuery }; answer: NewModerationHook };
  removeProjectScanHook: { input: { projectId: string; query?: RemoveProjectScanHookQuery }; answer: undefined };
  setProjectLinkPreviews: { input: { projectId: string; query?: SetProjectLinkPreviewsQuery; body: LinkPreviewSettings }; answer: LinkPreviewSettings };
  listPushDevices: { input: { query?: ForUser }; answer: PushDevice[] };
  putPushDevice: { input: { body: PutPushDevice }; answer: PushDevice };
  deletePushDevice: { input: { deviceId: string }; answer: undefined };
  getPushPreferences: { input: { query?: ForUser }; answer: PushPreferences };
  setPushPreferences: { input: { body?: SetPushPreferences }; answer: PushPreferences };
  getPushKey: { input: {}; answer: PushKey };
  getPushSettings: { input: {}; answer: PushSettings };
  updatePushSettings: { input: { body?: UpdatePushSettings }; answer: PushSettings };
  getProjectPush: { input: { projectId: string; query?: GetProjectPushQuery }; answer: PushOverview };
  updateProjectPush: { input: { projectId: string; query?: UpdateProjectPushQuery; body?: UpdatePushSettings }; answer: PushSettings };
}
