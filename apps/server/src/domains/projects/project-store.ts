import type { DashboardRole, Project } from '@parley/contract';
import type { Queryable, Tx } from '../../core/db.ts';
import { empty, json, sql } from '../../core/sql.ts';

/** A project without what depends on who asks. */
export type StoredProject = Omit<Project, 'environment' | 'role'>;

const columns = sql`p.id, p.name, p.slug, p.status, p.allowed_origins as "allowedOrigins",
  p.allow_localhost_origins as "allowLocalhostOrigins", p.require_second_factor as "requireSecondFactor", p.created_at as "createdAt", p.updated_at as "updatedAt",
  p.archived_at as "archivedAt"`;

export async function insertProject(
  tx: Tx,
  project: { id: string; name: string; slug: string; at: string },
): Promise<StoredProject> {
  const [row] = await tx.query<StoredProject>(sql`
    insert into projects as p (id, name, slug, created_at, updated_at)
    values (${project.id}, ${project.name}, ${project.slug}, ${project.at}, ${project.at})
    returning ${columns}`);
  return row as StoredProject;
}

export async function findProject(db: Queryable, projectId: string): Promise<StoredProject | undefined> {
  const [row] = await db.query<StoredProject>(sql`select ${columns} from projects p where p.id = ${projectId}`);
  return row;
}

/** Takes the project's row for this transaction: changes of its owners happen one after another. */
export async function lockProject(tx: Tx, projectId: string): Promise<StoredProject | undefined> {
  const [row] = await tx.query<StoredProject>(
    sql`select ${columns} from projects p where p.id = ${projectId} for update`,
  );
  return row;
}

interface ProjectChange {
  name?: string | undefined;
  allowedOrigins?: readonly string[] | undefined;
  allowLocalhostOrigins?: boolean | undefined;
  requireSecondFactor?: boolean | undefined;
  at: string;
}

/** Those of these projects that are active. */
export async function listActive(db: Queryable, projectIds: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    sql`select id from projects where id = any(${projectIds}::uuid[]) and status = 'ACTIVE'`,
  );
  return rows.map(({ id }) => id);
}

/** Changes an active project; undefined when it is archived or not there. */
export async function updateProject(
  db: Queryable,
  projectId: string,
  change: ProjectChange,
): Promise<StoredProject | undefined> {
  const [row] = await db.query<StoredProject>(sql`
    update projects as p set updated_at = ${change.at}
      ${change.name === undefined ? empty : sql`, name = ${change.name}`}
      ${change.allowedOrigins === undefined ? empty : sql`, allowed_origins = ${json(change.allowedOrigins)}::jsonb`}
      ${change.allowLocalhostOrigins === undefined ? empty : sql`, allow_localhost_origins = ${change.allowLocalhostOrigins}`}
      ${change.requireSecondFactor === undefined ? empty : sql`, require_second_factor = ${change.requireSecondFactor}`}
    where p.id = ${projectId} and p.status = 'ACTIVE'
    returning ${columns}`);
  return row;
}

/** Archives an active project; undefined when it is not active: exactly one caller wins. */
export async function archiveProject(db: Queryable, projectId: string, at: string): Promise<StoredProject | undefined> {
  const [row] = await db.query<StoredProject>(sql`
    update projects as p set status = 'ARCHIVED', archived_at = ${at}, updated_at = ${at}
    where p.id = ${projectId} and p.status = 'ACTIVE' returning ${columns}`);
  return row;
}

/** The user's projects with their role, newest first, from after a position. */
export async function listProjectsOf(
  db: Queryable,
  userId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<(StoredProject & { role: DashboardRole })[]> {
  return db.query(sql`
    select ${columns}, m.role from project_members m join projects p on p.id = m.project_id
    where m.user_id = ${userId}
      ${after === null ? empty : sql`and (p.created_at, p.id) < (${after[0]}, ${after[1]}::uuid)`}
    order by p.created_at desc, p.id desc limit ${limit}`);
}

export interface ProjectName {
  id: string;
  name: string;
}

/** The projects that a user owns. */
export async function listOwnedProjects(db: Queryable, userId: string): Promise<ProjectName[]> {
  return db.query(sql`
    select p.id, p.name from project_members m join projects p on p.id = m.project_id
    where m.user_id = ${userId} and m.role = 'OWNER' order by p.created_at`);
}

/** Active ones alone: an archived project makes room for another. */
export async function countOwnedProjects(tx: Tx, userId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*)::int as count from project_members m join projects p on p.id = m.project_id
    where m.user_id = ${userId} and m.role = 'OWNER' and p.status = 'ACTIVE'`);
  return row?.count ?? 0;
}

/** All projects that the owners of this one own. */
export async function listProjectsOfOwners(db: Queryable, projectId: string): Promise<ProjectName[]> {
  return db.query(sql`
    select distinct p.id, p.name from project_members mine
    join project_members theirs on theirs.user_id = mine.user_id and theirs.role = 'OWNER'
    join projects p on p.id = theirs.project_id
    where mine.project_id = ${projectId} and mine.role = 'OWNER'`);
}
