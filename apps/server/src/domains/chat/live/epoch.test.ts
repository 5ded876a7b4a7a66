import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket } from '../../../../testkit/clients/socket-client.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

test('[CHATWS-13] [CHATWS-15] on a restored database conversations have a new epoch, and clients of the old one are not recovered', async () => {
  // Of its own: its database says that it came from another cluster.
  const service = await startService();
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation(['alice']);
  await chat.project.api.call('sendMessage', { room, body: { text: 'before' } });
  const { token } = await chat.user('alice');
  const ask = async ({ url }: TestService, extra: object = {}) => {
    const client = await openSocket(`${url}/v1/chat/ws?token=${token}`);
    const { epoch, recovered } = await subscribe(client, room, extra);
    await client.close();
    return { epoch, recovered };
  };
  const old = await ask(service);

  const stored = () => service.adapters.db.query(sql`select xmin::text, epoch from conversations order by id`);
  const rows = await stored();
  // What a process finds when the data came from another cluster.
  await service.adapters.db.execute(sql`update chat_lineage set mark = 'another cluster'`);
  const restored = await startService({ beside: service });
  const { epoch, recovered } = await ask(restored, { since: 0, epoch: old.epoch });
  assert.notEqual(epoch, old.epoch);
  assert.equal(recovered, false);
  assert.deepEqual(await ask(restored, { since: 0, epoch }), { epoch, recovered: true });

  // [CHATWS-15] However many there are: none of them was written.
  assert.deepEqual(await stored(), rows);

  // The next one finds nothing new.
  const later = await startService({ beside: service });
  assert.deepEqual(await ask(later, { since: 0, epoch }), { epoch, recovered: true });
  await later.stop();

  // The data was away once more and is back in this database.
  await service.adapters.db.execute(sql`update chat_lineage set mark = 'another cluster'`);
  const back = await startService({ beside: service });
  const third = await ask(back, { since: 0, epoch });
  assert.equal(third.recovered, false);
  assert.equal(new Set([old.epoch, epoch, third.epoch]).size, 3);
  await back.stop();
  await restored.stop();
  await service.stop();
});
