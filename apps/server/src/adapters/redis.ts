import { createHash } from 'node:crypto';
import { createClient } from 'redis';
import type { Clock } from '../core/clock.ts';
import { SharedStateUnavailable } from '../core/ports.ts';

interface RedisOptions {
  url: string;
  /** In front of every key and channel. */
  prefix: string;
  /** Time of the scripts; the server's own unless a test brings one. */
  clock?: Clock;
  onError?: (error: unknown) => void;
}

/** A Lua script: `now` is its first argument, in milliseconds. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

// A request must not wait for a Redis that hangs.
const commandTimeoutMs = 250;
// One that answers others is only busy, as in a burst; but no caller waits longer than this.
const busyTimeoutMs = 2_000;
// After a command went unanswered the next ones fail at once, for this long.
const pauseMs = 1_000;
const pingMs = 800;
const missesMax = 3;

export type Redis = ReturnType<typeof createRedis>;

/** The process's connection to Redis, shared by all ports; `duplicate` gives the bus one to listen on. */
export function createRedis({ url, prefix, clock, onError = () => {} }: RedisOptions) {
  let client = open();
  let pausedUntil = 0;
  let misses = 0;
  let heardAt = 0;

  function open(): RedisClient {
    const opened = newClient(url, onError);
    opened.connect().catch(() => {}); // rejects only when closed before it was ever connected
    return opened;
  }

  // A server that hangs, or a network that swallows everything, closes no connection: only a new one helps.
  const watch = setInterval(() => {
    if (!client.isReady) return;
    misses += 1;
    if (misses > missesMax) {
      misses = 0;
      pausedUntil = 0;
      client.destroy();
      client = open();
      return;
    }
    const heard = () => {
      misses = 0;
    };
    client.ping().then(heard, () => {});
  }, pingMs);
  watch.unref();

  async function command<T>(send: (ready: RedisClient) => Promise<T>): Promise<T> {
    if (performance.now() < pausedUntil) throw new SharedStateUnavailable('Redis did not answer a moment ago.');
    let timer: NodeJS.Timeout | undefined;
    let isAnswered = false;
    const askedAt = performance.now();
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => {
        if (isAnswered) return;
        const now = performance.now();
        const isSilent = now - heardAt > commandTimeoutMs;
        if (!isSilent && now - askedAt < busyTimeoutMs) return wait();
        if (isSilent) pausedUntil = now + pauseMs;
        reject(new SharedStateUnavailable('Redis did not answer in time.'));
      };
      // After a busy moment of ours the answer may lie unread: it is read between the timer and the immediate.
      const wait = () => {
        timer = setTimeout(() => setImmediate(giveUp), commandTimeoutMs);
      };
      wait();
    });
    const answer = send(client);
    answer.then(
      () => {
        heardAt = performance.now();
      },
      () => {}, // it may fail after the time limit
    );
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      throw isRefusal(error) ? error : asUnavailable(error);
    } finally {
      isAnswered = true;
      clearTimeout(timer);
    }
  }

  function script(body: string): Script {
    const lua = `${nowOfScript}\n${body}`;
    const sha = createHash('sha1').update(lua).digest('hex');
    return async (keys, args) => {
      const options = {
        keys: keys.map((key) => prefix + key),
        arguments: [clock ? clock.now() : 0, ...args].map(String),
      };
      try {
        return await command((ready) => ready.evalSha(sha, options));
      } catch (error) {
        if (!isRefusal(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return await command((ready) => ready.eval(lua, options));
      }
    };
  }

  return {
    prefix,
    command,
    script,
    /** Another connection to the same server, not yet connected. */
    duplicate: () => newClient(url, onError),
    /** Resolves when there is a connection, or after a second: the process starts without Redis too. */
    ready: () =>
      new Promise<void>((resolve) => {
        if (client.isReady) return resolve();
        const timer = setTimeout(resolve, 1_000);
        client.once('ready', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
    async ping(): Promise<number> {
      const start = performance.now();
      await command((ready) => ready.ping());
      return performance.now() - start;
    },
    async close(): Promise<void> {
      clearInterval(watch);
      if (client.isOpen) client.destroy();
    },
  };
}

export type RedisClient = ReturnType<typeof newClient>;

function newClient(url: string, onError: (error: unknown) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: 1_000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1_000) },
  });
  // One report an outage: each attempt to reconnect fails with an error of its own.
  let isReported = false;
  client.on('error', (error) => {
    if (!isReported) onError(error);
    isReported = true;
  });
  client.on('ready', () => {
    isReported = false;
  });
  return client;
}

// The server's clock is the one that all processes share; 0 asks for it.
const nowOfScript = `
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end`;

/** Redis answered, and said that the command is wrong: a fault of ours, not of the connection or the server's state. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && /^(NOSCRIPT|ERR|WRONGTYPE) /.test(error.message);
}

const asUnavailable = (error: unknown): SharedStateUnavailable =>
  error instanceof SharedStateUnavailable
    ? error
    : new SharedStateUnavailable('Redis is not reachable.', { cause: error });

/** What a script gave back: a flat list of numbers and texts. */
export function listOf(answer: unknown): (string | number)[] {
  if (!Array.isArray(answer)) throw new Error('A Redis script gave no list.');
  return answer.map((item) => (typeof item === 'number' ? item : String(item)));
}
