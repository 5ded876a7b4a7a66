import { type DashboardRole, fail, type ProjectMember } from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db, Tx } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Log } from '../../core/log.ts';
import type { Mail } from '../../core/ports.ts';
import { findUserByEmail } from '../accounts/index.ts';
import type { Access } from './access.ts';
import { invitationMail } from './mail-templates.ts';
import {
  acceptInvitations,
  countOwners,
  deleteMember,
  findMember,
  insertMember,
  listMembers,
  updateRole,
} from './member-store.ts';
import { lockProject, type StoredProject } from './project-store.ts';

export interface MemberDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  access: Access;
  mail: Mail;
  log: Log;
  publicUrl: string;
  /** Whether an address counts as its account's only once it was verified. */
  requireVerifiedEmail: boolean;
}

export function createMembers({ db, clock, cursors, access, mail, log, publicUrl, requireVerifiedEmail }: MemberDeps) {
  /** Runs with the project's row locked, so that two changes cannot both see a second owner. */
  const withProject = <T>(
    caller: ProjectSessionCaller,
    work: (tx: Tx, project: StoredProject) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async (tx) => work(tx, (await lockProject(tx, caller.projectId)) ?? fail('SVC_PROJECT_NOT_FOUND')));

  const getMember = async (tx: Tx, caller: ProjectSessionCaller, userOrEmail: string): Promise<ProjectMember> =>
    (await findMember(tx, caller.projectId, userOrEmail)) ?? fail('SVC_MEMBER_NOT_FOUND');

  async function list(
    caller: ProjectSessionCaller,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ) {
    const scope = `members/${caller.projectId}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listMembers(db, caller.projectId, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.addedAt, last.email]));
    return page(items, nextCursor);
  }

  async function add(
    caller: ProjectSessionCaller,
    { email, role }: { email: string; role: DashboardRole },
  ): Promise<Answer<ProjectMember>> {
    assertMayGive(caller, role);
    const { member, isNew, projectName } = await withProject(caller, async (tx, project) => {
      if (project.status === 'ARCHIVED') fail('SVC_PROJECT_ARCHIVED');
      const account = await findUserByEmail(tx, email);
      const user = requireVerifiedEmail && !account?.emailVerifiedAt ? undefined : account;
      const added = await insertMember(tx, caller.projectId, {
        email: user?.email ?? email,
        userId: user?.id ?? null,
        role,
        at: iso(clock.now()),
      });
      return { member: await getMember(tx, caller, email), isNew: added, projectName: project.name };
    });
    access.forgetProject(caller.projectId);
    if (!isNew) return recorded(member, null, true);
    // After the commit and not awaited: a slow mail server must not hold up the answer.
    if (member.status === 'INVITED') {
      mail
        .send(invitationMail(email, projectName, publicUrl))
        .catch((error) => log.error({ error }, 'invitation not mailed'));
    }
    return recorded(member, { resourceId: member.userId ?? member.email, metadata: { role, status: member.status } });
  }

  async function changeRole(
    caller: ProjectSessionCaller,
    userId: string,
    role: DashboardRole,
  ): Promise<Answer<ProjectMember>> {
    assertMayGive(caller, role);
    const { member, previous } = await withProject(caller, async (tx) => {
      const before = await getMember(tx, caller, userId);
      assertMayChange(caller, before);
      if (before.role === 'OWNER' && role !== 'OWNER') await assertAnotherOwner(tx, caller.projectId, before);
      await updateRole(tx, caller.projectId, before.email, role);
      return { member: { ...before, role }, previous: before.role };
    });
    access.forgetProject(caller.projectId);
    const metadata = { from: previous, to: role };
    return recorded(member, previous === role ? null : { resourceId: member.userId ?? member.email, metadata });
  }

  async function remove(caller: ProjectSessionCaller, userId: string): Promise<Answer<ProjectMember>> {
    const member = await withProject(caller, async (tx) => {
      const before = await getMember(tx, caller, userId);
      assertMayChange(caller, before);
      if (before.role === 'OWNER') await assertAnotherOwner(tx, caller.projectId, before);
      await deleteMember(tx, caller.projectId, before.email);
      return before;
    });
    access.forgetProject(caller.projectId);
    return recorded(member, { resourceId: member.userId ?? member.email, metadata: { role: member.role } });
  }

  /** An account has proven to own its address: invitations to it become memberships. */
  async function joinInvited(tx: Tx, user: { id: string; email: string }): Promise<void> {
    for (const projectId of await acceptInvitations(tx, user.email, user.id)) access.forgetProject(projectId);
  }

  return { list, add, changeRole, remove, joinInvited };
}

/** No one can grant a role above their own. */
function assertMayGive(caller: ProjectSessionCaller, role: DashboardRole): void {
  if (role === 'OWNER' && caller.role !== 'OWNER')
    fail('SVC_PERMISSION_DENIED', {
      permission: 'member:manage',
      message: 'Only an owner can make somebody an owner.',
    });
}

function assertMayChange(caller: ProjectSessionCaller, member: ProjectMember): void {
  if (member.role === 'OWNER' && caller.role !== 'OWNER')
    fail('SVC_PERMISSION_DENIED', {
      permission: 'member:manage',
      message: 'Only an owner can change or remove an owner.',
    });
}

/** An owner without an account is only invited: removing them leaves the real owners as they were. */
async function assertAnotherOwner(tx: Tx, projectId: string, owner: ProjectMember): Promise<void> {
  if (owner.status === 'ACTIVE' && (await countOwners(tx, projectId)) <= 1) fail('SVC_LAST_OWNER');
}
