import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { createRedis, type Redis } from '../../src/adapters/redis.ts';
import type { Clock } from '../../src/core/clock.ts';
import { eventually, processStartMs } from './eventually.ts';
import { ownPort } from './ports.ts';
import { stoppable } from './stoppable.ts';

export const testRedisUrl = process.env['PARLEY_TEST_REDIS_URL'];

/** Several processes' connections to the tests' Redis, under one prefix of their own; its keys go when they close. */
export async function openTestRedis(
  count: number,
  clock?: Clock,
): Promise<{ connections: Redis[]; close(): Promise<void> }> {
  return openRedisAt(testRedisUrl ?? '', count, clock);
}

/** The same at an address as in REDIS_URL. Keys of a cluster stay: it ends with its test. */
export async function openRedisAt(
  url: string,
  count: number,
  clock?: Clock,
): Promise<{ connections: Redis[]; close(): Promise<void> }> {
  const prefix = `parley-test-${randomUUID()}:`;
  const connections = Array.from({ length: count }, () => createRedis({ url, prefix, ...(clock && { clock }) }));
  await Promise.all(connections.map((redis) => redis.ready()));
  return {
    connections,
    async close() {
      for (const redis of connections) await redis.close();
      if (url === testRedisUrl) await removeKeys(url, prefix);
    },
  };
}

const removeKeys = (url: string, prefix: string): Promise<void> =>
  withClient(url, async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 })) {
      if (keys.length > 0) await client.del(keys);
    }
  });

/** Every key of a prefix with the milliseconds it has left; -1 would be forever. */
export async function keysOf({ prefix }: Redis): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  await withClient(testRedisUrl ?? '', async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 })) {
      for (const key of keys) found.set(key.slice(prefix.length), await client.pTTL(key));
    }
  });
  return found;
}

const newClient = (url: string) => createClient({ url, socket: { reconnectStrategy: false } });
type Client = ReturnType<typeof newClient>;

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = newClient(url);
  client.on('error', () => {}); // connect() rejects with it
  await client.connect();
  try {
    await work(client);
  } finally {
    client.destroy();
  }
}

/** Asks a server itself, beside those who use it. */
export async function askRedis<T>(url: string, ask: (client: Client) => Promise<T>): Promise<T> {
  let answer: T | undefined;
  await withClient(url, async (client) => {
    answer = await ask(client);
  });
  return answer as T;
}

/** Asks a server again and again, by one connection for as long as that lives. */
export function createAsker(url: string) {
  let client: Client | undefined;
  const close = (): void => {
    if (client?.isOpen) client.destroy();
    client = undefined;
  };
  return {
    async ask(...command: string[]): Promise<unknown> {
      if (!client?.isReady) {
        close();
        client = newClient(url);
        client.on('error', () => {}); // connect() rejects with it
        await client.connect();
      }
      return client.sendCommand(command);
    },
    close,
  };
}

export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedisServer && process.env['PARLEY_TEST_REQUIRE_REDIS_SERVER'])
  throw new Error('PARLEY_TEST_REQUIRE_REDIS_SERVER is set and there is no redis-server');

/** A Redis of our own, to be stopped and started. */
export interface OwnRedis {
  url: string;
  start(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Lets it hang: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await ownPort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const isGone = (): boolean => child === undefined || hasEnded(child);
  const own: OwnRedis = {
    url,
    async start() {
      const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      child = spawn('redis-server', options, { stdio: 'ignore' });
      await eventually(
        async () => {
          if (isGone()) return 'ended' as const;
          return await withClient(url, async (client) => void (await client.ping()));
        },
        { withinMs: processStartMs },
      );
      // Another one may have answered.
      if (isGone()) throw new Error(`Redis ended at once: port ${port} is in use.`);
    },
    kill: () => killChild(child),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  try {
    await own.start();
  } catch (error) {
    await own.kill();
    throw error;
  }
  return own;
}

/** A master with a replica behind a sentinel, which puts the replica in its place after `downAfterMs` of silence. */
export const startOwnSentinel = ({ downAfterMs = 30_000 } = {}) =>
  stoppable(async (onStop) => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-sentinel-'));
    onStop(() => rm(dir, { recursive: true, force: true }));
    const master = await startOwnRedis();
    onStop(master.kill);
    const replica = await startOwnRedis();
    onStop(replica.kill);
    const port = await ownPort();
    const masterPort = new URL(master.url).port;
    // What a replica is given would be a file first, in our folder.
    await askRedis(replica.url, (client) => client.configSet('repl-diskless-load', 'swapdb'));
    await askRedis(replica.url, (client) => client.sendCommand(['REPLICAOF', '127.0.0.1', masterPort]));
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${dir}`,
      `sentinel monitor main 127.0.0.1 ${masterPort} 1`,
      `sentinel down-after-milliseconds main ${downAfterMs}`,
      'sentinel failover-timeout main 3000',
    ];
    await writeFile(join(dir, 'sentinel.conf'), `${lines.join('\n')}\n`);
    const child = spawn('redis-server', [join(dir, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
    onStop(() => killChild(child));
    await eventually(
      async () => {
        const replicas = ['SENTINEL', 'REPLICAS', 'main'];
        const known = await askRedis(`redis://127.0.0.1:${port}`, (client) => client.sendCommand(replicas));
        return Array.isArray(known) && known.length === 1;
      },
      { withinMs: processStartMs },
    );
    return { url: `redis+sentinel://127.0.0.1:${port}/main`, master };
  });

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** kill -9, also of one that is stopped. */
export async function killChild(child: ChildProcess | undefined): Promise<void> {
  if (!child || hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill('SIGKILL');
  await exit;
}
