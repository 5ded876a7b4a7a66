import assert from 'node:assert/strict';
import { eventually } from '../../kit/eventually.ts';
import type { TestService } from '../../kit/service.ts';
import type { World } from '../../kit/world.ts';
import type { Asker } from './ask.ts';
import { guarded, idsOf, isToAnybody } from './table.ts';

interface Places {
  service: TestService;
  ask: Asker['ask'];
  own: World;
  /** Of an owner of its project, whose default environment is its own. */
  session: string;
  others: readonly World[];
}

const userId = 'in-every-project';

/** Everything that can be done to a user is done in one world: in the others, who has the same id notices nothing. */
export async function assertDoneInOne({ service, ask, own, session, others }: Places): Promise<void> {
  const api = service.as(own.apiKey);
  const elsewhere = await Promise.all(others.map((world) => settleIn(service, world)));
  for (const { room, user } of elsewhere) await user.call('sendMessage', { room, body: { text: 'stays' } });

  let deletionId = '';
  const routes = guarded.filter((route) => isToAnybody(route) && route.things.includes('userId'));
  // Not what takes it back again, nor an erasure, which removes what is looked for here (DATA-1).
  const lasting = routes.filter(({ method, name }) => method !== 'DELETE' && name !== 'eraseUser');
  for (const route of lasting) {
    const ids = route.isInProject ? { ...idsOf(route, own), userId } : { userId };
    const { status, code, rest } = await ask(route, ids, route.row.by.includes('apiKey') ? own.apiKey : session);
    assert.ok(status < 300, `${route.name}: ${status} ${code}`);
    if (route.name === 'deleteUserMessages') deletionId = JSON.parse(rest).id;
  }
  await eventually(async () => assert.equal((await api.call('getChatDeletion', { deletionId })).status, 'DONE'));
  for (const list of ['listChatBans', 'listChatMutes', 'listChatShadows'] as const) {
    assert.ok((await api.call(list)).some((one) => one.userId === userId));
    for (const other of elsewhere) assert.deepEqual(await other.api.call(list), []);
  }
  for (const other of elsewhere) await assertUntouched(other);
}

type Settled = Awaited<ReturnType<typeof settleIn>>;

async function settleIn(service: TestService, { apiKey }: World) {
  const api = service.as(apiKey);
  const { id: room } = await api.call('createConversation', { body: { name: userId, members: [userId] } });
  const { token } = await api.call('mintChatToken', { body: { userId } });
  return { api, room, user: service.as(token) };
}

async function assertUntouched({ api, room, user }: Settled): Promise<void> {
  assert.equal((await api.call('getChatUser', { userId })).createdAt, null);
  await user.call('sendMessage', { room, body: { text: 'still speaks' } });
  const { messages } = await user.call('listMessages', { room });
  const found = messages.map(({ text, senderId }) => `${senderId}: ${text}`);
  assert.deepEqual(found, [`${userId}: still speaks`, `${userId}: stays`]);
}
