import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

type LazyPage = LazyExoticComponent<ComponentType>;

export interface PageRow {
  /** Path under the project, and the page's key in the navigation. */
  path: string;
  label: string;
  group: 'top' | 'Build' | 'Observe' | 'Integrate' | 'Administer';
  /** The letter after `g`. */
  letter: string;
  component: LazyPage;
  /** The page of one row of it. */
  detail?: { path: `:${string}`; component: LazyPage };
}

/** Every page of a project. Navigation, routes, shortcuts and the command palette derive from the row. */
export const pages: readonly PageRow[] = [
  {
    path: 'overview',
    label: 'Overview',
    group: 'top',
    letter: 'o',
    component: lazy(() => import('../projects/overview-page.tsx')),
  },
  {
    path: 'rooms',
    label: 'Rooms',
    group: 'Build',
    letter: 'r',
    component: lazy(() => import('../rooms/rooms-page.tsx')),
    detail: { path: ':roomId', component: lazy(() => import('../rooms/room-page.tsx')) },
  },
  {
    path: 'chat',
    label: 'Chat',
    group: 'Build',
    letter: 'h',
    component: lazy(() => import('../chat/chat-page.tsx')),
    detail: { path: ':conversationId', component: lazy(() => import('../chat/conversation-page.tsx')) },
  },
  {
    path: 'live-streams',
    label: 'Live streams',
    group: 'Build',
    letter: 'l',
    component: lazy(() => import('../live-streams/streams-page.tsx')),
    detail: { path: ':streamId', component: lazy(() => import('../live-streams/stream-page.tsx')) },
  },
  {
    path: 'connections',
    label: 'Connections',
    group: 'Observe',
    letter: 'c',
    component: lazy(() => import('../observability/connections-page.tsx')),
    detail: { path: ':connectionId', component: lazy(() => import('../observability/connection-page.tsx')) },
  },
  {
    path: 'errors',
    label: 'Errors',
    group: 'Observe',
    letter: 'e',
    component: lazy(() => import('../observability/errors-page.tsx')),
    detail: { path: ':errorId', component: lazy(() => import('../observability/error-page.tsx')) },
  },
  {
    path: 'metrics',
    label: 'Metrics',
    group: 'Observe',
    letter: 'x',
    component: lazy(() => import('../observability/metrics-page.tsx')),
  },
  {
    path: 'usage',
    label: 'Usage',
    group: 'Observe',
    letter: 'u',
    component: lazy(() => import('../usage/usage-page.tsx')),
  },
  {
    path: 'api-keys',
    label: 'API keys',
    group: 'Integrate',
    letter: 'k',
    component: lazy(() => import('../projects/api-keys-page.tsx')),
  },
  {
    path: 'webhooks',
    label: 'Webhooks',
    group: 'Integrate',
    letter: 'w',
    component: lazy(() => import('../webhooks/webhooks-page.tsx')),
    detail: { path: ':webhookId', component: lazy(() => import('../webhooks/webhook-page.tsx')) },
  },
  {
    path: 'members',
    label: 'Members',
    group: 'Administer',
    letter: 'm',
    component: lazy(() => import('../projects/members-page.tsx')),
  },
  {
    path: 'audit-log',
    label: 'Audit log',
    group: 'Administer',
    letter: 'a',
    component: lazy(() => import('../audit/audit-page.tsx')),
  },
  {
    path: 'fleet',
    label: 'Fleet',
    group: 'Administer',
    letter: 'f',
    component: lazy(() => import('../fleet/fleet-page.tsx')),
    detail: { path: ':name', component: lazy(() => import('../fleet/server-page.tsx')) },
  },
  {
    path: 'settings',
    label: 'Settings',
    group: 'Administer',
    letter: 's',
    component: lazy(() => import('../projects/settings-page.tsx')),
  },
];

export const groups = ['top', 'Build', 'Observe', 'Integrate', 'Administer'] as const;
