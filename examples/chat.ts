import { SvcError } from '@parley/client';
import { Chat } from '@parley/client/chat';
import { append, fetchChatToken, paint, prepend, toast } from './page.ts';

const chat = new Chat({ url: location.origin, token: fetchChatToken, queue: 'indexeddb' });
await chat.connect();
const conv = await chat.join('standup');
for await (const m of conv.history({ limit: 50 })) prepend(m);
conv.on('message', append);
conv.on('reactionAdded', (m, emoji, who) => paint(m.id, emoji, who));
try {
  const sent = await conv.send('Hello'); // already visible, delivery: 'sending'
  await conv.react(sent.id!, '👍');
} catch (e) {
  if (!SvcError.is(e)) throw e;
  toast(e.message, { retry: e.retryable });
}
