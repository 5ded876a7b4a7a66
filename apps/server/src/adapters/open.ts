import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import type { Log } from '../core/log.ts';
import type { Blobs, Bus, Counters, ExpiringSets, Locks, Mail, Mailbox } from '../core/ports.ts';
import { createFolderBlobs } from './blobs/folder.ts';
import { createS3Blobs, type S3Options } from './blobs/s3.ts';
import { createMemoryBus } from './bus/memory.ts';
import { openRedisBus } from './bus/redis.ts';
import { createFallbackCounters } from './counters/fallback.ts';
import { createMemoryCounters } from './counters/memory.ts';
import { createRedisCounters } from './counters/redis.ts';
import { openEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { createPostgres } from './db/postgres.ts';
import { createMemoryExpiringSets } from './expiring-sets/memory.ts';
import { createRedisExpiringSets } from './expiring-sets/redis.ts';
import { createMemoryLocks } from './locks/memory.ts';
import { createRedisLocks } from './locks/redis.ts';
import { createMailbox } from './mail/mailbox.ts';
import { createSmtpMail } from './mail/smtp.ts';
import { startProcessCount } from './process-count.ts';
import { createRedis } from './redis.ts';

/** Where the data is; the parts of the configuration that choose adapters. */
export interface AdapterConfig {
  dataDir: string;
  databaseUrl: string | null;
  redisUrl: string | null;
  redisPrefix: string;
  s3: S3Options | null;
  smtpUrl: string | null;
  mailFrom: string;
}

interface Deps {
  clock: Clock;
  log: Log;
}

interface Closing {
  close(): Promise<void>;
}

export interface SharedState extends Closing {
  bus: Bus;
  counters: Counters;
  expiringSets: ExpiringSets;
  locks: Locks;
}

export interface Stores extends Closing {
  blobs: Blobs;
  mail: Mail;
  mailbox: Mailbox | null;
}

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The database, migrated and ready. */
export async function openDatabase(config: AdapterConfig): Promise<Db> {
  const db =
    config.databaseUrl === null
      ? await openEmbedded({ folder: join(config.dataDir, 'db') })
      : createPostgres({ url: config.databaseUrl });
  try {
    await awaitAnswer(db);
    await migrate(db, migrations);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

const firstAttempts = 3;

/** While a process starts it is busy loading itself, and may be too late to hear the database's answer in time. */
async function awaitAnswer(db: Db): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.ping();
      return;
    } catch (error) {
      if (attempt === firstAttempts) throw error;
    }
  }
}

export async function openSharedState(config: AdapterConfig, deps: Deps): Promise<SharedState> {
  const { clock, log } = deps;
  const onError = (error: unknown) => log.error({ error }, 'a bus listener failed');
  if (config.redisUrl !== null) return await openRedisState(config.redisUrl, config.redisPrefix, deps, onError);
  const [bus, counters, expiringSets, locks] = [
    createMemoryBus({ onError }),
    createMemoryCounters(clock),
    createMemoryExpiringSets(clock),
    createMemoryLocks(clock),
  ];
  return { bus, counters, expiringSets, locks, close: () => closeAll([bus, counters, expiringSets, locks]) };
}

async function openRedisState(
  url: string,
  prefix: string,
  { clock, log }: Deps,
  onError: (error: unknown) => void,
): Promise<SharedState> {
  const redis = createRedis({
    url,
    prefix,
    // Redis's own clock is the one that all processes share; only a test's clock takes its place.
    ...(clock !== systemClock && { clock }),
    onError: (error) => log.warn({ error }, 'Redis is not reachable; trying again'),
  });
  await redis.ready();
  const expiringSets = createRedisExpiringSets(redis);
  const [bus, processes] = await Promise.all([openRedisBus({ redis, onError }), startProcessCount(expiringSets)]);
  const locks = createRedisLocks(redis);
  const counters = createFallbackCounters({
    shared: createRedisCounters(redis),
    clock,
    processCount: processes.last,
  });
  const close = () => closeAll([processes, bus, counters, expiringSets, locks, redis]);
  return { bus, counters, expiringSets, locks, close };
}

export async function openStores(config: AdapterConfig, { clock }: Deps): Promise<Stores> {
  const blobs = config.s3 ? createS3Blobs(config.s3) : createFolderBlobs(join(config.dataDir, 'blobs'), clock);
  if (config.smtpUrl !== null) {
    const mail = createSmtpMail({ url: config.smtpUrl, from: config.mailFrom });
    return { blobs, mail, mailbox: null, close: () => closeAll([blobs, mail]) };
  }
  const mailbox = createMailbox(clock);
  return { blobs, mail: mailbox, mailbox, close: () => closeAll([blobs, mailbox]) };
}

/** Everything a process stands on. */
export async function openAdapters(config: AdapterConfig, deps: Deps): Promise<SharedState & Stores & { db: Db }> {
  const [db, shared, stores] = await Promise.all([
    openDatabase(config),
    openSharedState(config, deps),
    openStores(config, deps),
  ]);
  return { ...shared, ...stores, db, close: () => closeAll([shared, stores, db]) };
}

async function closeAll(parts: readonly Closing[]): Promise<void> {
  for (const part of parts) await part.close();
}
