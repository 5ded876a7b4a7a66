import type { TSchema } from 'typebox';
import type { Permission } from './permissions.ts';

/** A fact that is recorded with the change that made it true. */
export interface EventRow {
  /** Version that introduced it; listed by GET /v1/webhook-event-types. */
  since: string;
  /** One of the 15 of the specification. */
  isCore?: true;
  when: string;
  /** Only an endpoint that names it gets it, and naming it needs this permission: `all` does not include it. */
  onRequest?: Permission;
  /** What webhooks carry. */
  data: TSchema;
  /** Recorded beside it for the sockets alone, which build their frames from the same fact. */
  forSockets?: TSchema;
}

export type EventTable = Readonly<Record<string, EventRow>>;

/** Keeps the literal keys of a table. */
export const eventRows = <const T extends EventTable>(rows: T): T => rows;
