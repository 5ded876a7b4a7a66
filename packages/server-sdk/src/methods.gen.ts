// Generated from packages/contract by tools/generate.ts. Do not edit.
import type {
  AddConversationMember,
  AddReaction,
  Alert,
  AlertChange,
  AlertHistoryQuery,
  AlertsQuery,
  Attachment,
  AttachmentDownload,
  AttachmentUpload,
  Change,
  ChangeConversationMember,
  ChangePage,
  ChangesQuery,
  ChatToken,
  ClassifiedError,
  Connection,
  ConnectionDetail,
  ConnectionMetrics,
  ConnectionsQuery,
  Conversation,
  ConversationMember,
  CreateAlert,
  CreateConversation,
  CreateLiveStream,
  CreateRoom,
  Diagnostics,
  EditMessage,
  EndUser,
  ErrorWithConnection,
  ErrorsQuery,
  ForUser,
  HistoryQuery,
  ListRevokedUsersQuery,
  LiveStream,
  LiveStreamHost,
  Message,
  MessagePage,
  MintChatToken,
  MintRtcToken,
  MuteTrack,
  Participant,
  Presence,
  Project,
  ReactionSummary,
  ReadReceipt,
  ReadState,
  RegisterHost,
  RemoveParticipantQuery,
  RemovedParticipant,
  RequestAttachment,
  RevokeUser,
  RevokedChatToken,
  RevokedRtcToken,
  Room,
  RoomSession,
  RtcToken,
  SendMessage,
  SendRoomData,
  SentRoomData,
  SilenceAlert,
  StreamCredentials,
  StreamEventsQuery,
  Track,
  Typing,
  UpdateAlert,
  UpdateConversation,
  UpdateLiveStream,
  UpdateParticipant,
  UpdateRoom,
  Usage,
  UsageReport,
  UsageReportQuery,
  ViewerIdentity,
  ViewerLeft,
  WebhookEventType,
} from '@parley/contract/types.gen';
import type { List, Page } from './list.ts';
import type { RequestOptions } from './transport.ts';
import type { WebhookEvent } from './webhooks.ts';

