import type { Db, Queryable } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** The cluster, its line of recovery and the database in it: a dump or a backup that was restored differs in one of them. */
async function findMark(db: Queryable): Promise<string> {
  const [row] = await db.query<{ mark: string }>(sql`
    select concat_ws('/', (select system_identifier from pg_control_system()),
      (select timeline_id from pg_control_checkpoint()),
      (select oid from pg_database where datname = current_database())) as mark`);
  if (!row) throw new Error('the database does not say which one it is');
  return row.mark;
}

/**
 * Gives every conversation a new epoch when the data has been moved here from another database; true when it has. One
 * row says so for all of them, however many there are. It stands on the one before it: data that comes back to a
 * database has not the epochs that it had there.
 */
export async function renewEpochs(db: Db): Promise<boolean> {
  const mark = await findMark(db);
  return db.transaction(async (tx) => {
    const [known] = await tx.query<{ mark: string }>(sql`select mark from chat_lineage for update`);
    const changed = await tx.execute(sql`
      insert into chat_lineage (mark) values (${mark}) on conflict (is_one)
      do update set mark = excluded.mark,
        seed = case when chat_lineage.mark = ${anyMark} then chat_lineage.seed
                    else md5(coalesce(chat_lineage.seed, '') || excluded.mark) end
      where chat_lineage.mark <> excluded.mark`);
    return changed > 0 && known !== undefined && known.mark !== anyMark;
  });
}

/** Of data that was restored: whichever database it is in now, its epochs are new already. */
const anyMark = '';

/** Gives every conversation a new epoch, as data that was restored needs: its numbers may be given a second time. */
export async function forgetEpochs(db: Db, seed: string): Promise<void> {
  await db.execute(sql`
    insert into chat_lineage (mark, seed) values (${anyMark}, ${seed})
    on conflict (is_one) do update set mark = excluded.mark, seed = excluded.seed`);
}
