import { openEmbedded } from '../../src/adapters/db/embedded/embedded.ts';
import { createPostgres } from '../../src/adapters/db/postgres/postgres.ts';
import { sql } from '../../src/core/sql.ts';

/** A process that writes to a data folder or to PostgreSQL until it is killed. Its parent hears what it found and stored. */
export type WriterMessage = { kind: 'found'; ids: string[] } | { kind: 'stored'; id: string };

const [target = '', round = ''] = process.argv.slice(2);
const report = (message: WriterMessage) => process.send?.(message);

const db = target.startsWith('postgres') ? createPostgres({ url: target }) : await openEmbedded({ folder: target });
await db.script(`create table if not exists kept (id text primary key, half integer not null);`);
const rows = await db.query<{ id: string; halves: number }>(
  sql`select split_part(id, '/', 1) as id, count(*) as halves from kept group by 1 having count(*) = 2`,
);
report({ kind: 'found', ids: rows.map(({ id }) => id) });

async function writeUntilKilled(writer: number): Promise<void> {
  for (let i = 0; ; i += 1) {
    const id = `${round}-${writer}-${i}`;
    if (i % 2) {
      await db.execute(sql`insert into kept values (${`${id}/a`}, 1), (${`${id}/b`}, 2)`);
    } else {
      await db.transaction(async (tx) => {
        await tx.execute(sql`insert into kept values (${`${id}/a`}, 1)`);
        await tx.execute(sql`insert into kept values (${`${id}/b`}, 2)`);
      });
    }
    report({ kind: 'stored', id });
  }
}

await Promise.all([0, 1, 2, 3, 4].map(writeUntilKilled));
