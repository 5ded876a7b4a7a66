import type { projectRoutes } from '@parley/contract';
import type { Domain } from '../../core/part.ts';
import type { Chore } from '../../core/timers.ts';
import { type Access, type AccessDeps, createAccess } from './access.ts';
import { type ApiKeyDeps, createApiKeys } from './api-keys.ts';
import { createMembers, type MemberDeps } from './members.ts';
import { createProjects, type ProjectDeps } from './projects.ts';

export type { Access } from './access.ts';
export { findProject, listOwnedProjects, listProjectsOfOwners, type ProjectName } from './project-store.ts';

type ProjectsDeps = Omit<ProjectDeps & ApiKeyDeps & MemberDeps & AccessDeps, 'access'>;

/** Open connections, by the project that they belong to. */
interface Connections {
  projects(): string[];
  cutOff(projectId: string): void;
}

export interface Projects extends Domain<typeof projectRoutes> {
  access: Access;
  /** Turns invitations of a proven address into memberships. */
  joinInvited: ReturnType<typeof createMembers>['joinInvited'];
  /** Closes the connections of projects that were archived since: their tokens are invalid. */
  cutOffArchived(connections: Connections): Chore;
}

export function createProjectsDomain(deps: ProjectsDeps): Projects {
  const access = createAccess(deps);
  const projects = createProjects({ ...deps, access });
  const apiKeys = createApiKeys({ ...deps, access });
  const members = createMembers({ ...deps, access });

  return {
    access,
    joinInvited: members.joinInvited,
    start: access.start,
    cutOffArchived: (connections) => ({
      name: 'archived-projects',
      everyMs: 1_500,
      onEveryProcess: true,
      async run() {
        for (const projectId of await access.inactiveOf(connections.projects())) connections.cutOff(projectId);
      },
    }),
    handlers: {
      getOwnProject: ({ caller }) => projects.get(caller),
      listProjects: ({ caller, query }) => projects.list(caller, query),
      createProject: ({ caller, body }) => projects.create(caller, body),
      getProject: ({ caller }) => projects.get(caller),
      updateProject: ({ caller, body }) => projects.rename(caller, body),
      updateAllowedOrigins: ({ caller, body }) => projects.setOrigins(caller, body),
      archiveProject: ({ caller }) => projects.archive(caller),
      listProjectMembers: ({ caller, query }) => members.list(caller, query),
      addProjectMember: ({ caller, body }) => members.add(caller, body),
      changeProjectMember: ({ caller, params, body }) => members.changeRole(caller, params.userId, body.role),
      removeProjectMember: ({ caller, params }) => members.remove(caller, params.userId),
      listApiKeys: ({ caller, query }) => apiKeys.list(caller, query),
      createApiKey: ({ caller, body }) => apiKeys.create(caller, body),
      revokeApiKey: ({ caller, params }) => apiKeys.revoke(caller, params.publicId),
    },
  };
}
