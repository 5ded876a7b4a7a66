import { Parley, speaker } from '@parley/server';

const svc = new Parley({ apiKey: process.env.SVC_API_KEY!, baseUrl: process.env.SVC_URL });
const room = await svc.rooms.create({ name: 'standup' });
const { token, expiresAt } = await svc.rooms.tokens.create(room.id, {
  participantIdentity: 'ada',
  permissions: speaker(), // join, subscribe, publish
  ttlSeconds: 600,
});
await svc.chat.conversations.create({ name: 'standup', roomId: room.id });
const chat = await svc.chat.tokens.create({ userId: 'ada', conversations: ['standup'] });
for await (const m of svc.chat.messages.list('standup', { limit: 100 })) {
  console.log(m.createdAt, m.senderId, m.text);
}
console.log(svc.environment, expiresAt, token.length, chat.token.length);
