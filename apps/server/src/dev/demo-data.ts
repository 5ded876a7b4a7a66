import { isSvcError, type Svc } from '@parley/server';

/** The room, the conversation and the stream a newcomer finds. Real rows, made through the public API. */
export const demoName = 'demo';
/** Invented people: they have no account, only an identity, like every end user. */
export const demoUsers = ['mira', 'tomas', 'yuki'] as const;
type DemoUser = (typeof demoUsers)[number];

interface DemoMessage {
  by: DemoUser;
  text: string;
  /** Index of the message it answers. */
  replyTo?: number;
  editedTo?: string;
  isDeleted?: true;
  reaction?: { by: DemoUser; emoji: string };
}

const messages: readonly DemoMessage[] = [
  { by: 'mira', text: 'Welcome to the demo room. Everything here was made through the public API.' },
  { by: 'tomas', text: 'So this chat belongs to the room?' },
  { by: 'mira', text: 'Yes. A conversation can be attached to a room, or live alone.', replyTo: 1 },
  { by: 'yuki', text: 'Reactions work too.', reaction: { by: 'mira', emoji: '👍' } },
  { by: 'tomas', text: 'I made a tpyo here.', editedTo: 'I made a typo here, and edited it.' },
  { by: 'yuki', text: 'This one was a mistake.', isDeleted: true },
  { by: 'mira', text: 'An edit leaves a mark, a deletion a tombstone.', replyTo: 4 },
  { by: 'tomas', text: 'After a reconnect you get every change you missed, once and in order.' },
  { by: 'yuki', text: 'Press Join, then add a test participant: no camera needed.' },
  { by: 'mira', text: 'Say hello, and somebody will react.' },
];

/** Makes what is missing; what is there stays as the developer left it. */
export async function seedDemo(svc: Svc, textLengthMax: number): Promise<void> {
  const room = (await found(svc.rooms.get(demoName))) ?? (await svc.rooms.create({ name: demoName }));
  if ((await found(svc.chat.conversations.get(demoName))) !== null) return;
  await svc.chat.conversations.create({ name: demoName, roomId: room.id, members: [...demoUsers] });
  await seedMessages(svc, (text) => [...text].slice(0, textLengthMax).join(''));
  await svc.liveStreams.create({
    title: 'Demo stream',
    description: 'Go live from the playground, and watch it in a second tab.',
    hostIdentity: 'mira',
  });
}

/** A deployment may allow less text than the demo has: what fits is enough to look at. */
async function seedMessages(svc: Svc, fitting: (text: string) => string): Promise<void> {
  const ids: string[] = [];
  for (const { by, text, replyTo, editedTo, isDeleted, reaction } of messages) {
    const answered = replyTo === undefined ? undefined : ids[replyTo];
    const { id } = await svc.chat.messages.send(demoName, {
      text: fitting(text),
      senderId: by,
      ...(answered ? { replyTo: answered } : {}),
    });
    ids.push(id);
    if (editedTo !== undefined) await svc.chat.messages.update(id, { text: fitting(editedTo) });
    if (isDeleted) await svc.chat.messages.delete(id);
    if (reaction) await svc.chat.reactions.add(id, { emoji: reaction.emoji, userId: reaction.by });
  }
}

async function found<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isSvcError(error) && error.code.endsWith('_NOT_FOUND')) return null;
    throw error;
  }
}
