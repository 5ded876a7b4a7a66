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
  BadgeQuery,
  BlocksQuery,
  CastVote,
  Change,
  ChangeConversationMember,
  ChangeInboxEntry,
  ChangePage,
  ChangeScheduled,
  ChangesQuery,
  ChatBlock,
  ChatDeletion,
  ChatReport,
  ChatToken,
  ChatUser,
  ChatUserFields,
  ChatUsersQuery,
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
  DataJob,
  DeleteMessages,
  Diagnostics,
  DownloadQuery,
  EditMessage,
  EndUser,
  EraseUser,
  ErrorWithConnection,
  ErrorsQuery,
  ForUser,
  HistoryQuery,
  ImportConversations,
  ImportUpload,
  ImposeSanction,
  InboxBadge,
  InboxEntry,
  InboxQuery,
  LinkPreviewSettings,
  ListDataJobsQuery,
  ListRevokedUsersQuery,
  LiveStream,
  LiveStreamHost,
  MarkDelivered,
  MarkUnread,
  Message,
  MessageDraft,
  MessagePage,
  MintChatToken,
  MintRtcToken,
  ModerationHook,
  ModerationSettings,
  MuteTrack,
  NewModerationHook,
  OpenDirect,
  Participant,
  Pin,
  Poll,
  PollVote,
  PollVotesQuery,
  Presence,
  Project,
  PushDevice,
  PushKey,
  PushPreferences,
  PushSettings,
  PutChatUsers,
  PutPushDevice,
  ReactionSummary,
  ReadReceipt,
  ReadState,
  RegisterHost,
  RemoveParticipantQuery,
  RemovedParticipant,
  ReportsQuery,
  RequestAttachment,
  ResolveReport,
  RevokeUser,
  RevokedChatToken,
  RevokedRtcToken,
  Room,
  RoomSession,
  RtcToken,
  Sanction,
  ScanResult,
  ScheduleMessage,
  ScheduledMessage,
  SearchPage,
  SearchQuery,
  SearchResult,
  SendMessage,
  SendRoomData,
  SentRoomData,
  SetDraft,
  SetHook,
  SetModeration,
  SetPushPreferences,
  SetScanHook,
  SilenceAlert,
  StreamCredentials,
  StreamEventsQuery,
  Track,
  Typing,
  UpdateAlert,
  UpdateConversation,
  UpdateLiveStream,
  UpdateParticipant,
  UpdatePushSettings,
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
    /** Begins to write everything that is stored of a user into one NDJSON file; a second call while it runs finds the first. */
    export(userId: string, options?: RequestOptions): Promise<DataJob>;
    /** Voids every token of a user and begins to erase what is stored of them; a second call while it runs finds the first. */
    erase(userId: string, body: EraseUser, options?: RequestOptions): Promise<DataJob>;
  };
  chat: {
    imports: {
      /** Says where to upload an NDJSON file of conversations with their members, messages, reactions and read marks. */
      create(body: ImportConversations, options?: RequestOptions): Promise<ImportUpload>;
      /** Begins to read the file that was uploaded; called again it changes nothing. */
      start(jobId: string, options?: RequestOptions): Promise<DataJob>;
    };
    conversations: {
      /** Lists the project's conversations, newest first; a chat token sees those its user belongs to. */
      list(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Conversation>, Conversation>;
      /** Creates a conversation, with members and attached to a room if you like. Needs chat:manage, which only an API key has. */
      create(body: CreateConversation, options?: RequestOptions): Promise<Conversation>;
      /** Reads one conversation by conv_ id, uuid, room id or name. */
      get(room: string, options?: RequestOptions): Promise<Conversation>;
      /** Renames, archives or re-activates a conversation, or sets its retention, slow mode or metadata. */
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
      /** Sends a message. A repeat with the same clientMessageId gives the original. `poll` asks, `forward` passes on another message. */
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
      /** Finds messages by their words; a chat token searches the conversations that its user is a member of. */
      search(query: SearchQuery, options?: RequestOptions): List<SearchPage, SearchResult>;
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
      /** Says that messages up to this one have reached a device of the user. A mark never moves back, nor beyond the last message. */
      markDelivered(room: string, body: MarkDelivered, options?: RequestOptions): Promise<ReadReceipt>;
    };
    attachments: {
      /** Gives a signed URL to upload one file to. */
      create(room: string, body: RequestAttachment, options?: RequestOptions): Promise<AttachmentUpload>;
      /** Confirms an upload; from then on a message can carry it. */
      complete(attachmentId: string, options?: RequestOptions): Promise<Attachment>;
      /** Gives a short-lived signed URL to download from: of the file, or of a picture in a smaller size. */
      downloadUrl(attachmentId: string, query?: DownloadQuery, options?: RequestOptions): Promise<AttachmentDownload>;
      /** Reads the scan hook of the environment. */
      scanHook(options?: RequestOptions): Promise<ModerationHook>;
      /** Sets the scan hook: a signed call to your scanner with a link to each file that is completed from now on. Until it has answered nobody else can fetch the file. The first answer is the only one that shows its secret. */
      setScanHook(body: SetScanHook, options?: RequestOptions): Promise<NewModerationHook>;
      /** Makes a new secret for the scan hook, and shows it once. Calls are signed with the one before too for 24 hours. */
      rotateScanHookSecret(options?: RequestOptions): Promise<NewModerationHook>;
      /** Removes the scan hook. Files that wait for it can be fetched from then on. */
      removeScanHook(options?: RequestOptions): Promise<undefined>;
      /** Says what a scan found, where the hook answered that it takes longer, or on any other day: a later result replaces the one before. */
      setScanResult(attachmentId: string, body: ScanResult, options?: RequestOptions): Promise<Attachment>;
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
    direct: {
      /** Finds or makes the one direct conversation of exactly these people. A chat token opens those its user is in. */
      open(body: OpenDirect, options?: RequestOptions): Promise<Conversation>;
    };
    users: {
      /** Reads up to 100 users by `ids`, in that order and without those there are not; an API key without `ids` lists every record by user id. A chat token gets those its user shares a conversation with, without `ids` its own user. */
      list(query?: ChatUsersQuery, options?: RequestOptions): List<Page<ChatUser>, ChatUser>;
      /** Writes up to 100 users, each as a whole: what is left out is empty. */
      setAll(body: PutChatUsers, options?: RequestOptions): Promise<ChatUser[]>;
      /** Reads one user. A chat token reads its own user and those it shares a conversation with. */
      get(userId: string, options?: RequestOptions): Promise<ChatUser>;
      /** Writes a user as a whole: what is left out is empty. */
      set(userId: string, body: ChatUserFields, options?: RequestOptions): Promise<ChatUser>;
      /** Changes what is given and leaves the rest; metadata is replaced. */
      update(userId: string, body: ChatUserFields, options?: RequestOptions): Promise<ChatUser>;
      /** Deletes what the project says of a user: name, picture, role and metadata. Memberships and messages stay. */
      delete(userId: string, options?: RequestOptions): Promise<undefined>;
    };
    inbox: {
      /** Lists the inbox of a user. */
      list(userId: string, query?: InboxQuery, options?: RequestOptions): List<Page<InboxEntry>, InboxEntry>;
      /** Counts what is unread over all conversations of a user that are not muted. */
      badge(userId: string, query?: BadgeQuery, options?: RequestOptions): Promise<InboxBadge>;
      /** Mutes, pins or hides a conversation for oneself; nobody else sees it. An API key names the user. */
      update(room: string, body: ChangeInboxEntry, options?: RequestOptions): Promise<InboxEntry>;
      /** Moves the read mark back to before a message, or before the last one. A mark that is there already, or before it, stays. */
      markUnread(room: string, body?: Partial<MarkUnread>, options?: RequestOptions): Promise<InboxEntry>;
    };
    scheduled: {
      /** Schedules a message, up to 30 days ahead. Who may send it is asked again when its time has come. */
      create(room: string, body: ScheduleMessage, options?: RequestOptions): Promise<ScheduledMessage>;
      /** Lists scheduled messages that are not sent yet, soonest first, and failed ones: those of the token’s user; with an API key all, or those of one user. */
      list(room: string, query?: BlocksQuery, options?: RequestOptions): List<Page<ScheduledMessage>, ScheduledMessage>;
      /** Reads one scheduled message. */
      get(scheduledId: string, options?: RequestOptions): Promise<ScheduledMessage>;
      /** Changes text, metadata or time of a scheduled message; a failed one waits again. */
      update(scheduledId: string, body: ChangeScheduled, options?: RequestOptions): Promise<ScheduledMessage>;
      /** Cancels a scheduled message: it is never sent. */
      cancel(scheduledId: string, options?: RequestOptions): Promise<undefined>;
    };
    pins: {
      /** Pins a message for everybody in its conversation: a moderator does, in a direct conversation any member. Up to 50. */
      add(messageId: string, query?: ForUser, options?: RequestOptions): Promise<Pin>;
      /** Takes a pin away; one that is not there is no error. */
      remove(messageId: string, query?: ForUser, options?: RequestOptions): Promise<undefined>;
      /** Lists the pinned messages of a conversation, the one pinned last first. */
      list(room: string, options?: RequestOptions): List<Page<Pin>, Pin>;
    };
    polls: {
      /** Votes in a poll, in the place of an earlier vote of the same user. An API key names the user. */
      vote(messageId: string, body: CastVote, options?: RequestOptions): Promise<Poll>;
      /** Takes a vote back while the poll is open; one that is not there is no error. */
      retract(messageId: string, query?: ForUser, options?: RequestOptions): Promise<Poll>;
      /** Closes a poll before its time: its author, a moderator or an API key does. Closing what is closed changes nothing. */
      close(messageId: string, query?: ForUser, options?: RequestOptions): Promise<Poll>;
      /** Lists who voted for what, oldest vote first; of an anonymous poll nobody is told. */
      votes(messageId: string, query?: PollVotesQuery, options?: RequestOptions): List<Page<PollVote>, PollVote>;
    };
    drafts: {
      /** Stores what a user has begun to write; the last write wins, and the user's other devices get it as `draft.updated`. */
      set(room: string, body: SetDraft, options?: RequestOptions): Promise<MessageDraft>;
      /** Reads a user's draft in a conversation. */
      get(room: string, query?: ForUser, options?: RequestOptions): Promise<MessageDraft>;
      /** Removes a draft; one that is not there is no error. */
      delete(room: string, query?: ForUser, options?: RequestOptions): Promise<undefined>;
      /** Lists the drafts of a user, the one written last first. */
      list(query?: BlocksQuery, options?: RequestOptions): List<Page<MessageDraft>, MessageDraft>;
    };
    linkPreviews: {
      /** Reads whether messages of the environment get previews of their links. */
      get(options?: RequestOptions): Promise<LinkPreviewSettings>;
      /** Turns previews of links on or off; they are off at first. The service then fetches the first link of each message that is sent from now on. */
      set(body: LinkPreviewSettings, options?: RequestOptions): Promise<LinkPreviewSettings>;
    };
    moderation: {
      /** Lists who is banned from a conversation, latest first; for moderators. */
      bans(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Removes a user from a conversation and keeps them out, until a time or for good. Moderators ban those below them. */
      ban(room: string, userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a ban: the user can be added again. */
      unban(room: string, userId: string, options?: RequestOptions): Promise<undefined>;
      /** Lists who is muted in a conversation, latest first; for moderators. */
      mutes(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Lets a member read and no longer send, edit, react or upload, until a time or for good. Moderators mute those below them. */
      mute(room: string, userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a mute. */
      unmute(room: string, userId: string, options?: RequestOptions): Promise<undefined>;
      /** Lists who is banned from all chat of the environment, latest first. */
      bansEverywhere(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Shuts a user out of all chat of the environment, until a time or for good; sockets close within two seconds. Rooms and streams stay open: `users.revoke` closes everything. */
      banEverywhere(userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a ban from chat: the user is back in every conversation of theirs. */
      unbanEverywhere(userId: string, options?: RequestOptions): Promise<undefined>;
      /** Lists who is muted in all conversations of the environment, latest first. */
      mutesEverywhere(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Lets a user read and no longer send, edit, react or upload in any conversation, until a time or for good. */
      muteEverywhere(userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a mute. */
      unmuteEverywhere(userId: string, options?: RequestOptions): Promise<undefined>;
      /** Lists who is in the shadow in a conversation, latest first; for moderators. */
      shadows(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Shows what a member sends to themselves alone, until a time or for good, without telling them. Moderators do so to those below them. */
      shadow(room: string, userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a shadow: what is sent from here on is for all. What was sent before stays where it is. */
      unshadow(room: string, userId: string, options?: RequestOptions): Promise<undefined>;
      /** Lists what was sent in the shadow in a conversation, newest first and without what was deleted; for moderators. */
      shadowMessages(room: string, query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Message>, Message>;
      /** Lists who is in the shadow in all conversations of the environment, latest first. */
      shadowsEverywhere(query?: AlertHistoryQuery, options?: RequestOptions): List<Page<Sanction>, Sanction>;
      /** Shows what a user sends in any conversation to themselves alone, until a time or for good, without telling them. */
      shadowEverywhere(userId: string, body?: Partial<ImposeSanction>, options?: RequestOptions): Promise<Sanction>;
      /** Lifts a shadow: what is sent from here on is for all. What was sent before stays where it is. */
      unshadowEverywhere(userId: string, options?: RequestOptions): Promise<undefined>;
      /** Reads the word lists and the rule for links of the environment. */
      settings(options?: RequestOptions): Promise<ModerationSettings>;
      /** Replaces the word lists and the rule for links of the environment. They hold for what users send and edit, within two seconds on every process. */
      setSettings(body: SetModeration, options?: RequestOptions): Promise<ModerationSettings>;
      /** Reads the pre-send hook of the environment. */
      hook(options?: RequestOptions): Promise<ModerationHook>;
      /** Sets the pre-send hook: a signed call to your backend that allows, changes or refuses each message of users. The first answer is the only one that shows its secret. */
      setHook(body: SetHook, options?: RequestOptions): Promise<NewModerationHook>;
      /** Makes a new secret for the pre-send hook, and shows it once. Calls are signed with the one before too for 24 hours. */
      rotateHookSecret(options?: RequestOptions): Promise<NewModerationHook>;
      /** Removes the pre-send hook. */
      removeHook(options?: RequestOptions): Promise<undefined>;
      /** Begins to delete all messages of a user, in one conversation or in all, each as a deletion that subscribers hear of. The answer can be read again until it is DONE. */
      deleteMessages(userId: string, body?: Partial<DeleteMessages>, options?: RequestOptions): Promise<ChatDeletion>;
      /** Reads how far the deletion of the messages of a user is. */
      deletion(deletionId: string, options?: RequestOptions): Promise<ChatDeletion>;
    };
    reports: {
      /** Lists reports of messages by users and word lists, latest first: the open ones unless `status` says otherwise. A moderator gets those of the conversations that they moderate, about messages of those below them. */
      list(query?: ReportsQuery, options?: RequestOptions): List<Page<ChatReport>, ChatReport>;
      /** Reads one report, of those that the caller could list. */
      get(reportId: string, options?: RequestOptions): Promise<ChatReport>;
      /** Resolves a report: with nothing, by deleting the message, or by muting, banning or shadowing who sent it; `everywhere` by API key alone. */
      resolve(reportId: string, body: ResolveReport, options?: RequestOptions): Promise<ChatReport>;
    };
    blocks: {
      /** Lists whom a user has blocked, latest first. Nobody learns who has blocked them. */
      list(query?: BlocksQuery, options?: RequestOptions): List<Page<ChatBlock>, ChatBlock>;
      /** Blocks another user: no messages between the two in direct conversations, nothing unread and no notifications from them elsewhere. The user's devices get `block.updated`. */
      add(blockedId: string, query?: ForUser, options?: RequestOptions): Promise<ChatBlock>;
      /** Lifts a block; one that is not there is no error. */
      remove(blockedId: string, query?: ForUser, options?: RequestOptions): Promise<undefined>;
    };
    devices: {
      /** Lists the devices of a user, newest first. */
      list(query?: ForUser, options?: RequestOptions): List<Page<PushDevice>, PushDevice>;
      /** Registers a device of a user. One that is known already is renewed, and belongs to this user from now on; of too many the oldest is dropped. */
      put(body: PutPushDevice, options?: RequestOptions): Promise<PushDevice>;
      /** Removes a device: it gets nothing more. */
      delete(deviceId: string, options?: RequestOptions): Promise<undefined>;
    };
    push: {
      /** Reads which messages a user is told of, and when not. */
      getPreferences(query?: ForUser, options?: RequestOptions): Promise<PushPreferences>;
      /** Sets which messages a user is told of, and when not; null is the default of the environment. */
      setPreferences(body: SetPushPreferences, options?: RequestOptions): Promise<PushPreferences>;
      /** Reads the public key that browsers subscribe to Web Push with. */
      getKey(options?: RequestOptions): Promise<PushKey>;
      /** Reads how notifications of this environment are sent. */
      getSettings(options?: RequestOptions): Promise<PushSettings>;
      /** Changes how notifications of this environment are sent: whether they show content, and the keys for FCM and APNs. */
      updateSettings(body: UpdatePushSettings, options?: RequestOptions): Promise<PushSettings>;
    };
  };
  dataJobs: {
    /** Lists exports, erasures and imports of the last 30 days, newest first. */
    list(query?: ListDataJobsQuery, options?: RequestOptions): List<Page<DataJob>, DataJob>;
    /** Reads how far an export, erasure or import is, and where the file of an export can be fetched. */
    get(jobId: string, options?: RequestOptions): Promise<DataJob>;
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
}

/** Name: route, path parameters, what is sent, what comes back, whether Idempotency-Key is taken, how it is walked. */
export const methodRows = {
  'project.get': { route: 'getOwnProject', params: 0, gives: 'one' },
  'users.list': { route: 'listRevokedUsers', params: 0, takes: 'query', gives: 'many', paged: true },
  'users.get': { route: 'getUser', params: 1, gives: 'one' },
  'users.revoke': { route: 'revokeUser', params: 1, takes: 'body', gives: 'one' },
  'users.unban': { route: 'unbanUser', params: 1, gives: 'one' },
  'users.export': { route: 'exportUser', params: 1, gives: 'one' },
  'users.erase': { route: 'eraseUser', params: 1, takes: 'body', gives: 'one' },
  'chat.imports.create': { route: 'importConversations', params: 0, takes: 'body', gives: 'one' },
  'chat.imports.start': { route: 'startImport', params: 1, gives: 'one' },
  'dataJobs.list': { route: 'listDataJobs', params: 0, takes: 'query', gives: 'many', paged: true },
  'dataJobs.get': { route: 'getDataJob', params: 1, gives: 'one' },
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
  'chat.attachments.downloadUrl': { route: 'getAttachmentDownload', params: 1, takes: 'query', gives: 'one' },
  'chat.messages.get': { route: 'getMessage', params: 1, gives: 'one' },
  'chat.messages.update': { route: 'editMessage', params: 1, takes: 'body', gives: 'one' },
  'chat.messages.delete': { route: 'deleteMessage', params: 1, takes: 'query', gives: 'one' },
  'chat.reactions.add': { route: 'addReaction', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.reactions.remove': { route: 'removeReaction', params: 2, takes: 'query', gives: 'one' },
  'chat.messages.markRead': { route: 'markRead', params: 1, takes: 'body', gives: 'one' },
  'chat.messages.thread': { route: 'getThread', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.tokens.create': { route: 'mintChatToken', params: 0, takes: 'body', gives: 'one', takesKey: true },
  'chat.tokens.revoke': { route: 'revokeChatToken', params: 1, gives: 'one' },
  'chat.direct.open': { route: 'openDirectConversation', params: 0, takes: 'body', gives: 'one' },
  'chat.users.list': { route: 'listChatUsers', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.users.setAll': { route: 'putChatUsers', params: 0, takes: 'body', gives: 'one' },
  'chat.users.get': { route: 'getChatUser', params: 1, gives: 'one' },
  'chat.users.set': { route: 'putChatUser', params: 1, takes: 'body', gives: 'one' },
  'chat.users.update': { route: 'updateChatUser', params: 1, takes: 'body', gives: 'one' },
  'chat.users.delete': { route: 'deleteChatUser', params: 1, gives: 'one' },
  'chat.inbox.list': { route: 'listUserInbox', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.inbox.badge': { route: 'getUserInboxBadge', params: 1, takes: 'query', gives: 'one' },
  'chat.inbox.update': { route: 'changeInboxEntry', params: 1, takes: 'body', gives: 'one' },
  'chat.inbox.markUnread': { route: 'markUnread', params: 1, takes: 'body', gives: 'one' },
  'chat.state.markDelivered': { route: 'markDelivered', params: 1, takes: 'body', gives: 'one' },
  'chat.messages.search': { route: 'searchMessages', params: 0, takes: 'query', gives: 'walk', walk: {"items":"results","by":"cursor"} },
  'chat.scheduled.create': { route: 'scheduleMessage', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.scheduled.list': { route: 'listScheduled', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.scheduled.get': { route: 'getScheduled', params: 1, gives: 'one' },
  'chat.scheduled.update': { route: 'changeScheduled', params: 1, takes: 'body', gives: 'one' },
  'chat.scheduled.cancel': { route: 'cancelScheduled', params: 1, gives: 'one' },
  'chat.pins.add': { route: 'pinMessage', params: 1, takes: 'query', gives: 'one' },
  'chat.pins.remove': { route: 'unpinMessage', params: 1, takes: 'query', gives: 'one' },
  'chat.pins.list': { route: 'listPins', params: 1, gives: 'many' },
  'chat.polls.vote': { route: 'castVote', params: 1, takes: 'body', gives: 'one' },
  'chat.polls.retract': { route: 'retractVote', params: 1, takes: 'query', gives: 'one' },
  'chat.polls.close': { route: 'closePoll', params: 1, takes: 'query', gives: 'one' },
  'chat.polls.votes': { route: 'listPollVotes', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.drafts.set': { route: 'setDraft', params: 1, takes: 'body', gives: 'one' },
  'chat.drafts.get': { route: 'getDraft', params: 1, takes: 'query', gives: 'one' },
  'chat.drafts.delete': { route: 'deleteDraft', params: 1, takes: 'query', gives: 'one' },
  'chat.drafts.list': { route: 'listDrafts', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.attachments.scanHook': { route: 'getScanHook', params: 0, gives: 'one' },
  'chat.attachments.setScanHook': { route: 'setScanHook', params: 0, takes: 'body', gives: 'one' },
  'chat.attachments.rotateScanHookSecret': { route: 'rotateScanHook', params: 0, gives: 'one' },
  'chat.attachments.removeScanHook': { route: 'removeScanHook', params: 0, gives: 'one' },
  'chat.attachments.setScanResult': { route: 'setScanResult', params: 1, takes: 'body', gives: 'one' },
  'chat.linkPreviews.get': { route: 'getLinkPreviews', params: 0, gives: 'one' },
  'chat.linkPreviews.set': { route: 'setLinkPreviews', params: 0, takes: 'body', gives: 'one' },
  'chat.moderation.bans': { route: 'listConversationBans', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.ban': { route: 'banFromConversation', params: 2, takes: 'body', gives: 'one' },
  'chat.moderation.unban': { route: 'unbanFromConversation', params: 2, gives: 'one' },
  'chat.moderation.mutes': { route: 'listConversationMutes', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.mute': { route: 'muteInConversation', params: 2, takes: 'body', gives: 'one' },
  'chat.moderation.unmute': { route: 'unmuteInConversation', params: 2, gives: 'one' },
  'chat.moderation.bansEverywhere': { route: 'listChatBans', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.banEverywhere': { route: 'banFromChat', params: 1, takes: 'body', gives: 'one' },
  'chat.moderation.unbanEverywhere': { route: 'unbanFromChat', params: 1, gives: 'one' },
  'chat.moderation.mutesEverywhere': { route: 'listChatMutes', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.muteEverywhere': { route: 'muteInChat', params: 1, takes: 'body', gives: 'one' },
  'chat.moderation.unmuteEverywhere': { route: 'unmuteInChat', params: 1, gives: 'one' },
  'chat.moderation.shadows': { route: 'listConversationShadows', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.shadow': { route: 'shadowInConversation', params: 2, takes: 'body', gives: 'one' },
  'chat.moderation.unshadow': { route: 'unshadowInConversation', params: 2, gives: 'one' },
  'chat.moderation.shadowMessages': { route: 'listShadowMessages', params: 1, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.shadowsEverywhere': { route: 'listChatShadows', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.moderation.shadowEverywhere': { route: 'shadowInChat', params: 1, takes: 'body', gives: 'one' },
  'chat.moderation.unshadowEverywhere': { route: 'unshadowInChat', params: 1, gives: 'one' },
  'chat.moderation.settings': { route: 'getChatModeration', params: 0, gives: 'one' },
  'chat.moderation.setSettings': { route: 'setChatModeration', params: 0, takes: 'body', gives: 'one' },
  'chat.moderation.hook': { route: 'getModerationHook', params: 0, gives: 'one' },
  'chat.moderation.setHook': { route: 'setModerationHook', params: 0, takes: 'body', gives: 'one' },
  'chat.moderation.rotateHookSecret': { route: 'rotateModerationHook', params: 0, gives: 'one' },
  'chat.moderation.removeHook': { route: 'removeModerationHook', params: 0, gives: 'one' },
  'chat.reports.list': { route: 'listChatReports', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.reports.get': { route: 'getChatReport', params: 1, gives: 'one' },
  'chat.reports.resolve': { route: 'resolveChatReport', params: 1, takes: 'body', gives: 'one' },
  'chat.moderation.deleteMessages': { route: 'deleteUserMessages', params: 1, takes: 'body', gives: 'one', takesKey: true },
  'chat.moderation.deletion': { route: 'getChatDeletion', params: 1, gives: 'one' },
  'chat.blocks.list': { route: 'listBlocks', params: 0, takes: 'query', gives: 'many', paged: true },
  'chat.blocks.add': { route: 'blockUser', params: 1, takes: 'query', gives: 'one' },
  'chat.blocks.remove': { route: 'unblockUser', params: 1, takes: 'query', gives: 'one' },
  'chat.devices.list': { route: 'listPushDevices', params: 0, takes: 'query', gives: 'many' },
  'chat.devices.put': { route: 'putPushDevice', params: 0, takes: 'body', gives: 'one' },
  'chat.devices.delete': { route: 'deletePushDevice', params: 1, gives: 'one' },
  'chat.push.getPreferences': { route: 'getPushPreferences', params: 0, takes: 'query', gives: 'one' },
  'chat.push.setPreferences': { route: 'setPushPreferences', params: 0, takes: 'body', gives: 'one' },
  'chat.push.getKey': { route: 'getPushKey', params: 0, gives: 'one' },
  'chat.push.getSettings': { route: 'getPushSettings', params: 0, gives: 'one' },
  'chat.push.updateSettings': { route: 'updatePushSettings', params: 0, takes: 'body', gives: 'one' },
} as const;
