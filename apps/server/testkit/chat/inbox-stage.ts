import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { InboxBadge, InboxEntry } from '@parley/contract';
import type { Api } from '@parley/server';
import { sql } from '../../src/core/sql.ts';
import type { TestService } from '../kit/service.ts';
import { InboxModel, type InboxStep, PEOPLE, type Person, ROOMS, shownOf } from './inbox-model.ts';

/** A project with a model beside it: what is done in the one is done in the other. */
export interface InboxStage {
  /** What retention is run in; null where no step retires. */
  service: TestService | null;
  server: Api;
  users: Map<Person, Api>;
  model: InboxModel;
}

export interface InboxStageWithin extends InboxStage {
  /** Makes every entry dormant that can be; gives how many. */
  settle(): Promise<number>;
}

export async function createInboxStage(service: TestService): Promise<InboxStageWithin> {
  const project = await service.newProject();
  const scope = { projectId: project.id, environment: 'DEVELOPMENT' } as const;
  async function settle(): Promise<number> {
    let settled = 0;
    // Whatever was sent until now is long ago.
    for (const userId of PEOPLE) settled += await service.service.chat.settleInbox({ scope, userId }, 0, -1_000);
    return settled;
  }
  return { service, settle, ...(await createCast(project.api, service.as)) };
}

/** Conversations of three people, and each of them as a client. */
export async function createCast(server: Api, as: (token: string) => Api): Promise<Omit<InboxStage, 'service'>> {
  const users = new Map<Person, Api>();
  for (const userId of PEOPLE) users.set(userId, as((await server.call('mintChatToken', { body: { userId } })).token));
  const rooms = [];
  for (let at = 0; at < ROOMS; at++) {
    const body = { name: `inbox-${at}`, members: [...PEOPLE], retentionDays: 7 };
    rooms.push(await server.call('createConversation', { body }));
  }
  return { server, users, model: new InboxModel(rooms) };
}

/** Does a step as its user would, if they could. */
export async function perform({ service, server, model }: InboxStage, step: InboxStep): Promise<void> {
  const { id: room = '' } = model.rooms[step.room] ?? {};
  const [{ isActive }, userId] = [model.member(step), step.by];
  if ('whom' in step) return performBlock(server, step);
  if (step.does === 'join') return void (await server.call('addConversationMember', { room, body: { userId } }));
  if (!isActive) return;
  if (step.does === 'leave') return void (await server.call('removeConversationMember', { room, userId }));
  if ('at' in step) return performOnMessage(service, server, model, step);
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

async function performOnMessage(
  service: TestService | null,
  server: Api,
  model: InboxModel,
  step: InboxStep & { at: number },
): Promise<void> {
  const { id: messageId } = model.aim(step) ?? {};
  const { id: room = '' } = model.rooms[step.room] ?? {};
  if (messageId === undefined) return;
  const userId = step.by;
  if (step.does === 'read') await server.call('markRead', { messageId, body: { userId } });
  if (step.does === 'unread') await server.call('markUnread', { room, body: { messageId, userId } });
  if (step.does === 'edit') await server.call('editMessage', { messageId, body: { text: 'edited' } });
  if (step.does === 'delete') await server.call('deleteMessage', { messageId });
  if (step.does !== 'retire') return;
  assert.ok(service, 'nothing to retire in');
  await service.adapters.db.execute(sql`
    update messages m set created_at = m.created_at - interval '8 days' from messages last
    where last.id = ${messageId} and m.conversation_id = last.conversation_id and m.position <= last.position`);
  await service.service.chat.sweep.retention();
}

export async function send({ server, model }: InboxStage, step: InboxStep & { does: 'send' }): Promise<void> {
  if (!model.member(step).isActive) return;
  const { id: room = '' } = model.rooms[step.room] ?? {};
  const mentions = mentionsOf(model, step);
  const body = { text: 'x', senderId: step.by, clientMessageId: randomUUID(), ...mentionsIn(mentions) };
  const { id, createdAt: at } = await server.call('sendMessage', { room, body });
  model.sent(step, { id, at, mentions });
}

/** Who has left is mentioned by nothing. */
const mentionsOf = (model: InboxModel, { room, mentions }: InboxStep & { does: 'send' }): Person | 'all' | null =>
  mentions === null || mentions === 'all' || model.member({ room, by: mentions }).isActive ? mentions : null;

const mentionsIn = (mentions: Person | 'all' | null): { mentions?: { all: true } | { users: Person[] } } =>
  mentions === null ? {} : { mentions: mentions === 'all' ? { all: true } : { users: [mentions] } };

/** One step, in both. */
export async function take(stage: InboxStage, step: InboxStep): Promise<void> {
  if (step.does === 'send') return send(stage, step);
  await perform(stage, step);
  if ('whom' in step) {
    if (step.whom !== step.by) stage.model.block(step);
  }
  // Who is gone can only come back.
  else if (stage.model.member(step).isActive || step.does === 'join') stage.model.apply(step);
}

const byId = (left: { id: string }, right: { id: string }): number => (left.id < right.id ? -1 : 1);

/** Where an entry belongs: later texts come first. */
const orderOf = ({ pinnedAt, lastActivityAt }: InboxEntry): string =>
  pinnedAt === null ? `0 ${lastActivityAt}` : `1 ${pinnedAt}`;

/** What the service lists and counts is what the model does, for everybody. */
export async function compare({ users, model }: InboxStage): Promise<void> {
  for (const [person, user] of users) {
    const entries = await user.call('listInbox', {});
    assert.deepEqual(entries.map(shownOf).sort(byId), model.entries(person).sort(byId), `inbox of ${person}`);
    const order = entries.map(orderOf);
    assert.deepEqual(order, [...order].sort().reverse(), `order of ${person}`);
    assert.deepEqual(await user.call('getInboxBadge', {}), model.badge(person), `badge of ${person}`);
    await comparePages(user, entries, model.badge(person));
  }
}

/** Wherever the inbox is cut, its two parts make up the badge. */
async function comparePages(user: Api, entries: readonly InboxEntry[], badge: InboxBadge): Promise<void> {
  for (let limit = 1; limit < entries.length; limit++) {
    const { body: page, headers } = await user.request('listInbox', { query: { limit } });
    const cursor = headers.get('x-next-cursor') ?? assert.fail('there are more');
    const rest = await user.call('getInboxBadge', { query: { cursor } });
    const counted = page.filter(({ muted, unreadCount }) => !muted && unreadCount > 0);
    assert.deepEqual(
      {
        unreadConversations: rest.unreadConversations + counted.length,
        unreadMessages: counted.reduce((sum, { unreadCount }) => sum + unreadCount, rest.unreadMessages),
        unreadMentions: counted.reduce((sum, { unreadMentions }) => sum + unreadMentions, rest.unreadMentions),
      },
      badge,
    );
  }
}
