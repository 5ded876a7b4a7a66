// Your backend: it holds the API key, decides who may do what, and hands out short-lived tokens.
import { createServer } from 'node:http';
import { isParleyError, Parley, speaker, webhookHandler, withData } from '@parley/server';
import { createServer as createVite } from 'vite';

const { SVC_URL: baseUrl, SVC_API_KEY: apiKey = '', WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;
const parley = new Parley({ apiKey, baseUrl });
const room = 'lobby';

const ifMissing = (make) => (error) => {
  if (isParleyError(error) && error.code.endsWith('_NOT_FOUND')) return make();
  throw error;
};

/** Before others reach this: take the user from your own session, not from what the page says. */
async function admit(name) {
  // Letters, digits and a few signs; what people see is the name in the metadata.
  const user = name.replaceAll(/[^\w.-]+/g, '-');
  const { id } = await parley.rooms.get(room).catch(ifMissing(() => parley.rooms.create({ name: room })));
  const { conversations, members, tokens } = parley.chat;
  await conversations.get(room).catch(ifMissing(() => conversations.create({ name: room, roomId: id })));
  await members.add(room, { userId: user });
  const call = await parley.rooms.tokens.create(room, {
    participantIdentity: user,
    // With data messages: reactions and raised hands are some.
    permissions: withData(speaker()),
    metadata: JSON.stringify({ name }),
  });
  const chat = await tokens.create({ userId: user, conversations: [room] });
  return { url: parley.baseUrl, room, user, callToken: call.token, chatToken: chat.token };
}

const webhooks = webhookHandler({
  secret,
  on: { 'message.created': ({ data }) => console.log(`${data.message.senderId} wrote: ${data.message.text}`) },
});

const server = createServer(async (request, response) => {
  try {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/webhooks') return await webhooks.node(request, response);
    if (pathname !== '/admit') return vite.middlewares(request, response);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await admit(searchParams.get('name') ?? 'somebody')));
  } catch (error) {
    response.statusCode = 502;
    response.end(JSON.stringify({ message: isParleyError(error) ? error.message : 'Something went wrong.' }));
  }
});
const vite = await createVite({ server: { middlewareMode: true, hmr: { server } } });
// For this machine alone: anyone who reaches /admit gets a token.
server.listen(Number(PORT), '127.0.0.1', () => console.log(`Open http://localhost:${PORT}`));
