import { type Static, Type } from 'typebox';
import { Timestamp } from '../schema.ts';
import { Message } from './schemas.ts';

/** How many messages a conversation has pinned at most. */
export const pinsMax = 50;

export const Pin = Type.Object({
  conversationId: Type.String(),
  messageId: Type.String(),
  /** The user, or `server`. */
  pinnedBy: Type.String(),
  pinnedAt: Timestamp,
  message: Message,
});
export type Pin = Static<typeof Pin>;
