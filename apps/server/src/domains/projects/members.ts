import {
  type DashboardRole,
  type Environment,
  environments,
  fail,
  type Limits,
  type ProjectMember,
  roleMay,
} from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db, Tx } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Log } from '../../core/log.ts';
import type { Mail } from '../../core/ports.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import { findUserByEmail } from '../accounts/index.ts';
import type { Access } from './access.ts';
import { markRevokedOfMember } from './api-key-store.ts';
import type { KeyTokens } from './key-tokens.ts';
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
import { markSigningKeysRevokedOfMember } from './signing-key-store.ts';

export interface MemberDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  access: Access;
  keyTokens: KeyTokens;
  mail: Mail;
  log: Log;
  rateLimiter: RateLimiter;
  limits: Limits;
  publicUrl: string;
  /** Whether an address counts as its account's only once it was verified. */
  requireVerifiedEmail: boolean;
}

const hourMs = 60 * 60_000;

/** Keys that ended with a membership or a role. */
interface EndedKeys {
  apiKeys: string[];
  signingKeys: string[];
}

export function createMembers(deps: MemberDeps) {
  const { db, clock, cursors, access, keyTokens, mail, log, rateLimiter, limits } = deps;
  const { publicUrl, requireVerifiedEmail } = deps;

  /** Runs with the project's row locked, so that two changes cannot both see a second owner. */
  const withProject = <T>(
    caller: ProjectSessionCaller,
    work: (tx: Tx, project: StoredProject) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async (tx) => work(tx, (await lockProject(tx, caller.projectId)) ?? fail('SVC_PROJECT_NOT_FOUND')));

  const getMember = async (tx: Tx, caller: ProjectSessionCaller, userOrEmail: string): Promise<ProjectMember> =>
    (await findMember(tx, caller.projectId, userOrEmail)) ?? fail('SVC_MEMBER_NOT_FOUND');

  /** Revokes the keys of a member that this role could not have made; all of them without a role. */
  async function endKeys(
    tx: Tx,
    caller: ProjectSessionCaller,
    { userId }: ProjectMember,
    role: DashboardRole | null,
  ): Promise<EndedKeys> {
    const isOver = (environment: Environment): boolean =>
      role === null || !roleMay(role, 'api_key:create', environment);
    const ended = environments.filter(isOver);
    if (userId === null || ended.length === 0) return { apiKeys: [], signingKeys: [] };
    const whose = [caller.projectId, userId, ended, iso(clock.now())] as const;
    return {
      apiKeys: await markRevokedOfMember(tx, ...whose),
      signingKeys: await markSigningKeysRevokedOfMember(tx, ...whose),
    };
  }

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
    await spendInvitation(caller, email);
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

  /** A letter to somebody who did not ask for it: bounded by who sends it and by who gets it. Members get none. */
  async function spendInvitation(caller: ProjectSessionCaller, email: string): Promise<void> {
    const account = await findUserByEmail(db, email);
    const isProven = account && !(requireVerifiedEmail && !account.emailVerifiedAt);
    if (isProven || (await findMember(db, caller.projectId, email))) return;
    const { INVITATIONS_MAX_PER_SENDER, INVITATIONS_MAX_PER_ADDRESS } = limits;
    await rateLimiter.spend(`invitations:from:${caller.userId}`, INVITATIONS_MAX_PER_SENDER, hourMs);
    await rateLimiter.spend(`invitations:to:${email.toLowerCase()}`, INVITATIONS_MAX_PER_ADDRESS, hourMs);
  }

  async function changeRole(
    caller: ProjectSessionCaller,
    userId: string,
    role: DashboardRole,
  ): Promise<Answer<ProjectMember>> {
    assertMayGive(caller, role);
    const { member, previous, ended } = await withProject(caller, async (tx) => {
      const before = await getMember(tx, caller, userId);
      assertMayChange(caller, before);
      if (before.role === 'OWNER' && role !== 'OWNER') await assertAnotherOwner(tx, caller.projectId, before);
      await updateRole(tx, caller.projectId, before.email, role);
      return { member: { ...before, role }, previous: before.role, ended: await endKeys(tx, caller, before, role) };
    });
    await keyTokens.end(caller.projectId, ended.signingKeys);
    if (member.userId !== null && !roleMay(role, 'room:manage'))
      await keyTokens.revokeOfMember(caller.projectId, member.userId);
    const revokedKeys = [...ended.apiKeys, ...ended.signingKeys];
    const metadata = { from: previous, to: role, ...(revokedKeys.length > 0 && { revokedKeys }) };
    return recorded(member, previous === role ? null : { resourceId: member.userId ?? member.email, metadata });
  }

  async function remove(
    caller: ProjectSessionCaller,
    userId: string,
    { revokeTokens = false }: { revokeTokens?: boolean },
  ): Promise<Answer<ProjectMember>> {
    const { member, ended } = await withProject(caller, async (tx) => {
      const before = await getMember(tx, caller, userId);
      assertMayChange(caller, before);
      if (before.role === 'OWNER') await assertAnotherOwner(tx, caller.projectId, before);
      await deleteMember(tx, caller.projectId, before.email);
      return { member: before, ended: await endKeys(tx, caller, before, null) };
    });
    await keyTokens.end(caller.projectId, ended.signingKeys);
    if (member.userId !== null) await keyTokens.revokeOfMember(caller.projectId, member.userId);
    if (revokeTokens) await keyTokens.revoke(caller.projectId, ended.apiKeys);
    const revokedKeys = [...ended.apiKeys, ...ended.signingKeys];
    const metadata = { role: member.role, ...(revokedKeys.length > 0 && { revokedKeys, revokeTokens }) };
    return recorded(member, { resourceId: member.userId ?? member.email, metadata });
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
