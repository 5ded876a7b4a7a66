import { type Static, Type } from 'typebox';
import type { Permission } from '../permissions.ts';

/** What a dashboard is told of: that something of this kind changed, and nothing of it. Each needs what reading it needs. */
export const changeKinds = {
  project: 'project:read',
  members: 'member:read',
  keys: 'api_key:read',
  rooms: 'room:read',
  streams: 'live_stream:read',
  chat: 'chat:read',
  connections: 'observability:read',
  errors: 'observability:read',
  requests: 'observability:read',
  /** Rates that are counted, not listed: messages, deliveries. */
  activity: 'observability:read',
  alerts: 'observability:read',
  webhooks: 'webhook:read',
  audit: 'audit:read',
  /** Media nodes are the instance's: every signed-in person may read them. */
  nodes: 'server:read',
} as const satisfies Readonly<Record<string, Permission>>;

export type ChangeKind = keyof typeof changeKinds;
export const changeKindNames = Object.keys(changeKinds) as ChangeKind[];

/** The `data` of one `change` of the stream. */
export const ChangeNotice = Type.Object({ kinds: Type.Array(Type.Enum(changeKindNames)) });
export type ChangeNotice = Static<typeof ChangeNotice>;
