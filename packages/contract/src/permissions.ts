import type { DashboardRole, Environment } from './enums.ts';

export const permissions = [
  'project:read',
  'project:update',
  'project:archive',
  'project:secure',
  'member:read',
  'member:manage',
  'api_key:read',
  'api_key:create',
  'api_key:revoke',
  'room:read',
  'room:manage',
  'chat:read',
  'chat:manage',
  'live_stream:read',
  'live_stream:manage',
  'webhook:read',
  'webhook:manage',
  'observability:read',
  'alert:manage',
  'usage:read',
  'audit:read',
  'server:read',
  'server:manage',
  'security:read',
] as const;
export type Permission = (typeof permissions)[number];

/** Not a project's to give: they belong to the instance (see `isOperator`). */
const instancePermissions: readonly Permission[] = ['server:read', 'server:manage', 'security:read'];
/** Of those, what only an operator may. */
export const operatorPermissions: readonly Permission[] = ['server:manage', 'security:read'];
const ofProject = permissions.filter((permission) => !instancePermissions.includes(permission));

/** Which permissions a role holds. */
export const rolePermissions: Readonly<Record<DashboardRole, readonly Permission[]>> = {
  OWNER: ofProject,
  ADMIN: ofProject.filter((permission) => permission !== 'project:archive' && permission !== 'project:secure'),
  DEVELOPER: [
    'project:read',
    'member:read',
    'api_key:read',
    'api_key:create',
    'room:read',
    'room:manage',
    'chat:read',
    'live_stream:read',
    'live_stream:manage',
    'webhook:read',
    'webhook:manage',
    'observability:read',
    'alert:manage',
    'usage:read',
  ],
  VIEWER: ofProject.filter(
    (permission) => permission.endsWith(':read') && permission !== 'audit:read' && permission !== 'api_key:read',
  ),
};

/** What a developer may do in development only. */
export const developmentOnly: Readonly<Partial<Record<DashboardRole, readonly Permission[]>>> = {
  DEVELOPER: ['api_key:create', 'webhook:manage', 'alert:manage'],
};

export function roleMay(
  role: DashboardRole,
  permission: Permission,
  environment: Environment = 'DEVELOPMENT',
): boolean {
  if (!rolePermissions[role].includes(permission)) return false;
  return environment === 'DEVELOPMENT' || !developmentOnly[role]?.includes(permission);
}
