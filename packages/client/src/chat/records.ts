import type { ChatChange, ChatClientFrames, ReplyTo } from '@parley/contract';
import type {
  ForwardDraft,
  Mentions,
  MentionsDraft,
  PollDraft,
  ReactionSummary,
  Message as StoredMessage,
} from '@parley/contract/types.gen';
import type { SvcError } from '../errors.ts';

/** JSON of the developer's own. */
export type Metadata = Record<string, unknown>;

export type { Mentions, MentionsDraft, ReactionSummary };

/** A message as the server stores it. */
export type MessageRecord = StoredMessage;

/** `queued`: waits for a connection; `failed`: refused, see `error`, and kept until `retry` or `discard`. */
export type Delivery = 'queued' | 'sending' | 'sent' | 'failed';

/** A message as an application sees it: stored, or on its way. */
export interface Message extends Omit<MessageRecord, 'id' | 'publicId' | 'seq' | 'change'> {
  /** Null until the server has stored it. */
  readonly id: string | null;
  readonly seq: number | null;
  readonly change: number | null;
  readonly delivery: Delivery;
  /** Why the last send or edit failed. */
  readonly error: SvcError | null;
}

export interface NewMessage {
  text?: string;
  /** Default `text`; `attachment` when there is only an attachment. */
  type?: 'text' | 'attachment' | 'custom';
  replyTo?: string;
  attachmentId?: string;
  /** In the place of `attachmentId`: up to ten. */
  attachmentIds?: string[];
  metadata?: Metadata;
  /** Whom it mentions; `here` and `all` need a moderator. */
  mentions?: MentionsDraft;
  /** In the place of text and files: what it asks, or which message it passes on. */
  poll?: PollDraft;
  forward?: ForwardDraft;
  /** Made by the SDK when left out; a second send with the same one gives the first message. */
  clientMessageId?: string;
}

export interface MessagePatch {
  text?: string;
  metadata?: Metadata;
  /** In place of those it has; null for nobody. */
  mentions?: Mentions | null;
}

export type { Page, PageOptions } from '../http.ts';

export type PresenceStatus = 'ONLINE' | 'AWAY' | 'OFFLINE';

/** A user who is in a conversation now. */
/** A conversation as the server stores it, with the user's own place in it. */
export type {
  ChatUser,
  Conversation as ConversationRecord,
  ConversationMember,
  Presence as Present,
  ReadReceipt,
  ReadState,
} from '@parley/contract/types.gen';

/** A visible change of a conversation, numbered by `change`: a live frame, or the same out of a recovery. */
export type Change = ChatChange;

/** What the server says of a conversation this client subscribed to. */
export type Subscription = Extract<SubscribeItem, { conversationId: string }>;
export type SubscribeItem = ReplyTo<ChatClientFrames['subscribe']>['conversations'][number];
