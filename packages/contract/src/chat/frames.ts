import { Type } from 'typebox';
import { type ClientFrame, clientFrames, type ServerFrame, serverFrames } from '../frame.ts';
import { Line, Metadata, Nullable, Timestamp } from '../schema.ts';
import { MessageDraft } from './draft-schemas.ts';
import { PresenceStatus } from './enums.ts';
import { inboxClientFrames, inboxServerFrames } from './inbox-frames.ts';
import { Poll, pollOptionsMax } from './poll-schemas.ts';
import {
  Change as AnyChange,
  ChangePage,
  Conversation,
  ConversationMember,
  EditMessage,
  HistoryQuery,
  Message,
  MessagePage,
  ReactionSummary,
  ReadState,
  SendMessage,
} from './schemas.ts';
import { ChatUser } from './user-schemas.ts';

const Ref = Line(1, 128);
const Id = Line(1, 64);
const Token = Type.String({ minLength: 1, maxLength: 16_384 });
const Emoji = Type.String({ minLength: 1, maxLength: 64 });
// Larger numbers are not exact in JSON, and the database does not count that far.
const Change = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const { type: _type, senderId: _senderId, ...sendFields } = SendMessage.properties;
const { includeDeleted: _includeDeleted, senderId: _sender, ...historyFields } = HistoryQuery.properties;

/** A token that was accepted. */
const Renewed = Type.Object({ expiresAt: Timestamp });
const Stored = Type.Object({ message: Message });
const Reactions = Type.Object({ reactions: Type.Array(ReactionSummary) });

const Subscribed = Type.Object({
  ref: Ref,
  conversationId: Type.String(),
  /** The last change there is. */
  change: Change,
  /** With another epoch than before the numbers start anew. */
  epoch: Type.String(),
  latestCursor: Type.String(),
  /** What was missed follows in `recovered` frames. */
  recovered: Type.Boolean(),
  unreadCount: Type.Integer(),
});
const NotSubscribed = Type.Object({ ref: Ref, code: Type.String(), svcCode: Type.String() });

const conversationId = Type.String();
const ts = Type.Integer();
const base = { ts };
const numbered = { conversationId, change: Change, ...base };
const reaction = {
  ...numbered,
  messageId: Type.String(),
  userId: Type.String(),
  emoji: Type.String(),
  count: Type.Integer(),
};

const pinned = { ...numbered, messageId: Type.String(), userId: Type.String(), at: Timestamp };

/** Frames that carry a visible change of a conversation, with its number. */
const changeFrames = serverFrames({
  message: { when: 'A new message.', data: Type.Object({ ...numbered, message: Message }) },
  'message.updated': {
    when: 'A message was edited, or its poll has other votes or was closed.',
    data: Type.Object({ ...numbered, message: Message }),
  },
  'message.deleted': {
    when: 'A message was deleted; the record is its tombstone.',
    data: Type.Object({ ...numbered, message: Message }),
  },
  'message.pinned': { when: 'A message was pinned.', data: Type.Object(pinned) },
  'message.unpinned': {
    when: 'A pin was taken away; a message that is deleted loses its pin without this.',
    data: Type.Object(pinned),
  },
  'reaction.added': { when: 'Somebody reacted.', data: Type.Object(reaction) },
  'reaction.removed': { when: 'A reaction was taken back.', data: Type.Object(reaction) },
  'member.added': { when: 'A member joined.', data: Type.Object({ ...numbered, member: ConversationMember }) },
  'member.removed': { when: 'A member left.', data: Type.Object({ ...numbered, member: ConversationMember }) },
  'member.updated': { when: 'A member changed.', data: Type.Object({ ...numbered, member: ConversationMember }) },
  'conversation.updated': {
    when: 'The conversation changed.',
    data: Type.Object({ ...numbered, conversation: Conversation }),
  },
});

type Unaddressed<F> = F extends unknown ? Omit<F, 'conversationId' | 'ts'> : never;
/** A change as pages and `recovered` frames have it: its live frame, without what is the same for all of the page. */
export type ChatChange = Unaddressed<ServerFrame<typeof changeFrames>>;
const Changes = Type.Array(Type.Unsafe<ChatChange>(AnyChange));

