import { type Static, Type } from 'typebox';
import { Identity, Nullable, PageQuery, Timestamp } from '../schema.ts';
import { EditMessage, SendMessage } from './schemas.ts';

/** Waits, is being sent, was sent, was refused when its time came. */
export const ScheduledStatus = Type.Enum(['PENDING', 'SENDING', 'SENT', 'FAILED']);
export type ScheduledStatus = Static<typeof ScheduledStatus>;

const { clientSentAt: _clientSentAt, ...draft } = SendMessage.properties;

export const ScheduleMessage = Type.Object({ ...draft, sendAt: Timestamp });
export type ScheduleMessage = Static<typeof ScheduleMessage>;

export const ChangeScheduled = Type.Object({ ...EditMessage.properties, sendAt: Type.Optional(Timestamp) });
export type ChangeScheduled = Static<typeof ChangeScheduled>;

export const ScheduledQuery = Type.Object({
  ...PageQuery,
  userId: Type.Optional(Identity),
});
export type ScheduledQuery = Static<typeof ScheduledQuery>;

export const ScheduledMessage = Type.Object({
  id: Type.String(),
  conversationId: Type.String(),
  /** The id that the message has, once it is sent. */
  messageId: Type.String(),
  /** Whose it is; null for a server's. */
  userId: Nullable(Type.String()),
  /** What is sent, as it was given; empty once it was. */
  draft: Type.Record(Type.String(), Type.Unknown()),
  sendAt: Timestamp,
  status: ScheduledStatus,
  /** Why it was not sent: the code of the error. */
  failure: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type ScheduledMessage = Static<typeof ScheduledMessage>;
