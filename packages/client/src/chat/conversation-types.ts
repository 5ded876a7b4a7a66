import type { ConnectionError, SvcError } from '../errors.ts';
import type { Events } from '../events.ts';
import type { ConnectionState } from '../reconnect.ts';
import type { Store } from '../store.ts';
import type { History, HistoryOptions } from './history.ts';
import type {
  ConversationMember,
  Message,
  MessagePatch,
  NewMessage,
  Page,
  PageOptions,
  PresenceStatus,
  Present,
  ReadReceipt,
  ReadState,
} from './records.ts';
import type { UploadOptions } from './upload.ts';

/** A message that may not be loaded; its id is always known. */
export type MessageRef = Partial<Message> & { readonly id: string };

export type ConversationEvents = {
  message: [message: Message];
  messageUpdated: [message: Message];
  messageDeleted: [message: Message];
  reactionAdded: [message: MessageRef, emoji: string, userId: string];
  reactionRemoved: [message: MessageRef, emoji: string, userId: string];
  typing: [userId: string, isTyping: boolean];
  presence: [userId: string, status: PresenceStatus, event: 'enter' | 'update' | 'leave'];
  read: [receipt: { userId: string; messageId: string; seq: number; at: string }];
  /** Messages have reached devices of these members; in conversations with at most 100 of them. */
  delivered: [delivered: { receipts: readonly { userId: string; seq: number }[]; at: string }];
  /** Operations of this conversation that the server does not have yet. */
  queueChanged: [waiting: number];
  connectionStateChanged: [state: ConnectionState, previous: ConnectionState, error?: ConnectionError];
  error: [error: SvcError];
};

export interface Conversation extends Events<ConversationEvents> {
  /** `conv_…` */
  readonly id: string;
  /** Oldest first, merged from live frames and `history`; what is on its way comes last. */
  readonly messages: Store<readonly Message[]>;
  /** Who types now, without this user. */
  readonly typing: Store<readonly string[]>;
  /** Shown at once. Resolves when stored; without a connection at once, with `delivery: 'queued'`. */
  send(message: string | NewMessage): Promise<Message>;
  /** Sends a failed message again. */
  retry(clientMessageId: string): Promise<Message>;
  /** Forgets a message that waits or failed, or by its id a failed edit. */
  discard(id: string): void;
  edit(id: string, patch: string | MessagePatch): Promise<void>;
  remove(id: string): Promise<void>;
  react(id: string, emoji: string): Promise<void>;
  unreact(id: string, emoji: string): Promise<void>;
  /** Marks this message and all earlier ones as read. */
  markRead(id: string): Promise<void>;
  /** Call it with every key press; the others are notified now and then. */
  setTyping(isTyping?: boolean): void;
  /** Newest first. Await it for one page, iterate it for many. */
  history(options?: HistoryOptions): History;
  /** Who is present now; the `presence` event says what changes after. */
  presence(): Promise<readonly Present[]>;
  /** How far this user has read, and how much is left. */
  readState(): Promise<ReadState>;
  /** How far each member has read; the `read` event says what changes after. */
  readReceipts(options?: PageOptions): Promise<Page<ReadReceipt>>;
  members(options?: PageOptions): Promise<Page<ConversationMember>>;
  upload(file: Blob, options?: UploadOptions): Promise<{ attachmentId: string }>;
  leave(): Promise<void>;
}
