import type { ChangeKind, EventType } from '@parley/contract';

/** What a dashboard shows of an event: its kind, by the first word of the type. */
const kinds: Readonly<Record<string, ChangeKind>> = {
  live_stream: 'streams',
  webhook: 'webhooks',
  audit: 'audit',
  alert: 'alerts',
};

export const kindOfEvent = (type: EventType): ChangeKind => kinds[type.split('.', 1)[0] ?? ''] ?? 'chat';
