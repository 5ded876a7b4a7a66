import type { Db, Queryable } from '../../core/db.ts';
import {
  chatActor,
  type Erasure,
  needleOf,
  type Person,
  type Place,
  placeAfter,
  withoutPerson,
} from '../../core/personal-data.ts';
import { empty, json, sql } from '../../core/sql.ts';

interface EntryRow {
  id: string;
  resourceId: string;
  actorEmail: string;
  createdAt: string;
  isNamed: boolean;
  metadata: unknown;
}

/**
 * Entries that are about a user: who of the team did what stays, to whom does not. The table lets nothing else be
 * changed: the transaction tells it whose id may go.
 */
export async function renameEntries(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  const { projectId, environment, userId, pseudonym } = erasure;
  const actor = chatActor(userId);
  const after = place === null ? null : (JSON.parse(place) as [string, string]);
  return db.transaction(async (tx) => {
    const rows = await tx.query<EntryRow>(sql`
      select id, resource_id as "resourceId", actor_email as "actorEmail", created_at as "createdAt", metadata,
        environment = ${environment} and (
          resource_id = ${userId} or actor_email = ${actor} or strpos(metadata::text, ${needleOf(erasure)}) > 0)
          as "isNamed"
      from audit_entries where project_id = ${projectId}
        ${after ? sql`and (created_at, id) < (${after[0]}::timestamptz, ${after[1]})` : empty}
      order by created_at desc, id desc limit ${limit}`);
    const named = rows.filter(({ isNamed }) => isNamed);
    let touched = 0;
    if (named.length > 0) await tx.query(sql`select set_config('parley.audit_erased_user', ${userId}, true)`);
    for (const { id, resourceId, actorEmail, metadata } of named) {
      const rewritten = json(withoutPerson(metadata, erasure));
      if (resourceId !== userId && actorEmail !== actor && rewritten === json(metadata)) continue;
      touched += await tx.execute(sql`
        update audit_entries set metadata = ${rewritten}::jsonb,
          resource_id = case when resource_id = ${userId} then ${pseudonym} else resource_id end
          ${actorEmail === actor ? sql`, actor_email = ${chatActor(pseudonym)}, ip_address = '', user_agent = null` : empty}
        where id = ${id}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ createdAt, id }) => [createdAt, id]) };
  });
}

/** What was done to a user; not by whom. */
export async function listEntriesAbout(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ id: string }>(sql`
    select id, action, created_at as "createdAt" from audit_entries
    where project_id = ${projectId} and environment = ${environment} and resource_type = 'user'
      and resource_id = ${userId} ${place === null ? empty : sql`and id > ${JSON.parse(place)}`}
    order by id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}
