import type { DashboardRole, ProjectMember } from '@parley/contract';
import type { Queryable, Tx } from '../../core/db.ts';
import { empty, sql } from '../../core/sql.ts';

const columns = sql`m.user_id as "userId", coalesce(u.email, m.email) as email, u.name, m.role,
  case when m.user_id is null then 'INVITED' else 'ACTIVE' end as status, m.added_at as "addedAt"`;

export async function findRole(db: Queryable, projectId: string, userId: string): Promise<DashboardRole | undefined> {
  const [row] = await db.query<{ role: DashboardRole }>(sql`
    select role from project_members where project_id = ${projectId} and user_id = ${userId}`);
  return row?.role;
}

/** A member or an invitation, by user id or by e-mail. */
export async function findMember(
  db: Queryable,
  projectId: string,
  userOrEmail: string,
): Promise<ProjectMember | undefined> {
  const [row] = await db.query<ProjectMember>(sql`
    select ${columns} from project_members m left join users u on u.id = m.user_id
    where m.project_id = ${projectId} and (m.user_id::text = ${userOrEmail} or lower(m.email) = lower(${userOrEmail}))`);
  return row;
}

/** Newest first, from after a position. */
export async function listMembers(
  db: Queryable,
  projectId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<ProjectMember[]> {
  return db.query<ProjectMember>(sql`
    select ${columns} from project_members m left join users u on u.id = m.user_id
    where m.project_id = ${projectId}
      ${after === null ? empty : sql`and (m.added_at, lower(m.email)) < (${after[0]}, lower(${after[1]}))`}
    order by m.added_at desc, lower(m.email) desc limit ${limit}`);
}

/** Adds a member, or an invitation when no account proves to own the address. False when the address is there already. */
export async function insertMember(
  tx: Queryable,
  projectId: string,
  member: { email: string; userId: string | null; role: DashboardRole; at: string },
): Promise<boolean> {
  const touched = await tx.execute(sql`
    insert into project_members (project_id, email, user_id, role, added_at)
    values (${projectId}, ${member.email}, ${member.userId}, ${member.role}, ${member.at})
    on conflict do nothing`);
  return touched === 1;
}

export async function updateRole(tx: Tx, projectId: string, email: string, role: DashboardRole): Promise<void> {
  await tx.execute(sql`
    update project_members set role = ${role} where project_id = ${projectId} and lower(email) = lower(${email})`);
}

export async function deleteMember(tx: Tx, projectId: string, email: string): Promise<void> {
  await tx.execute(sql`delete from project_members where project_id = ${projectId} and lower(email) = lower(${email})`);
}

/** Addresses of those who have joined: an invitation is no proof of one. */
export async function listMemberEmails(db: Queryable, projectId: string): Promise<string[]> {
  const rows = await db.query<{ email: string }>(sql`
    select u.email from project_members m join users u on u.id = m.user_id where m.project_id = ${projectId}`);
  return rows.map(({ email }) => email);
}

/** Owners with an account: an invited owner cannot act yet. */
export async function countOwners(tx: Tx, projectId: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>(sql`
    select count(*) as n from project_members where project_id = ${projectId} and role = 'OWNER' and user_id is not null`);
  return row?.n ?? 0;
}

/** Whether the address is invited to a project that is not archived. */
export async function hasInvitation(tx: Queryable, email: string): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 from project_members m join projects p on p.id = m.project_id
    where lower(m.email) = lower(${email}) and m.user_id is null and p.status = 'ACTIVE' limit 1`);
  return rows.length > 0;
}

/** Turns the invitations of an address into memberships; gives the projects. */
export async function acceptInvitations(tx: Queryable, email: string, userId: string): Promise<string[]> {
  const rows = await tx.query<{ projectId: string }>(sql`
    update project_members set user_id = ${userId} where lower(email) = lower(${email}) and user_id is null
    returning project_id as "projectId"`);
  return rows.map((row) => row.projectId);
}
