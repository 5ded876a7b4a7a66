import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import type { Db } from '../../../core/db.ts';
import { raw, sql } from '../../../core/sql.ts';

let [db, chat]: [Db?, ChatOf?] = [];
before(async () => {
  const service = await sharedService();
  [db, chat] = [service.adapters.db, await createChatKit(service)];
});

const refused = {
  conversations: [
    'conversations_values',
    ["environment = 'STAGING'", "type = 'CLUB'", "status = 'GONE'", 'retention_days = 0', 'retention_days = 3651'],
    ['slow_mode_seconds = -1', 'slow_mode_seconds = 21601'],
  ],
  conversation_members: ['conversation_members_role', ["role = 'KING'"], ["role = ''"]],
} as const;

for (const [table, [constraint, ...values]] of Object.entries(refused))
  test(`[STO-5] values that a row of ${table} must not have are refused by triggers as by a CHECK`, async () => {
    const { uuid } = (await chat?.conversation(['alice'])) ?? assert.fail();
    const column = raw(table === 'conversations' ? 'id' : 'conversation_id');
    const set = (value: string) => db?.execute(sql`update ${raw(table)} set ${raw(value)} where ${column} = ${uuid}`);
    for (const value of values.flat())
      await assert.rejects(set(value) ?? assert.fail(), { name: 'ConstraintViolation', kind: 'check', constraint });
  });

test('[STO-5] values at their bounds are taken', async () => {
  const { uuid } = (await chat?.conversation(['alice'])) ?? assert.fail();
  for (const days of [null, 1, 3650])
    for (const seconds of [0, 21_600])
      assert.equal(
        await db?.execute(
          sql`update conversations set retention_days = ${days}, slow_mode_seconds = ${seconds} where id = ${uuid}`,
        ),
        1,
      );
});
