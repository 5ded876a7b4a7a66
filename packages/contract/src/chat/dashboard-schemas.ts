import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../schema.ts';
import { Sanction } from './moderation-schemas.ts';
import { Conversation } from './schemas.ts';

const Count = Type.Integer({ minimum: 0 });

/** How many polls, and how many scheduled messages, of a conversation are counted at most. */
export const countedMax = 1_000;

/** A conversation with what is pinned, asked and planned in it, in numbers. */
export const ConversationOverview = Type.Object({
  ...Conversation.properties,
  pins: Type.Object({ count: Count, max: Count }),
  /** The newest 1,000; `isCapped` says that there are as many, and maybe others. */
  polls: Type.Object({
    open: Count,
    closed: Count,
    /** People who voted, of each poll. */
    voters: Count,
    isCapped: Type.Boolean(),
  }),
  /** The first 1,000 by their time; `isCapped` says that there are as many, and maybe others. */
  scheduled: Type.Object({ waiting: Count, failed: Count, nextAt: Nullable(Timestamp), isCapped: Type.Boolean() }),
});
export type ConversationOverview = Static<typeof ConversationOverview>;

/** A user without what is said of them: which fields of the record are filled, and when there was a chat session. */
export const ChatUserMetadata = Type.Object({
  userId: Type.String(),
  /** Nobody needs one to chat; without it the fields are empty. */
  hasRecord: Type.Boolean(),
  hasName: Type.Boolean(),
  hasAvatar: Type.Boolean(),
  /** A word of the product's own; no right follows from it. */
  role: Nullable(Type.String()),
  metadataBytes: Count,
  createdAt: Nullable(Timestamp),
  updatedAt: Nullable(Timestamp),
  /** A chat session of theirs is open. */
  isConnected: Type.Boolean(),
  /** The end of their latest chat session; null while one is open, and where none is kept any more. */
  lastSeenAt: Nullable(Timestamp),
});
export type ChatUserMetadata = Static<typeof ChatUserMetadata>;

export const ChatUserOverview = Type.Object({
  ...ChatUserMetadata.properties,
  /** What holds for them in all chat. */
  sanctions: Type.Array(Sanction),
});
export type ChatUserOverview = Static<typeof ChatUserOverview>;
