import type { ProjectMember } from '@parley/contract';
import { useState } from 'react';
import { useApi, useUser } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { InviteDialog, RemoveMemberDialog } from './member-dialogs.tsx';
import { MemberRole } from './member-role.tsx';
import { projectKeys } from './queries.ts';
import { roleNames, roleSentences, roles } from './roles.ts';

export default function MembersPage() {
  const api = useApi();
  const { project, may } = useProject();
  const query = usePaged(projectKeys.members(project.id), (page, signal) =>
    api.request('listProjectMembers', { projectId: project.id, query: page }, { signal }),
  );
  const [dialog, setDialog] = useState<'invite' | ProjectMember | null>(null);
  const mayManage = may('member:manage');
  const owners = query.data?.filter(({ role, status }) => role === 'OWNER' && status === 'ACTIVE').length ?? 0;

  const table = (rows: readonly ProjectMember[] | undefined) => (
    <MemberTable rows={rows} owners={owners} onRemove={setDialog} />
  );
  return (
    <Page
      title="Members"
      query={query}
      actions={
        <Button
          variant="primary"
          icon={<PlusIcon />}
          disabled={!mayManage || project.status === 'ARCHIVED'}
          title={mayManage ? undefined : askFor('member:manage')}
          onClick={() => setDialog('invite')}
        >
          Add member
        </Button>
      }
    >
      <QueryView query={query} skeleton={table(undefined)}>
        {table}
      </QueryView>
      <More query={query} />
      <section className="panel stack-small" aria-labelledby="role-list">
        <h2 id="role-list">What the roles can do</h2>
        <dl className="facts">
          {roles.map((role) => (
            <div key={role}>
              <dt>{roleNames[role]}</dt>
              <dd>{roleSentences[role]}</dd>
            </div>
          ))}
        </dl>
      </section>
      {dialog === 'invite' && <InviteDialog onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'invite' && <RemoveMemberDialog member={dialog} onClose={() => setDialog(null)} />}
    </Page>
  );
}

function MemberTable({
  rows,
  owners,
  onRemove,
}: {
  rows: readonly ProjectMember[] | undefined;
  owners: number;
  onRemove: (member: ProjectMember) => void;
}) {
  const { project, may } = useProject();
  const me = useUser();

  /** Why a member's row is fixed for this person, or null when it is not. */
  function fixedBecause({ role, status }: ProjectMember): string | null {
    if (!may('member:manage')) return askFor('member:manage');
    if (role !== 'OWNER') return null;
    if (project.role !== 'OWNER') return 'Only an owner can change or remove an owner.';
    return owners <= 1 && status === 'ACTIVE' ? 'A project keeps at least one owner.' : null;
  }

  return (
    <Table
      caption="Members"
      rows={rows}
      keyOf={({ email }) => email}
      copyOf={({ userId, email }) => userId ?? email}
      columns={[
        {
          head: 'Member',
          width: '34%',
          cell: ({ email, name, userId }) => (
            <span className="two-lines">
              <strong>
                {name ?? email}
                {userId === me.id && <span className="muted"> (you)</span>}
              </strong>
              {name !== null && <span className="muted">{email}</span>}
            </span>
          ),
        },
        {
          head: 'Status',
          cell: ({ status }) =>
            status === 'ACTIVE' ? (
              <Badge tone="ok">Active</Badge>
            ) : (
              <Badge tone="warn" shape="ring">
                Invited
              </Badge>
            ),
        },
        { head: 'Role', cell: (member) => <MemberRole member={member} fixedBecause={fixedBecause(member)} /> },
        { head: 'Added', cell: ({ addedAt }) => <Time at={addedAt} /> },
        {
          head: '',
          align: 'end',
          cell: (member) => (
            <Button
              variant="quiet"
              aria-label={`Remove ${member.email}`}
              disabled={fixedBecause(member) !== null}
              title={fixedBecause(member) ?? undefined}
              onClick={() => onRemove(member)}
            >
              Remove
            </Button>
          ),
        },
      ]}
    />
  );
}
