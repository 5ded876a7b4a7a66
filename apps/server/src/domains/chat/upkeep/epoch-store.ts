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

/** Gives every conversation a new epoch when the data has been moved here from another database; true when it has. */
export async function renewEpochs(db: Db): Promise<boolean> {
  const mark = await findMark(db);
  return db.transaction(async (tx) => {
    const [moved] = await tx.query<{ isNew: boolean }>(sql`
      insert into chat_lineage (mark) values (${mark}) on conflict (is_one)
      do update set mark = excluded.mark where chat_lineage.mark <> excluded.mark returning xmax = 0 as "isNew"`);
    if (!moved || moved.isNew) return false;
    await tx.execute(sql`update conversations set epoch = left(md5(epoch || ${mark}), 12)`);
    return true;
  });
}

/** Gives every conversation a new epoch, as data that was restored needs: its numbers may be given a second time. */
export const forgetEpochs = (db: Db, seed: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`update conversations set epoch = left(md5(epoch || ${seed}), 12)`);
    await tx.execute(sql`delete from chat_lineage`);
  });
