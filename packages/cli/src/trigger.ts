import type { EventType } from '@parley/contract';
import type { Svc } from '@parley/server';
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
  'conversation.created': withConversation(async () => {}),
  'conversation.updated': withConversation((svc, id) =>
    svc.chat.conversations.update(id, { metadata: { triggered: true } }),
  ),
  'conversation.deleted': withConversation((svc, id) => svc.chat.conversations.delete(id)),
  'member.added': withConversation((svc, id) => svc.chat.members.add(id, { userId: 'trigger-member' })),
  'member.updated': withConversation((svc, id) => svc.chat.members.update(id, user, { role: 'MODERATOR' })),
  'member.removed': withConversation((svc, id) => svc.chat.members.remove(id, user)),
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
