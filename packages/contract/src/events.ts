import { type TSchema, Type } from 'typebox';

/** A fact that is recorded with the change that made it true. */
export interface EventRow {
  /** Version that introduced it; listed by GET /v1/webhook-event-types. */
  since: string;
  /** One of the 15 of the specification. */
  isCore?: true;
  when: string;
  /** What webhooks carry. */
  data: TSchema;
  /** Recorded beside it for the sockets alone, which build their frames from the same fact. */
  forSockets?: TSchema;
}

export type EventTable = Readonly<Record<string, EventRow>>;

/** Keeps the literal keys of a table. */
export const eventRows = <const T extends EventTable>(rows: T): T => rows;

/** The body of every webhook delivery. */
export const EventEnvelope = Type.Object({
  id: Type.String(),
  type: Type.String(),
  projectId: Type.String(),
  environment: Type.String(),
  createdAt: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
});
