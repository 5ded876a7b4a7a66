import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedis } from './redis.ts';

const names = Array.from({ length: 4_000 }, (_, at) => `chat/conv_${at.toString(36).padStart(24, '0')}`);
/** Names that differ in little, where a weak hash would favour one. Nobody listens there: where a name is, is reckoned. */
const server = (at: number): string => `redis://127.0.0.1:${at}`;

/** Which server has each of the names in a process with this REDIS_URL. */
async function placesIn(servers: readonly string[]): Promise<string[]> {
  const redis = createRedis({ url: servers.join(), prefix: 'p:' });
  const idOf = new Map(redis.parts.flatMap(({ id, shards }) => shards.map((shard) => [shard, id] as const)));
  await redis.close();
  return names.map((name) => idOf.get(redis.shardOf(name)) ?? assert.fail(name));
}

test('[STA-11] processes that name the servers in another order find every name at the same one', async () => {
  const servers = [1, 2, 3].map(server);
  assert.deepEqual(await placesIn([...servers].reverse()), await placesIn(servers));
});

test('[STA-11] each server has about its share; one more takes about its own, and nothing moves between the others', async () => {
  const servers = [1, 2, 3, 4].map(server);
  const [before, after] = [await placesIn(servers), await placesIn([server(5), ...servers])];
  for (const places of [before, after]) {
    const shares = [...Map.groupBy(places, (id) => id).values()].map((some) => some.length / names.length);
    const fair = 1 / (places === before ? 4 : 5);
    assert.ok(
      shares.every((share) => Math.abs(share / fair - 1) < 0.15),
      String(shares),
    );
  }
  const moved = after.filter((id, at) => id !== before[at]);
  assert.deepEqual([...new Set(moved)], ['127.0.0.1:5']);
});
