/** Compiled with the types of Node alone: no `dom` in `lib`. */
import { Chat, type Message, ParleyError } from '@parley/client/chat';
import { type ChatStore, createChatStore } from '@parley/client/chat-store';

export async function startBot(url: string, token: () => Promise<string>): Promise<ChatStore> {
  const chat = new Chat({ url, token });
  await chat.connect({ signal: AbortSignal.timeout(10_000) });
  const conversation = await chat.join('lobby');
  conversation.on('message', async ({ id, text }: Message) => {
    if (text === '!help' && id !== null) await conversation.send({ text: 'Ask me anything.', replyTo: id });
  });
  chat.on('connectionStateChanged', (state, _previous, error) => console.log(state, ParleyError.is(error)));
  await conversation.upload(new Blob(['notes']), {
    onProgress: (_done, { loaded, total }) => console.log(loaded, total),
  });
  return createChatStore(chat, { storage: new MemoryStorage() });
}

/** Drafts in memory, as an example of a storage of one's own. */
class MemoryStorage {
  readonly #kept = new Map<string, string>();
  getItem = (key: string): string | null => this.#kept.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.#kept.set(key, value);
  removeItem = (key: string): void => void this.#kept.delete(key);
}
