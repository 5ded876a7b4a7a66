import type { DashboardRole, ProjectMember } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';
import { roleInSentence, roleName, roles } from './roles.ts';
import { t } from './texts.ts';

/** A member's role, changed in place: shown at once, taken back when the service refuses. */
export function MemberRole({ member, fixedBecause }: { member: ProjectMember; fixedBecause: string | null }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const { email, userId } = member;
  const [wanted, setWanted] = useState<DashboardRole | null>(null);
  const change = useAction(
    (role: DashboardRole) =>
      api.call('changeProjectMember', { projectId: project.id, userId: userId ?? email, body: { role } }),
    { onDone: ({ role }) => toast(t('projects.isNow', { email, role: roleInSentence(role) })) },
  );

  async function choose(role: DashboardRole): Promise<void> {
    setWanted(role);
    await change.run(role);
    await client.invalidateQueries({ queryKey: projectKeys.members(project.id) });
    setWanted(null);
  }

  return (
    <span className="stack-small">
      <select
        className="input input-small"
        aria-label={t('projects.roleOf', { email })}
        value={wanted ?? member.role}
        disabled={fixedBecause !== null}
        title={fixedBecause ?? undefined}
        // The options are exactly the roles.
        onChange={(event) => void choose(event.target.value as DashboardRole)}
      >
        {roles
          .filter((role) => role !== 'OWNER' || project.role === 'OWNER' || member.role === 'OWNER')
          .map((role) => (
            <option key={role} value={role}>
              {roleName(role)}
            </option>
          ))}
      </select>
      {change.failure && <ErrorNotice failure={change.failure} />}
    </span>
  );
}