export interface ParleyMethods {
  project: {
    /** Reads the API key's own project. */
    get(options?: RequestOptions): Promise<Project>;
  };
  users: {
    /** Lists the users that were shut out, latest first; `banned=true` gives those who are banned now. */
    list(query?: ListRevokedUsersQuery, options?: RequestOptions): List<Page<EndUser>, EndUser>;
    /** Reads whether a user is banned, until when, and since when the user's earlier tokens are void. */
    get(userId: string, options?: RequestOptions): Promise<EndUser>;
    /** Shuts a user out: revokes every chat and RTC token, ends sessions and closes sockets within two seconds; with `bannedUntil` the user gets no token and joins nothing until then. */
    revoke(userId: string, body?: Partial<RevokeUser>, options?: RequestOptions): Promise<EndUser>;
    /** Lifts a ban: new tokens can be minted; revoked ones stay revoked. */
    unban(userId: string, options?: RequestOptions): Promise<EndUser>;
  };
  rooms: {
    /** Lists the project's active rooms, newest first. */
    list(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Room>, Room>;
    /** Creates a room. Its name is free again once the room is closed. */
    create(body: CreateRoom, options?: RequestOptions): Promise<Room>;
    /** Reads one room by id or name. */
    get(id: string, options?: RequestOptions): Promise<Room>;
    /** Changes metadata, ceiling or the rule for duplicate identities; all participants are notified. */
    update(id: string, body: UpdateRoom, options?: RequestOptions): Promise<Room>;
    /** Closes a room: everybody is disconnected, its tokens are revoked and its name is free. */
    close(id: string, options?: RequestOptions): Promise<Room>;
    /** Lists live participants with their tracks, read from the media node. */
    participants(id: string, options?: RequestOptions): List<Page<Participant>, Participant>;
    /** Lists who was in the room and for how long, newest first. */
    sessions(id: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<RoomSession>, RoomSession>;
    /** Removes a participant and revokes their tokens for the room; `revokeTokens=false` lets them come back. */
    removeParticipant(id: string, identity: string, query?: RemoveParticipantQuery, options?: RequestOptions): Promise<RemovedParticipant>;
    /** Changes what a participant may do, or their metadata, while they are connected. */
    updateParticipant(id: string, identity: string, body: UpdateParticipant, options?: RequestOptions): Promise<Participant>;
    /** Mutes a track at the media node; `{ "muted": false }` lets it through again. */
    muteTrack(id: string, identity: string, trackId: string, body?: Partial<MuteTrack>, options?: RequestOptions): Promise<Track>;
    /** Sends a data message to everybody in the room, or to some, who may use data. */
    sendData(id: string, body: SendRoomData, options?: RequestOptions): Promise<SentRoomData>;
    tokens: {
      /** Mints a token for one participant of one room. */
      create(roomId: string, body: MintRtcToken, options?: RequestOptions): Promise<RtcToken>;
      /** Revokes a token: no join with it from now on, and a live session of it ends within two seconds. Where there is a signing key, also one that was signed offline and never used. */
      revoke(roomId: string, tokenId: string, options?: RequestOptions): Promise<RevokedRtcToken>;
    };
  };
  liveStreams: {
    /** Lists live streams, newest first. */
    list(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<LiveStream>, LiveStream>;
    /** Creates a stream with its room, its conversation and its host. scheduledAt starts nothing by itself: call start. */
    create(body: CreateLiveStream, options?: RequestOptions): Promise<LiveStream>;
    /** Reads a stream with its live viewer count. */
    get(streamId: string, options?: RequestOptions): Promise<LiveStream>;
    /** Changes a stream's description; metadata is replaced as a whole. */
    update(streamId: string, body: UpdateLiveStream, options?: RequestOptions): Promise<LiveStream>;
    /** Moves a stream from CREATED to LIVE. */
    start(streamId: string, options?: RequestOptions): Promise<LiveStream>;
    /** Ends a stream for good: its room closes and its conversation is archived. */
    end(streamId: string, options?: RequestOptions): Promise<LiveStream>;
    /** Registers a host or co-host and returns RTC and chat credentials for them. */
    addHost(streamId: string, body: RegisterHost, options?: RequestOptions): Promise<StreamCredentials>;
    /** Removes a co-host: tokens are revoked, the call is left, the chat history stays. */
    removeHost(streamId: string, identity: string, options?: RequestOptions): Promise<LiveStreamHost>;
    /** Mints RTC and chat credentials for a viewer. They never allow publishing. */
    createViewerToken(streamId: string, body: ViewerIdentity, options?: RequestOptions): Promise<StreamCredentials>;
    /** Says that a viewer has left. */
    leave(streamId: string, body: ViewerIdentity, options?: RequestOptions): Promise<ViewerLeft>;
  };
  connections: {
    /** Lists connections, newest first. */
    list(query?: ConnectionsQuery, options?: RequestOptions): List<Page<Connection>, Connection>;
    /** Reads a connection with its whole timeline and its errors. */
    get(connectionId: string, options?: RequestOptions): Promise<ConnectionDetail>;
  };
  errors: {
    /** Lists classified errors, newest first. */
    list(query?: ErrorsQuery, options?: RequestOptions): List<Page<ClassifiedError>, ClassifiedError>;
    /** Reads an error with its connection, if it has one. */
    get(errorId: string, options?: RequestOptions): Promise<ErrorWithConnection>;
  };
  metrics: {
    /** Reads connection and error metrics of the last 24 hours, with series for charts. */
    get(options?: RequestOptions): Promise<ConnectionMetrics>;
  };
  diagnostics: {
    /** Checks each dependency of the service and says how it does. */
    get(options?: RequestOptions): Promise<Diagnostics>;
  };
  usage: {
    /** Reads the free RTC minutes and what is spent of them: over all projects a signed-in caller owns, or the API key's own project. */
    get(options?: RequestOptions): Promise<Usage>;
    /** Reads messages, minutes, recorded minutes and bytes stored and sent of the key's project and environment, by day and by API key, with what they cost where the project has prices. */
    report(query?: UsageReportQuery, options?: RequestOptions): Promise<UsageReport>;
  };
  events: {
    /** Lists every event type with the version that introduced it; the 15 of the specification come first. */
    types(options?: RequestOptions): List<Page<WebhookEventType>, WebhookEventType>;
    /** Streams the events of the key's project and environment as they happen, but for those on request; resumes after the header Last-Event-ID. */
    stream(query?: StreamEventsQuery, options?: RequestOptions): AsyncIterable<WebhookEvent>;
  };
  alerts: {
    /** Lists the alerts of the environment with their state, newest first. */
    list(query?: AlertsQuery, options?: RequestOptions): List<Page<Alert>, Alert>;
    /** Makes an alert: what it is about, its bound, and who is told by mail (members of the project) or webhook. */
    create(body: CreateAlert, options?: RequestOptions): Promise<Alert>;
    /** Reads an alert with its state and what was found last. */
    get(alertId: string, options?: RequestOptions): Promise<Alert>;
    /** Changes an alert. Its kind stays; `emails` replaces the whole list. */
    update(alertId: string, body: UpdateAlert, options?: RequestOptions): Promise<Alert>;
    /** Deletes an alert with its history; nothing more is told. */
    delete(alertId: string, options?: RequestOptions): Promise<undefined>;
    /** Silences an alert until a time within a year; null ends the silence. What still holds then is told then. */
    silence(alertId: string, body: SilenceAlert, options?: RequestOptions): Promise<Alert>;
    /** Lists the changes of an alert, newest first. */
    history(alertId: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<AlertChange>, AlertChange>;
  };
  chat: {
    conversations: {
      /** Lists the project's conversations, newest first; a chat token sees those its user belongs to. */
      list(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Conversation>, Conversation>;
      /** Creates a conversation, with members and attached to a room if you like. Needs chat:manage, which only an API key has. */
      create(body: CreateConversation, options?: RequestOptions): Promise<Conversation>;
      /** Reads one conversation by conv_ id, uuid, room id or name. */
      get(room: string, options?: RequestOptions): Promise<Conversation>;
      /** Renames, archives or re-activates a conversation, or sets its retention or metadata. */
      update(room: string, body: UpdateConversation, options?: RequestOptions): Promise<Conversation>;
      /** Erases a conversation with everything in it. There is no way back. */
      delete(room: string, options?: RequestOptions): Promise<Conversation>;
      /** Lists the conversations a user is a member of, with what they have not read. */
      listForUser(userId: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Conversation>, Conversation>;
    };
    members: {
      /** Lists active members, newest first. */
      list(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<ConversationMember>, ConversationMember>;
      /** Adds a member, or re-activates one who was removed. */
      add(room: string, body: AddConversationMember, options?: RequestOptions): Promise<ConversationMember>;
      /** Changes a member's role or metadata. */
      update(room: string, userId: string, body: ChangeConversationMember, options?: RequestOptions): Promise<ConversationMember>;
      /** Removes a member; what they wrote keeps its author. Anybody may remove themselves. */
      remove(room: string, userId: string, options?: RequestOptions): Promise<ConversationMember>;
    };
    messages: {
      /** Reads history, newest first. `before` walks back, `after` walks toward newer. */
      list(room: string, query?: HistoryQuery, options?: RequestOptions): List<MessagePage, Message>;
      /** Sends a message. A repeat with the same clientMessageId gives the original. */
      send(room: string, body: SendMessage, options?: RequestOptions): Promise<Message>;
      /** Reads every visible change after a cursor, oldest first: new, edited and deleted messages, reactions, members. */
      changes(room: string, query?: ChangesQuery, options?: RequestOptions): List<ChangePage, Change>;
      /** Reads one message. */
      get(messageId: string, options?: RequestOptions): Promise<Message>;
      /** Edits a message's text or metadata. */
      update(messageId: string, body: EditMessage, options?: RequestOptions): Promise<Message>;
      /** Soft-deletes a message: only its tombstone remains. */
      delete(messageId: string, query?: ForUser, options?: RequestOptions): Promise<Message>;
      /** Marks this message and all earlier ones as read. A mark never moves back. */
      markRead(messageId: string, body?: Partial<ForUser>, options?: RequestOptions): Promise<ReadState>;
      /** Reads the thread a message belongs to: its root, then the replies, oldest first. */
      thread(messageId: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Message>, Message>;
    };
    state: {
      /** Who is present now, by user id. */
      presence(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Presence>, Presence>;
      /** Who is typing now, by user id. */
      typing(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Typing>, Typing>;
      /** Every active member's read position. */
      readReceipts(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<ReadReceipt>, ReadReceipt>;
      /** The caller's read position and unread count; an API key names the user. */
      readState(room: string, query?: ForUser, options?: RequestOptions): Promise<ReadState>;
    };
    attachments: {
      /** Gives a signed URL to upload one file to. */
      create(room: string, body: RequestAttachment, options?: RequestOptions): Promise<AttachmentUpload>;
      /** Confirms an upload; from then on a message can carry it. */
      complete(attachmentId: string, options?: RequestOptions): Promise<Attachment>;
      /** Gives a short-lived signed URL to download from. */
      downloadUrl(attachmentId: string, options?: RequestOptions): Promise<AttachmentDownload>;
    };
    reactions: {
      /** Reacts to a message; once per user and emoji. An API key names the user. */
      add(messageId: string, body: AddReaction, options?: RequestOptions): Promise<ReactionSummary[]>;
      /** Takes a reaction back. */
      remove(messageId: string, emoji: string, query?: ForUser, options?: RequestOptions): Promise<undefined>;
    };
    tokens: {
      /** Mints a chat token for one end user. */
      create(body: MintChatToken, options?: RequestOptions): Promise<ChatToken>;
      /** Revokes a chat token by its id, also one that was signed offline and never used: it is refused from now on, and its sockets close within two seconds. */
      revoke(tokenId: string, options?: RequestOptions): Promise<RevokedChatToken>;
    };
  };
}

/** Name: route, path parameters, what is sent, what comes back, whether Idempotency-Key is taken, how it is walked. */
export const methodRows = {
  'project.get': { route: 'getOwnProject', params: 0, gives: 'one' },
  'users.list': { route: 'listRevokedUsers', params: 0, takes: 'query', gives: 'many', paged: true },
  'users.get': { route: 'getUser', params: 1, gives: 'one' },
  'users.revoke': { route: 'revokeUser', params: 1, takes: 'body', gives: 'one' },
  'users.unban': { route: 'unbanUser', params: 1, gives: 'one' },
  'rooms.list': { route: 'listRooms', params: 0, takes: 'query', gives: 'many', paged: true },
  'rooms.create': { route: 'createRoom', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'rooms.get': { route: 'getRoom', params: 1, gives: 'one' },
  'rooms.update': { route: 'updateRoom', params: 1, takes: 'body', gives: 'one' },
  'rooms.close': { route: 'closeRoom', params: 1, gives: 'one' },
  'rooms.participants': { route: 'listRoomParticipants', params: 1, gives: 'many' },
  'rooms.sessions': { route: 'listRoomSessions', params: 1, takes: 'query', gives: 'many', paged: true },
  'rooms.removeParticipant': { route: 'removeParticipant', params: 2, takes: 'query', gives: 'one' },
  'rooms.updateParticipant': { route: 'updateParticipant', params: 2, takes: 'body', gives: 'one' },
  'rooms.muteTrack': { route: 'muteTrack', params: 3, takes: 'body', gives: 'one' },
  'rooms.sendData': { route: 'sendRoomData', params: 1, takes: 'body', gives: 'one' },
  'rooms.tokens.create': { route: 'mintRtcToken', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'rooms.tokens.revoke': { route: 'revokeRtcToken', params: 2, gives: 'one' },
  'liveStreams.list': { route: 'listLiveStreams', params: 0, takes: 'query', gives: 'many', paged: true },
  'liveStreams.create': { route: 'createLiveStream', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'liveStreams.get': { route: 'getLiveStream', params: 1, gives: 'one' },
  'liveStreams.update': { route: 'updateLiveStream', params: 1, takes: 'body', gives: 'one' },
  'liveStreams.start': { route: 'startLiveStream', params: 1, gives: 'one' },
  'liveStreams.end': { route: 'endLiveStream', params: 1, gives: 'one' },
  'liveStreams.addHost': { route: 'registerHost', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'liveStreams.removeHost': { route: 'removeHost', params: 2, gives: 'one' },
  'liveStreams.createViewerToken': { route: 'createViewerToken', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'liveStreams.leave': { route: 'leaveLiveStream', params: 1, takes: 'body', gives: 'one' },
  'connections.list': { route: 'listConnections', params: 0, takes: 'query', gives: 'many', paged: true },
  'connections.get': { route: 'getConnection', params: 1, gives: 'one' },
  'errors.list': { route: 'listErrors', params: 0, takes: 'query', gives: 'many', paged: true },
  'errors.get': { route: 'getError', params: 1, gives: 'one' },
  'metrics.get': { route: 'getMetrics', params: 0, gives: 'one' },
  'diagnostics.get': { route: 'getDiagnostics', params: 0, gives: 'one' },
  'usage.get': { route: 'getUsage', params: 0, gives: 'one' },
  'usage.report': { route: 'getUsageReport', params: 0, takes: 'query', gives: 'one' },
  'events.types': { route: 'listWebhookEventTypes', params: 0, gives: 'many' },
  'events.stream': { route: 'streamEvents', params: 0, takes: 'query', gives: 'stream' },
  'alerts.list': { route: 'listAlerts', params: 0, takes: 'query', gives: 'many', paged: true },
  'alerts.create': { route: 'createAlert', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'alerts.get': { route: 'getAlert', params: 1, gives: 'one' },
  'alerts.update': { route: 'updateAlert', params: 1, takes: 'body', gives: 'one' },
  'alerts.delete': { route: 'deleteAlert', params: 1, gives: 'one' },
  'alerts.silence': { route: 'silenceAlert', params: 1, takes: 'body', gives: 'one' },
  'alerts.history': { route: 'listAlertHistory', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.conversations.list': { route: 'listConversations', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.conversations.create': { route: 'createConversation', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'chat.conversations.get': { route: 'getConversation', params: 1, gives: 'one' },
  'chat.conversations.update': { route: 'updateConversation', params: 1, takes: 'body', gives: 'one' },
  'chat.conversations.delete': { route: 'deleteConversation', params: 1, gives: 'one' },
  'chat.conversations.listForUser': { route: 'listUserConversations', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.members.list': { route: 'listConversationMembers', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.members.add': { route: 'addConversationMember', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.members.update': { route: 'changeConversationMember', params: 2, takes: 'body', gives: 'one' },
  'chat.members.remove': { route: 'removeConversationMember', params: 2, gives: 'one' },
  'chat.messages.list': { route: 'listMessages', params: 1, takes: 'query', gives: 'walk', walk: {"items":"messages","by":"before","orBy":"after"} },
  'chat.messages.send': { route: 'sendMessage', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.messages.changes': { route: 'listChanges', params: 1, takes: 'query', gives: 'walk', walk: {"items":"changes","by":"since","until":"complete"} },
  'chat.state.presence': { route: 'listPresence', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.state.typing': { route: 'listTyping', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.state.readReceipts': { route: 'listReadReceipts', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.state.readState': { route: 'getReadState', params: 1, takes: 'query', gives: 'one' },
  'chat.attachments.create': { route: 'requestAttachment', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.attachments.complete': { route: 'completeAttachment', params: 1, gives: 'one' },
  'chat.attachments.downloadUrl': { route: 'getAttachmentDownload', params: 1, gives: 'one' },
  'chat.messages.get': { route: 'getMessage', params: 1, gives: 'one' },
  'chat.messages.update': { route: 'editMessage', params: 1, takes: 'body', gives: 'one' },
  'chat.messages.delete': { route: 'deleteMessage', params: 1, takes: 'query', gives: 'one' },
  'chat.reactions.add': { route: 'addReaction', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.reactions.remove': { route: 'removeReaction', params: 2, takes: 'query', gives: 'one' },
  'chat.messages.markRead': { route: 'markRead', params: 1, takes: 'body', gives: 'one' },
  'chat.messages.thread': { route: 'getThread', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.tokens.create': { route: 'mintChatToken', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'chat.tokens.revoke': { route: 'revokeChatToken', params: 1, gives: 'one' },
} as const;
