import { type Static, Type } from 'typebox';
import { Identity, PageQuery, Timestamp } from '../schema.ts';

/** One user wants nothing of another. */
export const ChatBlock = Type.Object({
  userId: Type.String(),
  /** Whom they have blocked. */
  blockedId: Type.String(),
  createdAt: Timestamp,
});
export type ChatBlock = Static<typeof ChatBlock>;

export const BlocksQuery = Type.Object({ ...PageQuery, userId: Type.Optional(Identity) });
export type BlocksQuery = Static<typeof BlocksQuery>;
