import { type ChangeKind, type RouteRow, splitAt } from '@parley/contract';
import type { Caller } from '../core/caller.ts';
import type { Changes } from '../core/changes.ts';

/** What a write changes, by the first word of its path, inside a project or behind an API key. */
const kinds: Readonly<Record<string, ChangeKind>> = {
  rooms: 'rooms',
  'live-streams': 'streams',
  chat: 'chat',
  users: 'chat',
  webhooks: 'webhooks',
  alerts: 'alerts',
  'api-keys': 'keys',
  'signing-keys': 'keys',
  members: 'members',
  rtc: 'nodes',
};

/** Of these a project has one list for both environments. */
const ofBoth: readonly ChangeKind[] = ['project', 'members', 'keys', 'webhooks'];

/** What a successful call of this row changes for those who look; null: nothing that a dashboard of a project shows. */
export function writtenBy(row: RouteRow): ChangeKind | null {
  const { method, path } = splitAt(row);
  if (method === 'GET' || path.startsWith('/v1/auth/') || path.startsWith('/v1/telemetry/')) return null;
  const [, word = ''] = /^\/v1\/(?:projects\/\{projectId\}\/?)?([a-z-]*)/.exec(path) ?? [];
  return kinds[word] ?? 'project';
}

/** Tells open dashboards of a write. */
export function noteWritten(changes: Changes, kind: ChangeKind, caller: Caller): void {
  if (kind === 'nodes') changes.note(kind, null);
  else if ('projectId' in caller)
    changes.note(kind, {
      projectId: caller.projectId,
      environment: ofBoth.includes(kind) ? null : caller.environment,
    });
}
