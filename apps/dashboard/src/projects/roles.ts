import type { DashboardRole } from '@parley/contract';
import type { Key } from '../i18n/catalogue.ts';
import { t } from './texts.ts';

const names = {
  OWNER: 'projects.owner',
  ADMIN: 'projects.admin',
  DEVELOPER: 'projects.developer',
  VIEWER: 'projects.viewer',
} as const satisfies Record<DashboardRole, Key>;
export const roleName = (role: DashboardRole): string => t(names[role]);

const inSentence = {
  OWNER: 'projects.asOwner',
  ADMIN: 'projects.asAdmin',
  DEVELOPER: 'projects.asDeveloper',
  VIEWER: 'projects.asViewer',
} as const satisfies Record<DashboardRole, Key>;
/** The same within a sentence: where a noun is written small, it is. */
export const roleInSentence = (role: DashboardRole): string => t(inSentence[role]);

const sentences = {
  OWNER: 'projects.ownerMay',
  ADMIN: 'projects.adminMay',
  DEVELOPER: 'projects.developerMay',
  VIEWER: 'projects.viewerMay',
} as const satisfies Record<DashboardRole, Key>;
/** What a role is for, in one line; the reference has the whole table. */
export const roleSentence = (role: DashboardRole): string => t(sentences[role]);

export const roles: readonly DashboardRole[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER'];
