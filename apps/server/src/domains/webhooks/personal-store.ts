import type { Db } from '../../core/db.ts';
import {
  actorNeedleOf,
  type Erasure,
  needleOf,
  type Place,
  placeAfter,
  withoutPerson,
} from '../../core/personal-data.ts';
import { empty, json, sql } from '../../core/sql.ts';

/**
 * Events that name the user, some rows further. They stay, under the pseudonym and without what the user wrote: what is
 * queued still goes out, and the stream of events has no gap.
 */
export async function rewriteStoredEvents(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  const { projectId, environment } = erasure;
  const after = place === null ? null : (JSON.parse(place) as [string, string]);
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; createdAt: string; data: string | null }>(sql`
      select id, created_at as "createdAt",
        case when strpos(data, ${needleOf(erasure)}) > 0 or strpos(data, ${actorNeedleOf(erasure)}) > 0 then data end as data
      from events where project_id = ${projectId} and environment = ${environment}
        ${after ? sql`and (created_at, id) > (${after[0]}::timestamptz, ${after[1]})` : empty}
      order by created_at, id limit ${limit}`);
    const named = rows.filter(({ data }) => data !== null);
    let touched = 0;
    for (const { id, data } of named) {
      const rewritten = json(withoutPerson(JSON.parse(data ?? 'null'), erasure));
      if (rewritten !== data) touched += await tx.execute(sql`update events set data = ${rewritten} where id = ${id}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ createdAt, id }) => [createdAt, id]) };
  });
}

/** What receivers answered, as far as it was noted, may repeat what they were sent. */
export async function rewriteAttempts(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  const { projectId, userId } = erasure;
  const after = place === null ? null : (JSON.parse(place) as [string, string]);
  return db.transaction(async (tx) => {
    const rows = await tx.query<{
      webhookId: string;
      id: string;
      log: { responseExcerpt?: string | null }[] | null;
    }>(sql`
      select d.webhook_id as "webhookId", d.id,
        case when strpos(d.attempt_log::text, ${userId}) > 0 then d.attempt_log end as log
      from webhooks w cross join lateral (
        select * from deliveries where webhook_id = w.id
          ${after ? sql`and (webhook_id, id) > (${after[0]}, ${after[1]})` : empty}
        order by webhook_id, id limit ${limit}) d
      where w.project_id = ${projectId} and w.environment = ${erasure.environment}
        ${after ? sql`and w.id >= ${after[0]}` : empty}
      order by d.webhook_id, d.id limit ${limit}`);
    const named = rows.filter(({ log }) => log !== null);
    let touched = 0;
    for (const { webhookId, id, log } of named) {
      const without = log?.map((one) =>
        one.responseExcerpt?.includes(needleOf(erasure)) ? { ...one, responseExcerpt: null } : one,
      );
      if (json(without) === json(log)) continue;
      touched += await tx.execute(sql`
        update deliveries set attempt_log = ${json(without)}::jsonb where webhook_id = ${webhookId} and id = ${id}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ webhookId, id }) => [webhookId, id]) };
  });
}
