import type { projectRoutes, signingKeyRoutes } from '@parley/contract';
import type { Tx } from '../../core/db.ts';
import type { Domain } from '../../core/part.ts';
import type { Chore } from '../../core/timers.ts';
import { type Access, type AccessDeps, createAccess } from './access.ts';
import { type ApiKeyDeps, createApiKeys } from './api-keys.ts';
import { createKeyTokens, type KeyTokenDeps } from './key-tokens.ts';
import { hasInvitation } from './member-store.ts';
import { createMembers, type MemberDeps } from './members.ts';
import { createOfflineTokens, type OfflineTokenDeps, type OfflineTokens } from './offline-tokens.ts';
import { createProjects, type ProjectDeps } from './projects.ts';
import { createSigningKeys, type SigningKeyDeps } from './signing-keys.ts';

export type { Access } from './access.ts';
export { listMemberEmails } from './member-store.ts';
export type { OfflineTokens } from './offline-tokens.ts';
export { findProject, listOwnedProjects, listProjectsOfOwners, type ProjectName } from './project-store.ts';

type ProjectsDeps = Omit<
  ProjectDeps & ApiKeyDeps & SigningKeyDeps & MemberDeps & AccessDeps & KeyTokenDeps & OfflineTokenDeps,
  'access' | 'keyTokens'
>;

interface Projects extends Domain<typeof projectRoutes & typeof signingKeyRoutes> {
  access: Access;
  offlineTokens: OfflineTokens;
  /** Seals secrets anew while SECRET_KEY is rotated; says how many. */
  renewSealed(): Promise<number>;
  /** Turns invitations of a proven address into memberships. */
  joinInvited: ReturnType<typeof createMembers>['joinInvited'];
  /** Whether an invitation waits for the address. */
  isInvited(tx: Tx, email: string): Promise<boolean>;
}

export function createProjectsDomain(deps: ProjectsDeps): Projects {
  const access = createAccess(deps);
  const projects = createProjects({ ...deps, access });
  const keyTokens = createKeyTokens({ ...deps, access });
  const apiKeys = createApiKeys({ ...deps, access, keyTokens });
  const signingKeys = createSigningKeys({ ...deps, keyTokens });
  const members = createMembers({ ...deps, access, keyTokens });
  const { connections } = deps;

  /** Tokens of projects that were archived since are invalid. */
  async function cutOffArchived(): Promise<void> {
    const inactive = await access.inactiveOf(connections.projects());
    if (inactive.length === 0) return;
    connections.cutOff(({ projectId }) => inactive.includes(projectId), { code: 4401, reason: 'INVALID_TOKEN' });
  }

  const chores: Chore[] = [
    { name: 'archived-projects', everyMs: 1_500, run: cutOffArchived, onEveryProcess: true },
    { name: 'revoked-keys', everyMs: 1_500, run: keyTokens.cutOffRevoked, onEveryProcess: true },
    {
      name: 'signing-secrets',
      everyMs: 600_000,
      run: async () => void (await signingKeys.renewSealed()),
      onDatabaseAlone: true,
    },
  ];

  return {
    access,
    offlineTokens: createOfflineTokens({ ...deps, access }),
    renewSealed: signingKeys.renewSealed,
    joinInvited: members.joinInvited,
    isInvited: hasInvitation,
    chores,
    async start() {
      await access.start();
      await keyTokens.start();
    },
    handlers: {
      getOwnProject: ({ caller }) => projects.get(caller),
      listProjects: ({ caller, query }) => projects.list(caller, query),
      createProject: ({ caller, body }) => projects.create(caller, body),
      getProject: ({ caller }) => projects.get(caller),
      updateProject: ({ caller, body }) => projects.rename(caller, body),
      updateAllowedOrigins: ({ caller, body }) => projects.setOrigins(caller, body),
      updateProjectSecurity: ({ caller, body }) => projects.secure(caller, body),
      archiveProject: ({ caller }) => projects.archive(caller),
      listProjectMembers: ({ caller, query }) => members.list(caller, query),
      addProjectMember: ({ caller, body }) => members.add(caller, body),
      changeProjectMember: ({ caller, params, body }) => members.changeRole(caller, params.userId, body.role),
      removeProjectMember: ({ caller, params, query }) => members.remove(caller, params.userId, query),
      listApiKeys: ({ caller, query }) => apiKeys.list(caller, query),
      createApiKey: ({ caller, body }) => apiKeys.create(caller, body),
      revokeApiKey: ({ caller, params, query }) => apiKeys.revoke(caller, params.publicId, query),
      listSigningKeys: ({ caller, query }) => signingKeys.list(caller, query),
      createSigningKey: ({ caller, body }) => signingKeys.create(caller, body),
      revokeSigningKey: ({ caller, params }) => signingKeys.revoke(caller, params.signingKeyId),
    },
  };
}
