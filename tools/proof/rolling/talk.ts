import assert from 'node:assert/strict';
import { Chat, type Conversation } from '@parley/client/chat';
import { Parley } from '@parley/server';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';

/** Two people in a conversation, each with the SDK at an address of their own. */
export interface Talk {
  /** Each writes so many messages, and has them acknowledged. */
  write(count: number): Promise<void>;
  /** Both have all that was written, once and in one order. */
  settled(): Promise<void>;
  end(): Promise<void>;
}

const name = 'across';

export async function startTalk(urls: readonly [string, string], apiKey: string): Promise<Talk> {
  const members = ['ada', 'bob'];
  await new Parley({ apiKey, baseUrl: urls[1] }).chat.conversations.create({ name, members });
  const chats: Chat[] = [];
  const conversations: Conversation[] = [];
  for (const [place, baseUrl] of urls.entries()) {
    const parley = new Parley({ apiKey, baseUrl });
    const userId = members[place] ?? '';
    const chat = new Chat({ url: baseUrl, token: async () => (await parley.chat.tokens.create({ userId })).token });
    await chat.connect();
    chats.push(chat);
    conversations.push(await chat.join(name));
  }
  const written = new Set<string>();
  const textsAt = ({ messages }: Conversation): string[] => messages.getSnapshot().map(({ text }) => text ?? '');

  return {
    async write(count) {
      const first = written.size;
      for (let index = 0; index < count; index += 1)
        await Promise.all(
          conversations.map((conversation, who) => {
            const text = `${members[who]} ${first + index}`;
            written.add(text);
            return conversation.send(text);
          }),
        );
    },
    settled: () =>
      eventually(
        () => {
          const [ada = [], bob = []] = conversations.map(textsAt);
          assert.deepEqual(ada, bob);
          assert.deepEqual([...ada].sort(), [...written].sort());
        },
        { withinMs: 60_000, everyMs: 100 },
      ),
    async end() {
      for (const chat of chats) await chat.disconnect();
    },
  };
}
