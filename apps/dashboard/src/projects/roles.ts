import type { DashboardRole } from '@parley/contract';

export const roleNames: Readonly<Record<DashboardRole, string>> = {
  OWNER: 'Owner',
  ADMIN: 'Admin',
  DEVELOPER: 'Developer',
  VIEWER: 'Viewer',
};

/** What a role is for, in one line; the reference has the whole table. */
export const roleSentences: Readonly<Record<DashboardRole, string>> = {
  OWNER: 'Everything, including archiving the project and changing owners.',
  ADMIN: 'Everything but archiving the project and changing owners.',
  DEVELOPER: 'Rooms, chat and streams; API keys and webhooks for development. No audit log.',
  VIEWER: 'Reads everything but API keys and the audit log. Changes nothing.',
};

export const roles: readonly DashboardRole[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER'];
