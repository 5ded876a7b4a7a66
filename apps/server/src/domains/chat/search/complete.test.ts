import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import type { ApiKeyCaller } from '../../../core/caller.ts';
import { systemClock } from '../../../core/clock.ts';
import { createCursors } from '../../../core/cursors.ts';
import type { Reader } from '../../../core/db.ts';
import { createKeyring } from '../../../core/keyring.ts';
import { sql } from '../../../core/sql.ts';
import { createSearch } from './search.ts';

test('[SEA-7] an answer is not complete where old messages get their terms behind its look into the index', async (t) => {
  const { db, close } = await openTestDatabase();
  t.after(close);
  const uuid = randomUUID();
  await db.execute(sql`
    insert into projects (id, name, slug, created_at, updated_at) select ${uuid}, 'old', 'old', now(), now()`);
  await db.execute(sql`
    insert into conversations (id, public_id, project_id, environment, name, type, epoch, created_at, updated_at)
    select ${uuid}, 'old', ${uuid}, 'DEVELOPMENT', 'old', 'GROUP', '', now(), now()`);
  await db.execute(sql`insert into search_backlog (conversation_id) select ${uuid}`);
  const from: Reader = {
    async query(statement) {
      const rows = await db.query<never>(statement);
      if (statement.text.includes('from message_search')) await db.execute(sql`delete from search_backlog`);
      return rows;
    },
  };
  const replicated = {
    together: <T>(_: number, work: (from: Reader, isReplica: boolean) => Promise<T>) => work(from, false),
  };
  const cursors = createCursors(createKeyring('a key of this test alone'));
  const search = createSearch({ db, replicated, clock: systemClock, cursors, entries: null as never });
  const caller = { kind: 'apiKey', projectId: uuid, environment: 'DEVELOPMENT' } as ApiKeyCaller;
  const isComplete = async () => JSON.parse((await search.search(caller, { q: 'mammoth' })).text).complete as boolean;
  assert.equal(await isComplete(), false);
  assert.equal(await isComplete(), true, 'nothing waits any more');
});
