import type { Static, TSchema } from 'typebox';
import { alertEvents } from './alerts/events.ts';
import { auditEvents } from './audit/events.ts';
import { chatEvents } from './chat/events.ts';
import { chatFileEvents } from './chat/file-events.ts';
import { chatModerationEvents } from './chat/moderation-events.ts';
import { dataEvents } from './data/events.ts';
import type { EventRow } from './events.ts';
import { liveStreamEvents } from './live-streams/events.ts';
import type { Permission } from './permissions.ts';
import { webhookEvents } from './webhooks/events.ts';

/** Every fact that is recorded and may become a webhook; the specification's come first. */
export const allEvents = {
  ...liveStreamEvents,
  ...chatEvents,
  ...chatModerationEvents,
  ...chatFileEvents,
  ...webhookEvents,
  ...auditEvents,
  ...alertEvents,
  ...dataEvents,
} as const;

export type EventType = keyof typeof allEvents;
/** What webhooks carry. */
export type EventData<T extends EventType> = Static<(typeof allEvents)[T]['data']>;
/** What is recorded: that, and what only sockets carry. */
export type RecordedData<T extends EventType> = EventData<T> &
  ((typeof allEvents)[T] extends { forSockets: infer S extends TSchema } ? Static<S> : unknown);
/** Names that webhooks never carry at the top of `data`. */
export const socketFields: readonly string[] = [
  ...new Set(
    Object.values<EventRow>(allEvents).flatMap(({ forSockets }) =>
      Object.keys((forSockets as { properties?: object } | undefined)?.properties ?? {}),
    ),
  ),
];
export const eventTypes = Object.keys(allEvents) as EventType[];
/** What naming a type needs; undefined for those that everybody with an endpoint gets. */
export const permissionFor = (type: string): Permission | undefined =>
  Object.hasOwn(allEvents, type) ? (allEvents as Readonly<Record<string, EventRow>>)[type]?.onRequest : undefined;
/** Types that an endpoint without a filter does not get. */
export const onRequestTypes: readonly EventType[] = eventTypes.filter((type) => permissionFor(type) !== undefined);
