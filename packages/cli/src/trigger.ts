import type { EventType } from '@parley/contract';
import { createApi, ParleyError, type Svc } from '@parley/server';
import { clientOf } from './account.ts';
import { accountOptions, type Command, UsageError } from './command.ts';

/** What really makes each event happen: nothing is forged, receivers see what they will see later. */
type Scenario = (svc: Svc) => Promise<unknown>;

const name = (): string => `trigger-${Math.random().toString(36).slice(2, 10)}`;
const user = 'trigger-user';
const reader = 'trigger-reader';

async function inConversation(svc: Svc): Promise<string> {
  return (await svc.chat.conversations.create({ name: name(), members: [user, reader] })).id;
}
const withMessage =
  (act: (svc: Svc, messageId: string) => Promise<unknown>): Scenario =>
  async (svc) => {
    const { id } = await svc.chat.messages.send(await inConversation(svc), { text: 'Hello', senderId: user });
    await act(svc, id);
  };
const withConversation =
  (act: (svc: Svc, id: string) => Promise<unknown>): Scenario =>
  async (svc) =>
    act(svc, await inConversation(svc));
const withStream =
  (act: (svc: Svc, id: string) => Promise<unknown>): Scenario =>
  async (svc) =>
    act(svc, (await svc.liveStreams.create({ title: 'Triggered', hostIdentity: 'trigger-host' })).id);

const poll = { question: 'Lunch?', options: ['Pizza', 'Soup'] };

