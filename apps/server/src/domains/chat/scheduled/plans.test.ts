import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { type Sql, sql } from '../../../core/sql.ts';
import { insertScheduled, listScheduled } from './scheduled-store.ts';

test('[SCHED-4] what waits is found and counted without a walk over what was sent', async () => {
  const service = await sharedService();
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation();
  const { db } = service.adapters;
  const [found] = await db.query<{ id: string }>(sql`select id from conversations where public_id = ${room}`);
  const conversationUuid = found?.id ?? '';
  const scope = { projectId: chat.project.id, environment: 'DEVELOPMENT' } as const;
  await db.execute(sql`
    insert into scheduled_messages (id, conversation_id, project_id, environment, message_id, user_id, issued, draft,
                                    send_at, status, created_at, updated_at)
    select ${room} || n, ${conversationUuid}, ${scope.projectId}, ${scope.environment}, 'msg_' || n, 'alice', '{}', '{}',
           now() - n * interval '1 minute', 'SENT', now(), now()
    from generate_series(1, 5000) n`);
  await db.execute(sql`analyze scheduled_messages`);
  const plans: string[] = [];
  const explain = async (statement: Sql): Promise<never> => {
    plans.push(JSON.stringify(await db.query(sql`explain ${statement}`)));
    return [] as never;
  };
  const explaining = { query: explain, execute: explain } as unknown as Queryable & Tx;
  await listScheduled(explaining, conversationUuid, { userId: 'alice', after: null, limit: 50 });
  const at = new Date().toISOString();
  const row = { ...scope, id: 'x', conversationUuid, messageId: 'm', userId: 'alice', issued: { keyId: null } };
  await insertScheduled(explaining, { ...row, draft: {}, sendAt: at, at }, 5);
  for (const plan of plans) assert.match(plan, /scheduled_messages_waiting/);
  assert.equal(plans.length, 2);
});
