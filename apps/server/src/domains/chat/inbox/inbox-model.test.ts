import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InboxEntry } from '@parley/contract';
import type { Api } from '@parley/server';
import fc from 'fast-check';
import {
  InboxModel,
  type InboxStep,
  inboxStep,
  PEOPLE,
  type Person,
  ROOMS,
  shownOf,
} from '../../../../testkit/chat/inbox-model.ts';
import { isWhole } from '../../../../testkit/kit/part.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

/** Random steps against a model. On PostgreSQL more of them; `PARLEY_MODEL_RUNS` makes it longer, `PARLEY_MODEL_SEED` another. */
const RUNS = Number(process.env['PARLEY_MODEL_RUNS'] ?? (isWhole ? 6 : 2));
const SEED = Number(process.env['PARLEY_MODEL_SEED'] ?? 11);

let service: TestService;
before(async () => {
  service = await startService({ env: { RATE_LIMIT_WINDOW_SECONDS: '1' } });
});
after(() => service.stop());

interface Stage {
  server: Api;
  users: Map<Person, Api>;
  model: InboxModel;
}

async function createStage(): Promise<Stage> {
  const server = (await service.newProject()).api;
  const users = new Map<Person, Api>();
  for (const userId of PEOPLE)
    users.set(userId, service.as((await server.call('mintChatToken', { body: { userId } })).token));
  const rooms = [];
  for (let at = 0; at < ROOMS; at++) {
    const body = { name: `inbox-${at}`, members: [...PEOPLE], retentionDays: 7 };
    rooms.push(await server.call('createConversation', { body }));
  }
  return { server, users, model: new InboxModel(rooms) };
}

/** Does a step as its user would, if they could. */
async function perform({ server, model }: Stage, step: InboxStep): Promise<void> {
  const { id: room = '' } = model.rooms[step.room] ?? {};
  const [{ isActive }, userId] = [model.member(step), step.by];
  if ('whom' in step) return performBlock(server, step);
  if (step.does === 'join') return void (await server.call('addConversationMember', { room, body: { userId } }));
  if (!isActive) return;
  if (step.does === 'leave') return void (await server.call('removeConversationMember', { room, userId }));
  if ('at' in step) return performOnMessage(server, model, step);
  if (step.does === 'unreadLast') return void (await server.call('markUnread', { room, body: { userId } }));
  await server.call('changeInboxEntry', { room, body: { ...flags[step.does], userId } });
}

async function performBlock(server: Api, { by: userId, does, whom: blockedId }: InboxStep & { whom: Person }) {
  if (userId === blockedId) return;
  const route = does === 'block' ? 'blockUser' : 'unblockUser';
  await server.call(route, { blockedId, query: { userId } });
}

const flags: Readonly<Record<string, object>> = {
  mute: { muted: true },
  unmute: { muted: false },
  pin: { pinned: true },
  unpin: { pinned: false },
  hide: { hidden: true },
  show: { hidden: false },
};

async function performOnMessage(server: Api, model: InboxModel, step: InboxStep & { at: number }): Promise<void> {
  const { id: messageId } = model.aim(step) ?? {};
  const { id: room = '' } = model.rooms[step.room] ?? {};
  if (messageId === undefined) return;
  const userId = step.by;
  if (step.does === 'read') await server.call('markRead', { messageId, body: { userId } });
  if (step.does === 'unread') await server.call('markUnread', { room, body: { messageId, userId } });
  if (step.does === 'edit') await server.call('editMessage', { messageId, body: { text: 'edited' } });
  if (step.does === 'delete') await server.call('deleteMessage', { messageId });
  if (step.does !== 'retire') return;
  await service.adapters.db.execute(sql`
    update messages m set created_at = m.created_at - interval '8 days' from messages last
    where last.id = ${messageId} and m.conversation_id = last.conversation_id and m.position <= last.position`);
  await service.service.chat.sweep.retention();
}