const scenarios: Readonly<Partial<Record<EventType, Scenario>>> = {
  'live_stream.created': withStream(async () => {}),
  'live_stream.started': withStream((svc, id) => svc.liveStreams.start(id)),
  'live_stream.ended': withStream((svc, id) => svc.liveStreams.end(id)),
  'live_stream.host_joined': withStream((svc, id) =>
    svc.liveStreams.addHost(id, { identity: 'trigger-co-host', role: 'CO_HOST' }),
  ),
  'live_stream.host_left': withStream(async (svc, id) => {
    await svc.liveStreams.addHost(id, { identity: 'trigger-co-host', role: 'CO_HOST' });
    await svc.liveStreams.removeHost(id, 'trigger-co-host');
  }),
  'live_stream.viewer_joined': withStream((svc, id) =>
    svc.liveStreams.createViewerToken(id, { identity: 'trigger-viewer' }),
  ),
  'live_stream.viewer_left': withStream(async (svc, id) => {
    await svc.liveStreams.createViewerToken(id, { identity: 'trigger-viewer' });
    await svc.liveStreams.leave(id, { identity: 'trigger-viewer' });
  }),
  'message.created': withMessage(async () => {}),
  'message.updated': withMessage((svc, id) => svc.chat.messages.update(id, { text: 'Hello again' })),
  'message.deleted': withMessage((svc, id) => svc.chat.messages.delete(id)),
  'reaction.added': withMessage((svc, id) => svc.chat.reactions.add(id, { emoji: '👍', userId: user })),
  'reaction.removed': withMessage(async (svc, id) => {
    await svc.chat.reactions.add(id, { emoji: '👍', userId: user });
    await svc.chat.reactions.remove(id, '👍', { userId: user });
  }),
  'message.read': withMessage((svc, id) => svc.chat.messages.markRead(id, { userId: reader })),
  'inbox.updated': withConversation((svc, id) => svc.chat.inbox.update(id, { pinned: true, userId: user })),
  'conversation.created': withConversation(async () => {}),
  'conversation.updated': withConversation((svc, id) =>
    svc.chat.conversations.update(id, { metadata: { triggered: true } }),
  ),
  'conversation.deleted': withConversation((svc, id) => svc.chat.conversations.delete(id)),
  'member.added': withConversation((svc, id) => svc.chat.members.add(id, { userId: 'trigger-member' })),
  'member.updated': withConversation((svc, id) => svc.chat.members.update(id, user, { role: 'MODERATOR' })),
  'member.removed': withConversation((svc, id) => svc.chat.members.remove(id, user)),
  'message.mentioned': withConversation((svc, id) =>
    svc.chat.messages.send(id, { text: 'Hello', senderId: user, mentions: { users: [reader] } }),
  ),
  'message.pinned': withMessage((svc, id) => svc.chat.pins.add(id)),
  'message.unpinned': withMessage(async (svc, id) => {
    await svc.chat.pins.add(id);
    await svc.chat.pins.remove(id);
  }),
  'attachment.scanned': withConversation(async (svc, id) => {
    const file = { filename: 'trigger.txt', mimeType: 'text/plain', size: 5, uploaderId: user };
    const { attachment, uploadUrl, headers } = await svc.chat.attachments.create(id, file);
    await fetch(uploadUrl, { method: 'PUT', headers, body: 'Hello' });
    await svc.chat.attachments.complete(attachment.id);
    await svc.chat.attachments.setScanResult(attachment.id, { result: 'CLEAN' });
  }),
  'poll.voted': withConversation(async (svc, id) => {
    const asked = await svc.chat.messages.send(id, { poll, senderId: user });
    await svc.chat.polls.vote(asked.id, { optionIds: [1], userId: user });
  }),
  'poll.closed': withConversation(async (svc, id) => {
    const asked = await svc.chat.messages.send(id, { poll, senderId: user });
    await svc.chat.polls.close(asked.id);
  }),
  'chat_user.updated': (svc) => svc.chat.users.set(user, { name: name() }),
  'chat_user.deleted': async (svc) => {
    await svc.chat.users.set(user, { name: name() });
    await svc.chat.users.delete(user);
  },
  'user.banned': withConversation((svc, id) => svc.chat.moderation.ban(id, user)),
  'user.unbanned': withConversation(async (svc, id) => {
    await svc.chat.moderation.ban(id, user);
    await svc.chat.moderation.unban(id, user);
  }),
  'user.muted': withConversation((svc, id) => svc.chat.moderation.mute(id, user)),
  'user.unmuted': withConversation(async (svc, id) => {
    await svc.chat.moderation.mute(id, user);
    await svc.chat.moderation.unmute(id, user);
  }),
  'user.shadowed': withConversation((svc, id) => svc.chat.moderation.shadow(id, user)),
  'user.unshadowed': withConversation(async (svc, id) => {
    await svc.chat.moderation.shadow(id, user);
    await svc.chat.moderation.unshadow(id, user);
  }),
  'message.shadowed': withConversation(async (svc, room) => {
    await svc.chat.moderation.shadow(room, user);
    // What a server sends is for all.
    const { token } = await svc.chat.tokens.create({ userId: user });
    const asUser = createApi({ baseUrl: svc.baseUrl, credential: token });
    await asUser.call('sendMessage', { room, body: { text: 'Hello' } });
  }),
  'user.blocked': (svc) => svc.chat.blocks.add(name(), { userId: user }),
  'user.unblocked': async (svc) => {
    const blocked = name();
    await svc.chat.blocks.add(blocked, { userId: user });
    await svc.chat.blocks.remove(blocked, { userId: user });
  },
  'user.messages_deleted': (svc) => svc.chat.moderation.deleteMessages(name()),
  'moderation.updated': async ({ chat: { moderation } }) => {
    // As they are: what the environment has set stays set.
    const { wordLists, links } = await moderation.settings();
    await moderation.setSettings({ wordLists, links });
  },
  'moderation_hook.updated': async ({ chat: { moderation } }) => {
    const known = await moderation.hook().catch((error) => {
      if (error instanceof ParleyError && error.code === 'SVC_HOOK_NOT_FOUND') return null;
      throw error;
    });
    // A host that cannot exist (RFC 6761): no message goes anywhere meanwhile, and none is refused.
    const { url, timeoutMs, onFailure } = known ?? { url: 'https://hook.invalid/', timeoutMs: 100, onFailure: 'open' };
    await moderation.setHook({ url, timeoutMs, onFailure });
    if (!known) await moderation.removeHook();
  },
  'data_job.done': (svc) => svc.users.export(user),
  'audit.recorded': (svc) => svc.users.revoke(name()),
};

/** Events that follow from something other than one call. */
const triggerable = Object.keys(scenarios);

export const trigger: Command = {
  does: 'Makes an event happen for real, in things of its own: for work on a receiver, with parley listen.',
  usage: '<event type>',
  options: accountOptions,
  words: { least: 1, most: 1 },
  async run(values, context, [type = '']) {
    const scenario = scenarios[type as EventType];
    if (!scenario) throw new UsageError(`"${type}" cannot be triggered. One of: ${triggerable.join(', ')}.`);
    await scenario(clientOf(values, context));
    context.out(`${type} happened.`);
    return 0;
  },
};
