import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { PlainKey } from '../i18n/catalogue.ts';

type LazyPage = LazyExoticComponent<ComponentType>;

interface PageRow {
  /** Path under the project, and the page's key in the navigation. */
  path: string;
  label: PlainKey;
  group: 'top' | 'build' | 'observe' | 'integrate' | 'administer';
  /** The letter after `g`. */
  letter: string;
  /** Drawn beside the label, on the grid of the other icons. */
  icon: string;
  component: LazyPage;
  /** The page of one row of it. */
  detail?: { path: `:${string}`; component: LazyPage };
}

/** Every page of a project. Navigation, routes, shortcuts and the command palette derive from the row. */
export const pages: readonly PageRow[] = [
  {
    path: 'overview',
    label: 'page.overview',
    group: 'top',
    letter: 'o',
    icon: 'M2.5 2.5h4.5v5H2.5zM9 2.5h4.5v3H9zM9 8.5h4.5v5H9zM2.5 10.5H7v3H2.5z',
    component: lazy(() => import('../projects/overview-page.tsx')),
  },
  {
    path: 'rooms',
    label: 'page.rooms',
    group: 'build',
    letter: 'r',
    icon: 'M2 5a1.5 1.5 0 0 1 1.5-1.5h5A1.5 1.5 0 0 1 10 5v6a1.5 1.5 0 0 1-1.5 1.5h-5A1.5 1.5 0 0 1 2 11zM10 7l4-2.3v6.6L10 9',
    component: lazy(() => import('../rooms/rooms-page.tsx')),
    detail: { path: ':roomId', component: lazy(() => import('../rooms/room-page.tsx')) },
  },
  {
    path: 'chat',
    label: 'page.chat',
    group: 'build',
    letter: 'h',
    icon: 'M2.5 4A1.5 1.5 0 0 1 4 2.5h8A1.5 1.5 0 0 1 13.5 4v5a1.5 1.5 0 0 1-1.5 1.5H7l-3 3v-3A1.5 1.5 0 0 1 2.5 9zM5.5 5.5h5M5.5 7.8h3',
    component: lazy(() => import('../chat/chat-page.tsx')),
    detail: { path: ':conversationId', component: lazy(() => import('../chat/conversation-page.tsx')) },
  },
  {
    path: 'users',
    label: 'page.users',
    group: 'build',
    letter: 'n',
    icon: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3 13.5c.5-2.6 2.4-4 5-4s4.5 1.4 5 4',
    component: lazy(() => import('../users/users-page.tsx')),
    detail: { path: ':userId', component: lazy(() => import('../users/user-page.tsx')) },
  },
  {
    path: 'moderation',
    label: 'page.moderation',
    group: 'build',
    letter: 'b',
    icon: 'M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM6 8l1.5 1.5L10.5 6.5',
    component: lazy(() => import('../moderation/moderation-page.tsx')),
  },
  {
    path: 'push',
    label: 'page.push',
    group: 'build',
    letter: 'p',
    icon: 'M5 2h6v12H5zM7.5 11.8h1M2.5 6v4M13.5 6v4',
    component: lazy(() => import('../push/push-page.tsx')),
  },
  {
    path: 'live-streams',
    label: 'page.live-streams',
    group: 'build',
    letter: 'l',
    icon: 'M8 8h.01M5.5 10.5a3.5 3.5 0 0 1 0-5M10.5 5.5a3.5 3.5 0 0 1 0 5M3.5 12.5a6.3 6.3 0 0 1 0-9M12.5 3.5a6.3 6.3 0 0 1 0 9',
    component: lazy(() => import('../live-streams/streams-page.tsx')),
    detail: { path: ':streamId', component: lazy(() => import('../live-streams/stream-page.tsx')) },
  },
  {
    path: 'calls',
    label: 'page.calls',
    group: 'observe',
    letter: 'i',
    icon: 'M2.5 4h11M2.5 8h7M2.5 12h9M11.5 8h.01M13.5 12h.01',
    component: lazy(() => import('../calls/calls-page.tsx')),
    detail: { path: ':callId', component: lazy(() => import('../calls/call-page.tsx')) },
  },
  {
    path: 'connections',
    label: 'page.connections',
    group: 'observe',
    letter: 'c',
    icon: 'M1.8 8.5h2.7l2-5 3 9 2-4h2.7',
    component: lazy(() => import('../observability/connections-page.tsx')),
    detail: { path: ':connectionId', component: lazy(() => import('../observability/connection-page.tsx')) },
  },
  {
    path: 'requests',
    label: 'page.requests',
    group: 'observe',
    letter: 'q',
    icon: 'M2.5 4.5h8M8 2l2.5 2.5L8 7M13.5 11.5h-8M8 9l-2.5 2.5L8 14',
    component: lazy(() => import('../requests/requests-page.tsx')),
    detail: { path: ':requestId', component: lazy(() => import('../requests/request-page.tsx')) },
  },
  {
    path: 'errors',
    label: 'page.errors',
    group: 'observe',
    letter: 'e',
    icon: 'M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01',
    component: lazy(() => import('../observability/errors-page.tsx')),
    detail: { path: ':errorId', component: lazy(() => import('../observability/error-page.tsx')) },
  },
  {
    path: 'metrics',
    label: 'page.metrics',
    group: 'observe',
    letter: 'x',
    icon: 'M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6',
    component: lazy(() => import('../observability/metrics-page.tsx')),
  },
  {
    path: 'alerts',
    label: 'page.alerts',
    group: 'observe',
    letter: 't',
    icon: 'M4 11V7a4 4 0 0 1 8 0v4l1.5 1.5h-11zM6.7 14.2h2.6M8 3V1.8',
    component: lazy(() => import('../alerts/alerts-page.tsx')),
    detail: { path: ':alertId', component: lazy(() => import('../alerts/alert-page.tsx')) },
  },
  {
    path: 'usage',
    label: 'page.usage',
    group: 'observe',
    letter: 'u',
    icon: 'M2.5 11a5.7 5.7 0 1 1 11 0M8 10.5l2.5-4',
    component: lazy(() => import('../usage/usage-page.tsx')),
  },
  {
    path: 'api-keys',
    label: 'page.api-keys',
    group: 'integrate',
    letter: 'k',
    icon: 'M10.5 2.5a3 3 0 1 1-2.6 4.5L3 12v1.5h2v-1.5h1.5v-1.5L8 9M10.8 5.3h.01',
    component: lazy(() => import('../projects/api-keys-page.tsx')),
  },
  {
    path: 'webhooks',
    label: 'page.webhooks',
    group: 'integrate',
    letter: 'w',
    icon: 'M6 6.5 8 3.5a2 2 0 1 1 2.3 3M9.5 9h2.8a2 2 0 1 1-2 3M6.5 12.5H4.3a2 2 0 1 1 .7-3.8',
    component: lazy(() => import('../webhooks/webhooks-page.tsx')),
    detail: { path: ':webhookId', component: lazy(() => import('../webhooks/webhook-page.tsx')) },
  },
  {
    path: 'members',
    label: 'page.members',
    group: 'administer',
    letter: 'm',
    icon: 'M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M2 13c.4-2.3 2-3.5 4-3.5s3.6 1.2 4 3.5M10.5 3.3a2.2 2.2 0 0 1 0 4M11.8 9.7c1.2.5 2 1.6 2.2 3.3',
    component: lazy(() => import('../projects/members-page.tsx')),
  },
  {
    path: 'audit-log',
    label: 'page.audit-log',
    group: 'administer',
    letter: 'a',
    icon: 'M4 2.5h6l2.5 2.5v8.5H4zM6 7h4.5M6 9.2h4.5M6 11.4h2.5',
    component: lazy(() => import('../audit/audit-page.tsx')),
  },
  {
    path: 'data-jobs',
    label: 'page.data-jobs',
    group: 'administer',
    letter: 'd',
    icon: 'M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0',
    component: lazy(() => import('../data-jobs/data-jobs-page.tsx')),
  },
  {
    path: 'fleet',
    label: 'page.fleet',
    group: 'administer',
    letter: 'f',
    icon: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
    component: lazy(() => import('../fleet/fleet-page.tsx')),
    detail: { path: ':name', component: lazy(() => import('../fleet/server-page.tsx')) },
  },
  {
    path: 'settings',
    label: 'page.settings',
    group: 'administer',
    letter: 's',
    icon: 'M2.5 5h5M11 5h2.5M2.5 11h2.5M8.5 11h5M9.2 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4M6.7 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4',
    component: lazy(() => import('../projects/settings-page.tsx')),
  },
];

/** An application of its own, beside a development server only. */
export const playgroundIcon = 'M5 3.2v9.6L13 8z';

export const groups = ['top', 'build', 'observe', 'integrate', 'administer'] as const;
