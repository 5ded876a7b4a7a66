import type { Page } from 'playwright-core';
import type { LivelyProject } from './dashboard-seed.ts';

export interface PageCase {
  path: string;
  heading: string;
  /** The request that fills the page: what the states are told from. */
  fills: RegExp;
  /** Something that is only there when it is filled. */
  loaded: (page: Page) => ReturnType<Page['getByText']>;
  /** Its further tabs, by name. */
  tabs?: readonly string[];
}

/** Every page that shows data of the service. */
export function pagesOf(projectId: string, lively: LivelyProject): PageCase[] {
  const at = (path: string): string => `/p/${projectId}/${path}?env=development`;
  const { room, webhook, conversation, stream, alert } = lively;
  return [
    {
      path: '/projects',
      heading: 'Projects',
      fills: /\/v1\/projects\?/,
      loaded: (page) => page.getByRole('cell', { name: 'Owner' }).first(),
    },
    {
      path: '/account',
      heading: 'Account',
      fills: /\/v1\/auth\/sessions$/,
      loaded: (page) => page.getByText('This one'),
    },
    {
      path: at('overview'),
      heading: 'Overview',
      fills: /\/v1\/.*\/metrics\?/,
      loaded: (page) => page.getByText('Join success, 24 h'),
    },
    {
      path: at('rooms'),
      heading: 'Rooms',
      fills: /\/v1\/.*\/rooms\?/,
      loaded: (page) => page.getByRole('cell', { name: '2/50' }),
    },
    {
      path: at(`rooms/${room.id}`),
      heading: room.name,
      fills: new RegExp(`/v1/.*/rooms/${room.id}\\?`),
      loaded: (page) => page.getByText('watch, publish, data').first(),
      tabs: ['Timeline', 'Conversation', 'Raw'],
    },
    {
      path: at('chat'),
      heading: 'Chat',
      fills: /\/v1\/.*\/chat\/overview\?/,
      loaded: (page) => page.getByRole('link', { name: 'announcements' }),
      tabs: ['Sessions'],
    },
    {
      path: at(`chat/${conversation.id}`),
      heading: conversation.name,
      fills: new RegExp(`/v1/.*/chat/conversations/${conversation.id}\\?`),
      loaded: (page) => page.getByRole('cell', { name: 'grace' }),
      tabs: ['Messages', 'Presence', 'Sanctions'],
    },
    {
      path: at('users'),
      heading: 'Users',
      fills: /\/v1\/.*\/chat\/users\?/,
      loaded: (page) => page.getByRole('link', { name: 'ada' }),
    },
    {
      path: at('users/ada'),
      heading: 'ada',
      fills: /\/v1\/.*\/chat\/users\/ada\?/,
      loaded: (page) => page.getByRole('link', { name: 'standup' }),
      tabs: ['Sanctions'],
    },
    {
      path: at('moderation'),
      heading: 'Moderation',
      fills: /\/v1\/.*\/chat\/moderation\?/,
      loaded: (page) => page.getByRole('cell', { name: 'Harassment' }),
      tabs: ['Bans', 'Mutes', 'Deletions', 'Rules'],
    },
    {
      path: at('push'),
      heading: 'Push',
      fills: /\/v1\/.*\/chat\/push\?/,
      loaded: (page) => page.getByRole('cell', { name: 'Made by Parley' }),
    },
    {
      path: at('data-jobs'),
      heading: 'Data jobs',
      fills: /\/v1\/.*\/data-jobs\?/,
      loaded: (page) => page.getByRole('cell', { name: 'Export' }),
    },
    {
      path: at('live-streams'),
      heading: 'Live streams',
      fills: /\/v1\/.*\/live-streams\?/,
      loaded: (page) => page.getByRole('link', { name: 'Town hall' }),
    },
    {
      path: at(`live-streams/${stream.id}`),
      heading: stream.title,
      fills: new RegExp(`/v1/.*/live-streams/${stream.id}\\?`),
      loaded: (page) => page.getByText('Most viewers at once'),
      tabs: ['Hosts', 'Raw'],
    },
    {
      path: at('calls'),
      heading: 'Calls',
      fills: /\/v1\/.*\/calls\?/,
      loaded: (page) => page.getByRole('link', { name: 'standup' }),
    },
    {
      path: at(`calls/${lively.callId}`),
      heading: 'Call in standup',
      fills: /\/v1\/.*\/calls\/[^?]+\?/,
      loaded: (page) => page.getByText('The uplink of ada lost up to 14 %'),
    },
    {
      path: at('connections'),
      heading: 'Connections',
      fills: /\/v1\/.*\/connections\?/,
      loaded: (page) => page.getByRole('cell', { name: 'linus' }),
    },
    {
      path: at(`connections/${lively.connectionId}`),
      heading: 'linus',
      fills: /\/v1\/.*\/connections\/[^?]+\?/,
      loaded: (page) => page.getByText('ice.failed'),
    },
    {
      path: at('requests'),
      heading: 'API requests',
      fills: /\/v1\/.*\/requests\?/,
      loaded: (page) => page.getByRole('cell', { name: 'SVC_ROOM_NOT_FOUND' }).first(),
    },
    {
      path: at(`requests/${lively.requestId}`),
      heading: 'GET /v1/rooms/{id}',
      fills: /\/v1\/.*\/requests\/[^?]+\?/,
      loaded: (page) => page.getByText('There is no such resource in this project'),
    },
    {
      path: at('errors'),
      heading: 'Errors',
      fills: /\/v1\/.*\/errors\?/,
      loaded: (page) => page.getByRole('link', { name: 'ICE_FAILED' }),
    },
    {
      path: at(`errors/${lively.errorId}`),
      heading: 'ICE_FAILED',
      fills: /\/v1\/.*\/errors\/[^?]+\?/,
      loaded: (page) => page.getByText('May help'),
    },
    {
      path: at('metrics'),
      heading: 'Metrics',
      fills: /\/v1\/.*\/metrics\?/,
      loaded: (page) => page.getByRole('slider').first(),
    },
    {
      path: at('alerts'),
      heading: 'Alerts',
      fills: /\/v1\/.*\/alerts\?/,
      loaded: (page) => page.getByRole('link', { name: alert.name }),
    },
    {
      path: at(`alerts/${alert.id}`),
      heading: alert.name,
      fills: new RegExp(`/v1/.*/alerts/${alert.id}\\?`),
      loaded: (page) => page.getByRole('cell', { name: 'Firing' }),
    },
    {
      path: at('usage'),
      heading: 'Usage',
      fills: /\/v1\/projects\/.*\/usage\?/,
      loaded: (page) => page.getByRole('cell', { name: 'ada' }),
    },
    {
      path: at('api-keys'),
      heading: 'API keys',
      fills: /\/v1\/.*\/api-keys\?/,
      loaded: (page) => page.getByText(/^svk_dev_/).first(),
    },
    {
      path: at('webhooks'),
      heading: 'Webhooks',
      fills: /\/v1\/.*\/webhooks\?/,
      loaded: (page) => page.getByRole('link', { name: webhook.url }),
    },
    {
      path: at(`webhooks/${webhook.id}`),
      heading: webhook.url,
      fills: new RegExp(`/v1/.*/webhooks/${webhook.id}$`),
      loaded: (page) => page.getByText('All, including future types').first(),
      tabs: ['Settings'],
    },
    {
      path: at('members'),
      heading: 'Members',
      fills: /\/v1\/.*\/members\?/,
      loaded: (page) => page.getByText('(you)'),
    },
    {
      path: at('audit-log'),
      heading: 'Audit log',
      fills: /\/v1\/.*\/audit-logs\?/,
      loaded: (page) => page.getByRole('button', { name: /created the project/ }),
    },
    {
      path: at('fleet'),
      heading: 'Fleet',
      fills: /\/v1\/rtc\/servers$/,
      loaded: (page) => page.getByRole('link', { name: 'node-1' }),
    },
    {
      path: at('fleet/node-1'),
      heading: 'node-1',
      fills: /\/v1\/rtc\/servers\/node-1$/,
      loaded: (page) => page.getByText('Internal URL'),
    },
  ];
}
