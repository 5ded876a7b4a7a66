import { type Static, Type } from 'typebox';
import { Line, Nullable, Timestamp } from '../schema.ts';

/** Which message a new one passes on: its text and files are taken from there. */
export const ForwardDraft = Type.Object({ messageId: Line(1, 64) });
export type ForwardDraft = Static<typeof ForwardDraft>;

/** Where it was first said. Not in which conversation: who may read the message finds it by its id (ADR 0208). */
export const ForwardedFrom = Type.Object({
  messageId: Type.String(),
  senderId: Nullable(Type.String()),
  createdAt: Timestamp,
});
export type ForwardedFrom = Static<typeof ForwardedFrom>;
