import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rowsRead } from '../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../testkit/kit/test-database.ts';
import { raw, sql } from '../../core/sql.ts';
import { countJoinedViewers, findRoom, lockRoom } from './room-store.ts';
import { findLiveSession, listJoinedMembers } from './session-store.ts';

const scope = { projectId: '00000000-0000-0000-0000-000000000001', environment: 'DEVELOPMENT' } as const;
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  await db.execute(sql`
    insert into projects (id, name, slug, created_at, updated_at)
    select ${scope.projectId}, 'p', 'p', now(), now()`);
});
after(() => database.close());

async function fillRoom(id: string, viewers: number): Promise<void> {
  const { db } = database;
  await db.execute(sql`
    insert into rooms (id, project_id, environment, name, member_count, viewer_count, created_at, updated_at)
    values (${id}, ${scope.projectId}, 'DEVELOPMENT', ${id}, 4, ${viewers}, now(), now())`);
  await db.execute(sql`
    insert into participant_sessions (id, project_id, environment, room_id, room_session_id, identity, kind, token_id,
      permissions, server_name, process_id, resume_hash, is_publisher, created_at, joined_at)
    select ${id} || g, ${scope.projectId}, 'DEVELOPMENT', ${id}, 's', 'u' || g,
      case when g <= 4 then 'MEMBER' else 'VIEWER' end, 't' || g, '{}', 'node', 'process', '\\x00', g = 1, now(),
      case when g <> 4 then now() end
    from generate_series(1, ${viewers + 4}::int) g`);
}

/** How many rows of stays the statements of a join read. */
const readOf = (roomId: string): Promise<number> =>
  rowsRead(database.db, 'participant_sessions', async (tx) => {
    await findRoom(tx, scope, roomId);
    await lockRoom(tx, scope, roomId);
    await findLiveSession(tx, roomId, 'u2');
    const members = await listJoinedMembers(tx, roomId);
    assert.deepEqual(
      members.map(({ identity }) => identity),
      ['u1', 'u2', 'u3'],
    );
  });

test('[RUN-33] a join reads as much of a room with many viewers as of one with few', async () => {
  await fillRoom('few', 10);
  await fillRoom('many', 10_000);
  await database.db.execute(raw('analyze participant_sessions'));
  const room = await findRoom(database.db, scope, 'many');
  assert.deepEqual([room?.joinedCount, room?.publisherCount], [10_003, 1], 'one holds a place and has not joined');
  const [few, many] = [await readOf('few'), await readOf('many')];
  assert.ok(few > 0);
  assert.equal(many, few);
});

test('[LIVE-10] the audience of a stream is counted without reading those who watch', async () => {
  for (const id of ['stream-of-few', 'stream-of-many']) await fillRoom(id, id === 'stream-of-few' ? 10 : 10_000);
  await database.db.execute(sql`
    update participant_sessions set joined_at = null where room_id = 'stream-of-many' and identity in ('u20', 'u21')`);
  await database.db.execute(raw('analyze participant_sessions'));
  assert.equal(await countJoinedViewers(database.db, 'stream-of-many'), 9_998, 'two hold a place and have not joined');
  const readOfCount = (id: string): Promise<number> =>
    rowsRead(database.db, 'participant_sessions', async (tx) => void (await countJoinedViewers(tx, id)));
  assert.ok((await readOfCount('stream-of-few')) <= 1);
  assert.ok((await readOfCount('stream-of-many')) <= 3);
});
