import type { Static } from 'typebox';
import { chatEvents } from './chat/events.ts';
import { liveStreamEvents } from './live-streams/events.ts';
import { webhookEvents } from './webhooks/events.ts';

/** Every fact that is recorded and may become a webhook; the specification's come first. */
export const allEvents = {
  ...liveStreamEvents,
  ...chatEvents,
  ...webhookEvents,
} as const;

export type EventType = keyof typeof allEvents;
export type EventData<T extends EventType> = Static<(typeof allEvents)[T]['data']>;
export const eventTypes = Object.keys(allEvents) as EventType[];
