import { type Static, Type } from 'typebox';
import { Identity } from '../schema.ts';

/** How many users one message may name. */
export const mentionedUsersMax = 50;

/** Whom a message is to mention. `here`: those present now; `all`: everybody in the conversation. */
export const MentionsDraft = Type.Object({
  users: Type.Optional(Type.Array(Identity, { maxItems: mentionedUsersMax })),
  here: Type.Optional(Type.Boolean()),
  all: Type.Optional(Type.Boolean()),
});
export type MentionsDraft = Static<typeof MentionsDraft>;

/** Whom a message mentions. */
export const Mentions = Type.Object({
  users: Type.Array(Type.String()),
  here: Type.Boolean(),
  all: Type.Boolean(),
});
export type Mentions = Static<typeof Mentions>;
