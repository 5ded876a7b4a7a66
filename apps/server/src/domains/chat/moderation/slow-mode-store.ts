import type { Queryable } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** When a member may send again. */
export async function findSlowMode(
  db: Queryable,
  conversationUuid: string,
  userId: string,
): Promise<{ nextAt: string | null } | undefined> {
  const [row] = await db.query<{ nextAt: string | null }>(sql`
    select p.last_sent_at + make_interval(secs => c.slow_mode_seconds) as "nextAt"
    from conversations c join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId}
    where c.id = ${conversationUuid}`);
  return row;
}
