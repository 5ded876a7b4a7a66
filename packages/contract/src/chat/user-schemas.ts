import { type Static, Type } from 'typebox';
import { Identity, Line, Metadata, Nullable, PageQuery, Timestamp } from '../schema.ts';

/** How many users one call writes or reads. */
export const chatUsersMax = 100;

const fields = {
  name: Type.Optional(Nullable(Line(1, 200))),
  /** An http or https address. */
  avatarUrl: Type.Optional(Nullable(Type.String({ maxLength: 2048, pattern: '^https?://[^\\s\\u0000-\\u001f"<>]+$' }))),
  /** A word of the product's own; no right follows from it. */
  role: Type.Optional(Nullable(Line(1, 64))),
  metadata: Type.Optional(Nullable(Metadata)),
};

export const ChatUserFields = Type.Object(fields);
export type ChatUserFields = Static<typeof ChatUserFields>;

export const PutChatUsers = Type.Object({
  users: Type.Array(Type.Object({ userId: Identity, ...fields }), { minItems: 1, maxItems: chatUsersMax }),
});
export type PutChatUsers = Static<typeof PutChatUsers>;

/** Up to 100 ids, with commas between them. */
export const ChatUsersQuery = Type.Object({
  ...PageQuery,
  ids: Type.Optional(Type.String({ minLength: 1, maxLength: chatUsersMax * 129 })),
});
export type ChatUsersQuery = Static<typeof ChatUsersQuery>;

/** What a project says of a user. Of one it says nothing about there is the id alone. */
export const ChatUser = Type.Object({
  userId: Type.String(),
  name: Nullable(Type.String()),
  avatarUrl: Nullable(Type.String()),
  role: Nullable(Type.String()),
  metadata: Metadata,
  createdAt: Nullable(Timestamp),
  updatedAt: Nullable(Timestamp),
});
export type ChatUser = Static<typeof ChatUser>;
