import { type Environment, fail, type Limits, type Project, type UpdateAllowedOrigins } from '@parley/contract';
import type { ApiKeyCaller, ProjectSessionCaller, SessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, type AuditSubject, page, recorded } from '../../core/handlers.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import { serializedOrigin } from '../../core/origins.ts';
import { failQuota, lockByName } from '../../core/quotas.ts';
import type { Access } from './access.ts';
import { insertMember } from './member-store.ts';
import {
  archiveProject,
  countOwnedProjects,
  findProject,
  insertProject,
  listProjectsOf,
  type StoredProject,
  updateProject,
} from './project-store.ts';

export interface ProjectDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  access: Access;
}

export function createProjects({ db, clock, ids, cursors, limits, access }: ProjectDeps) {
  const seenBy = (stored: StoredProject, caller: { environment?: Environment; role?: Project['role'] }): Project => ({
    ...stored,
    environment: caller.environment ?? null,
    role: caller.role ?? null,
  });

  async function create(caller: SessionCaller, { name }: { name: string }): Promise<Answer<Project>> {
    const at = iso(clock.now());
    const ownedMax = limits.PROJECTS_MAX_PER_ACCOUNT;
    const stored = await db.transaction(async (tx) => {
      await tx.query(lockByName(`projects of ${caller.userId}`));
      if ((await countOwnedProjects(tx, caller.userId)) >= ownedMax) failQuota('PROJECTS_MAX_PER_ACCOUNT', ownedMax);
      const project = await insertProject(tx, { id: ids.newUuid(), name, slug: slugOf(name), at });
      await insertMember(tx, project.id, { email: caller.email, userId: caller.userId, role: 'OWNER', at });
      return project;
    });
    return recorded(seenBy(stored, { role: 'OWNER' }), { resourceId: stored.id, projectId: stored.id });
  }

  async function list(caller: SessionCaller, { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string }) {
    const scope = `projects/${caller.userId}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listProjectsOf(db, caller.userId, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(
      items.map((row) => seenBy(row, row)),
      nextCursor,
    );
  }

  async function get(caller: ApiKeyCaller | ProjectSessionCaller): Promise<Project> {
    const stored = (await findProject(db, caller.projectId)) ?? fail('SVC_PROJECT_NOT_FOUND');
    return seenBy(stored, caller);
  }

  /** Records which fields were given, never their values. */
  async function change(
    caller: ProjectSessionCaller,
    fields: {
      name?: string;
      allowedOrigins?: string[];
      allowLocalhostOrigins?: boolean;
      requireSecondFactor?: boolean;
    },
  ) {
    const stored =
      (await updateProject(db, caller.projectId, { ...fields, at: iso(clock.now()) })) ?? fail('SVC_PROJECT_ARCHIVED');
    access.forgetProject(caller.projectId);
    const names = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    const subject: AuditSubject | null =
      names.length === 0 ? null : { resourceId: stored.id, metadata: { fields: names } };
    return recorded(seenBy(stored, caller), subject);
  }

  async function setOrigins(
    caller: ProjectSessionCaller,
    { allowedOrigins, allowLocalhostOrigins }: UpdateAllowedOrigins,
  ) {
    const origins = new Set(allowedOrigins.map((text, index) => readOrigin(text, index)));
    return change(caller, {
      allowedOrigins: [...origins],
      ...(allowLocalhostOrigins === undefined ? {} : { allowLocalhostOrigins }),
    });
  }

  /** Who asks others for a second factor has proven one: nobody locks themselves out. */
  async function secure(caller: ProjectSessionCaller, { requireSecondFactor }: { requireSecondFactor: boolean }) {
    if (requireSecondFactor && caller.factorAt === null) fail('SVC_PROJECT_REQUIRES_SECOND_FACTOR');
    return change(caller, { requireSecondFactor });
  }

  async function archive(caller: ProjectSessionCaller): Promise<Answer<Project>> {
    const archived = await archiveProject(db, caller.projectId, iso(clock.now()));
    access.forgetProject(caller.projectId);
    if (!archived) return recorded(await get(caller), null);
    return recorded(seenBy(archived, caller), { resourceId: archived.id });
  }

  return { create, list, get, rename: change, setOrigins, secure, archive };
}

function readOrigin(text: string, index: number): string {
  const message = `allowedOrigins.${index} must be an origin such as https://app.example.com.`;
  return (
    serializedOrigin(text) ??
    fail('SVC_VALIDATION_FAILED', { message, details: [{ field: `allowedOrigins.${index}`, rule: 'origin', message }] })
  );
}

/** A readable handle; the random tail keeps projects of the same name apart. */
function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
  return [words, randomBase62(6).toLowerCase()].filter((part) => part !== '').join('-');
}
