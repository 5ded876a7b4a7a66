import type { ConversationStatus } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** A direct conversation, and whether one of its people is no active member. */
export interface DirectEntry {
  id: string;
  publicId: string;
  status: ConversationStatus;
  isIncomplete: boolean;
}

export async function findDirect(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  key: string,
): Promise<DirectEntry | undefined> {
  const [row] = await db.query<DirectEntry>(sql`
    select c.id, c.public_id as "publicId", c.status,
           exists (select from conversation_members m where m.conversation_id = c.id and not m.active) as "isIncomplete"
    from conversations c
    where c.project_id = ${projectId} and c.environment = ${environment} and c.direct_key = ${key}
      and c.status <> 'DELETED'`);
  return row;
}
