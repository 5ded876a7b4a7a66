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

/** Metadata of the conversation until it is filled: a process that is killed meanwhile leaves that to the next one. */
const unfilled = { demo: 'filling' };

/**
 * Makes the room and the conversation, if they are missing; what is there stays as the developer left it. Gives what
 * fills them, which nobody has to wait for.
 */
export async function seedDemo(svc: Svc, textLengthMax: number): Promise<() => Promise<void>> {
  const room = (await found(svc.rooms.get(demoName))) ?? (await svc.rooms.create({ name: demoName }));
  const known = await found(svc.chat.conversations.get(demoName));
  if (known !== null && known.metadata['demo'] !== unfilled.demo) return async () => {};
  if (known === null) {
    const members = [...demoUsers];
    await svc.chat.conversations.create({ name: demoName, roomId: room.id, members, metadata: unfilled });
  }
  return () => fillDemo(svc, textLengthMax);
}

/** What was made before a kill is not made again. */
async function fillDemo(svc: Svc, textLengthMax: number): Promise<void> {
  await seedMessages(svc, (text) => [...text].slice(0, textLengthMax).join(''));
  if ((await svc.liveStreams.list()).length === 0)
    await svc.liveStreams.create({
      title: 'Demo stream',
      description: 'Go live from the playground, and watch it in a second tab.',
      hostIdentity: 'mira',
    });
  await svc.chat.conversations.update(demoName, { metadata: {} });
}

/** A deployment may allow less text than the demo has: what fits is enough to look at. */
async function seedMessages(svc: Svc, fitting: (text: string) => string): Promise<void> {
  const ids: string[] = [];
  for (const [index, { by, text, replyTo, editedTo, isDeleted, reaction }] of messages.entries()) {
    const answered = replyTo === undefined ? undefined : ids[replyTo];
    const { id } = await svc.chat.messages.send(demoName, {
      text: fitting(text),
      senderId: by,
      clientMessageId: `demo-${index}`,
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
