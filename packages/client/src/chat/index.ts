export type { Credential } from '../credential.ts';
export {
  ApiError,
  ConnectionError,
  type DisconnectReason,
  ParleyError,
  PermissionError,
  RateLimitError,
  SvcError,
} from '../errors.ts';
export type { ConnectionState, ReconnectOptions } from '../reconnect.ts';
export type { Store } from '../store.ts';
export { Chat, type ChatEvents, type ChatOptions, type ChatState, type JoinOptions } from './chat.ts';
export type { Conversation, ConversationEvents, MessageRef } from './conversation-types.ts';
export type { History, HistoryOptions, MessagePage } from './history.ts';
export type { Operation } from './operations.ts';
export type { QueueStorage } from './queue-storage.ts';
export type {
  ChatUser,
  ConversationMember,
  ConversationRecord,
  Delivery,
  Mentions,
  MentionsDraft,
  Message,
  MessagePatch,
  NewMessage,
  Page,
  PageOptions,
  PresenceStatus,
  Present,
  ReactionSummary,
  ReadReceipt,
  ReadState,
} from './records.ts';
export type { UploadOptions } from './upload.ts';
