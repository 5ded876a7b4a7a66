import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { tokenScopes } from '@parley/contract';
import { type ChatOf, chatAs, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { askRedis, hasRedisServer, startOwnRedis, testRedisUrl } from '../../../../testkit/kit/redis.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { systemClock } from '../../../core/clock.ts';
import { createKeyring } from '../../../core/keyring.ts';
import { createTokens } from '../../../core/tokens.ts';

const [conversations, sockets] = [50, 500];
const unlimited = '1000000';
/** How often a Redis of our own was asked to subscribe, and what is heard there now. */
async function subscribesAt(url: string): Promise<{ calls: number; channels: string[] }> {
  return askRedis(url, async (client) => {
    const stats = await client.info('commandstats');
    const calls = Number(/^cmdstat_subscribe:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
    return { calls, channels: await client.pubSubChannels() };
  });
}

/** Signed here as the service would: five hundred requests are not what is tested. */
function tokensOf({ config }: TestService, { project }: ChatOf, users: readonly string[]): string[] {
  const keyring = createKeyring(config.secretKey);
  const tokens = createTokens({ keyring, clock: systemClock, issuer: config.publicUrl });
  const claims = { pid: project.id, env: 'DEVELOPMENT', scp: tokenScopes, conv: null };
  return users.map((sub) => tokens.sign('chat', { ...claims, sub, jti: `ctk_${sub}` }, 3_600).token);
}

test('[STA-23] 500 sockets of as many users return to 50 conversations over many turns: few SUBSCRIBEs', {
  skip: !hasRedisServer || testRedisUrl === undefined ? 'needs redis-server and PARLEY_TEST_REDIS_URL' : false,
}, async (t) => {
  const redis = await startOwnRedis();
  const service = await startService({
    env: {
      REDIS_URL: redis.url,
      CHAT_CONNECT_RATE_LIMIT: unlimited,
      CHAT_SUBSCRIBE_RATE_LIMIT: unlimited,
    },
  });
  t.after(async () => {
    await service.stop();
    await redis.kill();
  });
  const chat = await createChatKit(service);
  const users = Array.from({ length: sockets }, (_, at) => `user-${at}`);
  const rooms = await Promise.all(
    Array.from({ length: conversations }, (_, room) =>
      chat.conversation(users.filter((_, at) => at % conversations === room)),
    ),
  );
  const tokens = tokensOf(service, chat, users);
  const before = await subscribesAt(redis.url);
  const clients = await Promise.all(tokens.map((token) => chatAs(service, token)));
  const connected = await subscribesAt(redis.url);

  const returned: Promise<unknown>[] = [];
  for (const [at, client] of clients.entries()) {
    returned.push(subscribe(client, rooms[at % conversations]?.id ?? '', { presence: false }));
    await turn();
  }
  await Promise.all(returned);
  const after = await subscribesAt(redis.url);
  for (const { ws } of clients) ws.terminate();

  // A topic of each user, and one for the people of the project.
  assert.equal(connected.channels.length - before.channels.length, sockets + 1);
  // How many a crowd takes depends on how fast it comes: that no two are within 10 ms is shown beside the subscriber.
  const connects = connected.calls - before.calls;
  assert.ok(connects <= sockets + 1, `${connects} SUBSCRIBEs for their users`);
  const heard = rooms.filter(({ id }) => after.channels.some((channel) => channel.endsWith(`chat/${id}`)));
  assert.equal(heard.length, conversations);
  assert.equal(after.channels.length - connected.channels.length, conversations);
  const subscribes = after.calls - connected.calls;
  assert.ok(subscribes >= 1 && subscribes <= conversations, `${subscribes} SUBSCRIBEs for conversations`);
});
