import { type Static, Type } from 'typebox';
import { Identity, Line, Metadata, Nullable, PageQuery, Timestamp } from '../schema.ts';

export const SetDraft = Type.Object({
  text: Type.String({ minLength: 1 }),
  replyTo: Type.Optional(Line(0, 64)),
  metadata: Type.Optional(Nullable(Metadata)),
});
export type SetDraft = Static<typeof SetDraft>;

export const DraftsQuery = Type.Object({ ...PageQuery, userId: Type.Optional(Identity) });
export type DraftsQuery = Static<typeof DraftsQuery>;

/** What a user has begun to write in a conversation. */
export const MessageDraft = Type.Object({
  conversationId: Type.String(),
  userId: Type.String(),
  text: Type.String(),
  replyTo: Nullable(Type.String()),
  metadata: Metadata,
  /** Grows with every write of this draft: the larger one is the later. */
  revision: Type.Integer({ minimum: 1 }),
  updatedAt: Timestamp,
});
export type MessageDraft = Static<typeof MessageDraft>;
