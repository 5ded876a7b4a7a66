import { Chat } from '@parley/client/chat';
import { createPolls } from '@parley/client/polls';
import { fetchChatToken } from './page.ts';

const chat = new Chat({ url: location.origin, token: fetchChatToken });
await chat.connect();
const conv = await chat.join('lunch');
const polls = createPolls(chat);
conv.messages.subscribe(() => {
  for (const message of conv.messages.getSnapshot()) {
    const poll = polls.of(message);
    for (const { id, text, votes } of poll?.options ?? []) {
      console.log(poll?.ownVotes?.includes(id) ? '✓' : ' ', text, votes);
    }
  }
});
const { id } = await conv.send({ poll: { question: 'Where?', options: ['Harbour', 'Market'] } });
if (id !== null) await polls.vote(id, [2]);