/** What a chat client may send beside `commonClientFrames`. The same rules hold as on the REST routes. */
export const chatClientFrames = clientFrames({
  auth: {
    data: Type.Object({ token: Token }),
    budget: 'CHAT_TOKEN_RATE_LIMIT',
    replies: Renewed,
    does: 'Authenticates a connection whose upgrade carried no token.',
  },
  subscribe: {
    data: Type.Object({
      conversations: Type.Array(
        Type.Object({
          ref: Ref,
          since: Type.Optional(Change),
          epoch: Type.Optional(Type.String({ maxLength: 64 })),
          presence: Type.Optional(Type.Boolean()),
        }),
        { minItems: 1, maxItems: 100 },
      ),
    }),
    budget: 'CHAT_SUBSCRIBE_RATE_LIMIT',
    replies: Type.Object({ conversations: Type.Array(Type.Union([Subscribed, NotSubscribed])) }),
    does: 'Subscribes to conversations; `since` is the last change the client has, and what it missed is sent first.',
  },
  unsubscribe: {
    data: Type.Object({ conversations: Type.Array(Ref, { minItems: 1, maxItems: 100 }) }),
    budget: 'CHAT_UNSUBSCRIBE_RATE_LIMIT',
    does: 'Ends subscriptions.',
  },
  'message.send': {
    data: Type.Object({ conversation: Ref, ...sendFields, msgType: Type.Optional(SendMessage.properties.type) }),
    budget: 'CHAT_SEND_RATE_LIMIT',
    replies: Stored,
    does: 'Sends a message; the ack carries the stored record.',
  },
  'message.edit': {
    data: Type.Object({ messageId: Id, ...EditMessage.properties }),
    budget: 'CHAT_EDIT_RATE_LIMIT',
    replies: Stored,
    does: 'Edits a message.',
  },
  'message.delete': {
    data: Type.Object({ messageId: Id }),
    budget: 'CHAT_DELETE_RATE_LIMIT',
    replies: Type.Object({ messageId: Type.String(), deletedAt: Nullable(Timestamp) }),
    does: 'Soft-deletes a message.',
  },
  'reaction.add': {
    data: Type.Object({ messageId: Id, emoji: Emoji }),
    budget: 'CHAT_REACT_RATE_LIMIT',
    replies: Reactions,
    does: 'Reacts to a message.',
  },
  'reaction.remove': {
    data: Type.Object({ messageId: Id, emoji: Emoji }),
    budget: 'CHAT_REACT_RATE_LIMIT',
    replies: Reactions,
    does: 'Takes a reaction back.',
  },
  'poll.vote': {
    data: Type.Object({
      messageId: Id,
      optionIds: Type.Array(Type.Integer({ minimum: 1, maximum: pollOptionsMax }), { maxItems: pollOptionsMax }),
    }),
    budget: 'CHAT_REACT_RATE_LIMIT',
    replies: Type.Object({ poll: Poll }),
    does: 'Votes in a poll, in the place of an earlier vote; without options the vote is taken back.',
  },
  read: {
    data: Type.Object({ messageId: Id }),
    budget: 'CHAT_READ_RATE_LIMIT',
    replies: ReadState,
    does: 'Marks this message and all earlier ones as read.',
  },
  typing: {
    data: Type.Object({ conversation: Ref, typing: Type.Boolean() }),
    budget: 'CHAT_TYPE_RATE_LIMIT',
    does: 'Says that the user types, or stopped. Repeat every 3-5 s while typing.',
  },
  presence: {
    data: Type.Object({ status: Type.Enum(['ONLINE', 'AWAY']), data: Type.Optional(Nullable(Metadata)) }),
    budget: 'CHAT_PRESENCE_RATE_LIMIT',
    does: 'Sets the status shown in every subscribed conversation.',
  },
  history: {
    data: Type.Object({ conversation: Ref, ...historyFields }),
    budget: 'CHAT_HISTORY_RATE_LIMIT',
    replies: MessagePage,
    does: 'Reads history, as over REST.',
  },
  changes: {
    data: Type.Object({
      conversation: Ref,
      since: Type.Union([Change, Type.String({ maxLength: 256 })]),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    budget: 'CHAT_HISTORY_RATE_LIMIT',
    replies: Type.Object({ ...ChangePage.properties, changes: Changes }),
    does: 'Reads the changes after a cursor or a change number.',
  },
  'token.refresh': {
    data: Type.Object({ token: Token }),
    budget: 'CHAT_TOKEN_RATE_LIMIT',
    replies: Renewed,
    does: 'Goes on with a fresh token of the same user and project.',
  },
  ...inboxClientFrames,
});

/** What the chat socket says. Clients ignore types they do not know. */
export const chatServerFrames = serverFrames({
  hello: {
    when: 'The connection is authenticated.',
    data: Type.Object({
      ...base,
      connectionId: Type.String(),
      userId: Type.String(),
      projectId: Type.String(),
      environment: Type.String(),
      scopes: Type.Array(Type.String()),
      serverTime: Type.Integer(),
      heartbeatIntervalMs: Type.Integer(),
      heartbeatTimeoutMs: Type.Integer(),
      presenceTtlSeconds: Type.Integer(),
      typingTtlSeconds: Type.Integer(),
      maxFrameBytes: Type.Integer(),
      maxSubscriptions: Type.Integer(),
      tokenExpiresAt: Timestamp,
      protocol: Type.Literal(1),
    }),
  },
  ack: {
    when: 'A frame with an id was done.',
    data: Type.Object({ ...base, ref: Type.String(), data: Type.Optional(Type.Unknown()) }),
  },
  error: {
    when: 'A frame could not be done, or the connection is about to end.',
    data: Type.Object({
      ...base,
      ref: Type.Optional(Type.String()),
      code: Type.String(),
      svcCode: Type.String(),
      message: Type.String(),
      retryable: Type.Boolean(),
      retryAfterSeconds: Type.Optional(Type.Integer()),
      fatal: Type.Optional(Type.Boolean()),
    }),
  },
  'draft.updated': {
    when: "A draft of the connection's own user changed on any device; null when it was removed.",
    data: Type.Object({ ...base, conversationId, userId: Type.String(), draft: Nullable(MessageDraft) }),
  },
  'block.updated': {
    when: "The connection's own user blocked somebody on any device, or lifted it.",
    data: Type.Object({ ...base, userId: Type.String(), blockedId: Type.String(), blocked: Type.Boolean() }),
  },
  unsubscribed: {
    when: 'A subscription ended without being asked for.',
    data: Type.Object({ ...base, conversationId, reason: Type.Enum(['REMOVED', 'DELETED']) }),
  },
  ...changeFrames,
  typing: {
    when: 'Somebody types, or stopped.',
    data: Type.Object({
      ...base,
      conversationId,
      userId: Type.String(),
      typing: Type.Boolean(),
      expiresAt: Nullable(Timestamp),
    }),
  },
  read: {
    when: "A member's read position moved.",
    data: Type.Object({
      ...base,
      conversationId,
      userId: Type.String(),
      messageId: Type.String(),
      seq: Type.Integer(),
      at: Timestamp,
    }),
  },
  presence: {
    when: 'Somebody came, changed status or left.',
    data: Type.Object({
      ...base,
      conversationId,
      userId: Type.String(),
      status: PresenceStatus,
      event: Type.Enum(['enter', 'update', 'leave']),
      data: Type.Optional(Nullable(Metadata)),
    }),
  },
  'user.updated': {
    when: 'What is said of a user in a subscribed conversation changed; not recovered after a reconnect.',
    data: Type.Object({ ...base, user: ChatUser }),
  },
  recovered: {
    when: 'What was missed since the last change the client had; may come in several frames.',
    data: Type.Object({
      ...base,
      conversationId,
      from: Change,
      to: Change,
      changes: Changes,
      complete: Type.Boolean(),
    }),
  },
  ...inboxServerFrames,
  'token.expiring': {
    when: 'The token ends within a minute.',
    data: Type.Object({ ...base, expiresAt: Timestamp }),
  },
  reconnect: {
    when: 'This process stops: reconnect after `afterMs`.',
    data: Type.Object({ ...base, reason: Type.Enum(['DRAINING', 'REBALANCE']), afterMs: Type.Integer() }),
  },
  pong: {
    when: 'The answer to a ping.',
    data: Type.Object({ ...base, t: Type.Unknown(), serverTime: Type.Integer() }),
  },
});

export type ChatClientFrames = typeof chatClientFrames;
export type ChatClientFrame = ClientFrame<ChatClientFrames>;
export type ChatServerFrames = typeof chatServerFrames;
export type ChatServerFrame = ServerFrame<ChatServerFrames>;
