import type { ProjectMember } from '@parley/contract';
import { useState } from 'react';
import { useApi, useUser } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { ListPage } from '../frame/list-page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { InviteDialog, RemoveMemberDialog } from './member-dialogs.tsx';
import { MemberRole } from './member-role.tsx';
import { projectKeys } from './queries.ts';
import { roleName, roleSentence, roles } from './roles.ts';
import { t } from './texts.ts';

export default function MembersPage() {
  const api = useApi();
  const { project, may } = useProject();
  const query = usePaged(projectKeys.members(project.id), (page, signal) =>
    api.request('listProjectMembers', { projectId: project.id, query: page }, { signal }),
  );
  const [dialog, setDialog] = useState<'invite' | ProjectMember | null>(null);
  const mayManage = may('member:manage');
  const me = useUser();
  const owners = query.data?.filter(({ role, status }) => role === 'OWNER' && status === 'ACTIVE').length ?? 0;

  /** Why a member's row is fixed for this person, or null when it is not. */
  function fixedBecause({ role, status }: ProjectMember): string | null {
    if (!mayManage) return askFor('member:manage');
    if (role !== 'OWNER') return null;
    if (project.role !== 'OWNER') return t('projects.onlyOwner');
    return owners <= 1 && status === 'ACTIVE' ? t('projects.keepsOwner') : null;
  }

  return (
    <ListPage
      title={t('page.members')}
      query={query}
      create={{
        label: t('projects.addMember'),
        isAllowed: mayManage && project.status !== 'ARCHIVED',
        permission: 'member:manage',
        onClick: () => setDialog('invite'),
      }}
      caption={t('words.members')}
      columns={columns({ myId: me.id, fixedBecause, onRemove: setDialog })}
      keyOf={({ email }) => email}
      copyOf={({ userId, email }) => userId ?? email}
    >
      <section className="panel stack-small" aria-labelledby="role-list">
        <h2 id="role-list">{t('projects.rolesCanDo')}</h2>
        <dl className="facts">
          {roles.map((role) => (
            <div key={role}>
              <dt>{roleName(role)}</dt>
              <dd>{roleSentence(role)}</dd>
            </div>
          ))}
        </dl>
      </section>
      {dialog === 'invite' && <InviteDialog onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'invite' && <RemoveMemberDialog member={dialog} onClose={() => setDialog(null)} />}
    </ListPage>
  );
}

function columns(options: {
  myId: string;
  fixedBecause: (member: ProjectMember) => string | null;
  onRemove: (member: ProjectMember) => void;
}): readonly Column<ProjectMember>[] {
  const { myId, fixedBecause, onRemove } = options;
  return [
    {
      head: t('projects.member'),
      width: '34%',
      cell: ({ email, name, userId }) => (
        <span className="two-lines">
          <strong>
            {name ?? email}
            {userId === myId && <span className="muted"> {t('projects.you')}</span>}
          </strong>
          {name !== null && <span className="muted">{email}</span>}
        </span>
      ),
    },
    {
      head: t('words.status'),
      cell: ({ status }) =>
        status === 'ACTIVE' ? (
          <Badge tone="ok">{t('words.active')}</Badge>
        ) : (
          <Badge tone="warn" shape="ring">
            {t('projects.invited')}
          </Badge>
        ),
    },
    { head: t('words.role'), cell: (member) => <MemberRole member={member} fixedBecause={fixedBecause(member)} /> },
    { head: t('projects.added'), cell: ({ addedAt }) => <Time at={addedAt} /> },
    {
      head: '',
      align: 'end',
      cell: (member) => (
        <Button
          variant="quiet"
          aria-label={t('projects.removeEmail', { email: member.email })}
          disabled={fixedBecause(member) !== null}
          title={fixedBecause(member) ?? undefined}
          onClick={() => onRemove(member)}
        >
          {t('words.remove')}
        </Button>
      ),
    },
  ];
}
