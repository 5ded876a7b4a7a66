import { type DashboardRole, type Environment, fail, roleMay } from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import type { Db, Tx } from '../../core/db.ts';
import { findRole } from './member-store.ts';
import { lockProject } from './project-store.ts';

export function assertMayMakeKey(role: DashboardRole | undefined, environment: Environment): void {
  if (role === undefined || !roleMay(role, 'api_key:create', environment))
    fail('SVC_PERMISSION_DENIED', { permission: 'api_key:create' });
}

/** With the project's row locked, as for a change of its members: who loses the role meanwhile makes no key. */
export const makeKey = <T>(
  db: Db,
  { projectId, userId }: ProjectSessionCaller,
  environment: Environment,
  insert: (tx: Tx) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    const project = await lockProject(tx, projectId);
    if (project?.status !== 'ACTIVE') fail('SVC_PROJECT_ARCHIVED');
    assertMayMakeKey(await findRole(tx, projectId, userId), environment);
    return insert(tx);
  });
