import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { type Sql, sql } from '../../../core/sql.ts';
import { fairly } from '../upkeep/fair-store.ts';
import type { ClaimRange } from '../upkeep/triggered-work.ts';

/** A link that one process looks at until its claim runs out. */
export interface ClaimedLink extends ProjectScope {
  messageId: string;
  conversationUuid: string;
  conversationId: string;
  url: string;
  tries: number;
}

/** True while `claimLinks` finds any. */
export const isLinkDue = (now: string): Sql => hasFirst(sql`from link_previews where due_at <= ${now}`, 'due_at');

export async function claimLinks(db: Db, { now, until, limit }: ClaimRange): Promise<ClaimedLink[]> {
  const next = fairly(
    sql`select message_id as id, conversation_id, conversation_id as owner, due_at as at from link_previews
      where due_at <= ${now} order by due_at`,
    limit,
  );
  return db.query<ClaimedLink>(sql`
    with claimed as (
      update link_previews set due_at = ${until}, tries = tries + 1
      where message_id in (
        select message_id from link_previews where message_id = any(array(${next})) and due_at <= ${now}
        for update skip locked)
      returning *)
    select l.message_id as "messageId", c.id as "conversationUuid", c.public_id as "conversationId",
      c.project_id as "projectId", c.environment, l.url, l.tries
    from claimed l join conversations c on c.id = l.conversation_id`);
}

/** False when its message has another text by now, or none. */
export async function endLink(tx: Tx, { messageId, url }: Pick<ClaimedLink, 'messageId' | 'url'>): Promise<boolean> {
  const touched = await tx.execute(sql`delete from link_previews where message_id = ${messageId} and url = ${url}`);
  return touched === 1;
}

/** The link of an edited text takes the place of the one before; undefined for none. */
export async function replaceLink(
  tx: Tx,
  { id, conversationUuid }: { id: string; conversationUuid: string },
  url: string | undefined,
  at: string,
): Promise<void> {
  await tx.execute(sql`delete from link_previews where message_id = ${id}`);
  if (url !== undefined)
    await tx.execute(sql`
      insert into link_previews (message_id, conversation_id, url, due_at)
      values (${id}, ${conversationUuid}, ${url}, ${at})`);
}

/** Those whose message is gone. */
export async function deleteLost(db: Queryable, limit: number): Promise<number> {
  return db.execute(sql`
    delete from link_previews where ctid = any(array(
      select l.ctid from link_previews l
      where not exists (select from messages m where m.id = l.message_id and m.deleted_at is null) limit ${limit}))`);
}
