import { Chat } from '@parley/client/chat';
import { createChatStore } from '@parley/client/chat-store';
import { fetchChatToken, showList } from './page.ts';

const chat = new Chat({ url: location.origin, token: fetchChatToken });
const store = createChatStore(chat);
store.conversations.subscribe(() => showList(store.conversations.getSnapshot()));
await chat.connect();
store.drafts.set('standup', 'I will be la'); // survives a reload
const conv = await store.open('standup');
await store.markRead('standup');
const found = await store.search('standup', 'harbour');
if (!found.isComplete) console.log(`Only the newest ${found.searched} messages were searched.`);
await store.send('standup', 'I will be late'); // removes the draft
console.log(conv.messages.getSnapshot().length);