async function send({ server, model }: Stage, step: InboxStep & { does: 'send' }): Promise<void> {
  if (!model.member(step).isActive) return;
  const { id: room = '' } = model.rooms[step.room] ?? {};
  const { id, createdAt: at } = await server.call('sendMessage', { room, body: { text: 'x', senderId: step.by } });
  if (step.mentions !== null) {
    await service.adapters.db.execute(sql`
      insert into message_mentions (conversation_id, user_id, position)
      select conversation_id, ${step.mentions === 'all' ? '' : step.mentions}, position from messages where id = ${id}`);
  }
  model.sent(step, { id, at, mentions: step.mentions });
}

const byId = (left: { id: string }, right: { id: string }): number => (left.id < right.id ? -1 : 1);

/** Where an entry belongs: later texts come first. */
const orderOf = ({ pinnedAt, lastActivityAt }: InboxEntry): string =>
  pinnedAt === null ? `0 ${lastActivityAt}` : `1 ${pinnedAt}`;

async function compare({ users, model }: Stage): Promise<void> {
  for (const [person, user] of users) {
    const entries = await user.call('listInbox', {});
    assert.deepEqual(entries.map(shownOf).sort(byId), model.entries(person).sort(byId), `inbox of ${person}`);
    const order = entries.map(orderOf);
    assert.deepEqual(order, [...order].sort().reverse(), `order of ${person}`);
    assert.deepEqual(await user.call('getInboxBadge', {}), model.badge(person), `badge of ${person}`);
  }
}

test('[INB-5] [INB-6] [INB-7] whatever is sent, read, marked, deleted, retired, blocked, hidden or left, inboxes and badges are what a model counts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 10, maxLength: 40 }), async (steps) => {
      const stage = await createStage();
      for (const [at, step] of steps.entries()) {
        if (step.does === 'send') await send(stage, step);
        else {
          await perform(stage, step);
          if ('whom' in step) {
            if (step.whom !== step.by) stage.model.block(step);
          }
          // Who is gone can only come back.
          else if (stage.model.member(step).isActive || step.does === 'join') stage.model.apply(step);
        }
        if (at % 4 === 3) await compare(stage);
      }
      await compare(stage);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

/** What the messages themselves say is unread after a mark. */
async function recount(
  { server }: Stage,
  { conversation, lastReadSeq }: InboxEntry,
  blocked: ReadonlySet<string>,
): Promise<number> {
  const { messages } = await server.call('listMessages', { room: conversation.id, query: { limit: 100 } });
  return messages.filter(({ seq, senderId }) => seq > (lastReadSeq ?? 0) && !blocked.has(senderId ?? '')).length;
}

test('[INB-6] [INB-7] all at once, what is unread is what a count of the messages after the mark gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 20, maxLength: 60 }), async (steps) => {
      const stage = await createStage();
      for (const by of PEOPLE)
        for (let room = 0; room < ROOMS; room++) await send(stage, { does: 'send', room, by, mentions: null });
      const quiet = new Set(['join', 'leave', 'retire', 'send']);
      // Those that were there when all began.
      const aims = steps.flatMap((step) => ('at' in step ? { ...step, at: step.at % PEOPLE.length } : step));
      await Promise.all(
        aims.map(async (step) => {
          const outcome = quiet.has(step.does) ? sendPlainly(stage, step) : perform(stage, step);
          // One may delete what another is about to mark.
          await outcome.catch((error) => assert.ok([404, 409].includes(error.status), String(error)));
        }),
      );
      for (const user of stage.users.values()) {
        const blocked = new Set((await user.call('listBlocks', {})).map(({ blockedId }) => blockedId));
        const entries = [
          ...(await user.call('listInbox', {})),
          ...(await user.call('listInbox', { query: { hidden: true } })),
        ];
        assert.equal(entries.length, ROOMS);
        for (const entry of entries) assert.equal(entry.unreadCount, await recount(stage, entry, blocked));
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

const sendPlainly = ({ server, model }: Stage, { room, by }: InboxStep): Promise<unknown> =>
  server.call('sendMessage', { room: model.rooms[room]?.id ?? '', body: { text: 'x', senderId: by } });
