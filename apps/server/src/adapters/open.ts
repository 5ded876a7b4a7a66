import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import type { Log } from '../core/log.ts';
import type { Blobs, Bus, Counters, ExpiringSets, Locks, Mail, Mailbox } from '../core/ports.ts';
import { createFolderBlobs } from './blobs/folder.ts';
import type { S3Options } from './blobs/s3.ts';
import { createMemoryBus } from './bus/memory.ts';
import { type Closing, closeAll } from './closing.ts';
import { createMemoryCounters } from './counters/memory.ts';
import { openEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { createMemoryExpiringSets } from './expiring-sets/memory.ts';
import { createMemoryLocks } from './locks/memory.ts';
import { createMailbox } from './mail/mailbox.ts';

// An adapter that only some configurations choose is loaded when it is chosen: their packages would be a third of what
// a start on the embedded defaults has to read.

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
      : (await import('./db/postgres.ts')).createPostgres({ url: config.databaseUrl });
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
  if (config.redisUrl !== null) {
    const { openRedisState } = await import('./open-redis.ts');
    return openRedisState({ url: config.redisUrl, prefix: config.redisPrefix, clock, log, onError });
  }
  const [bus, counters, expiringSets, locks] = [
    createMemoryBus({ onError }),
    createMemoryCounters(clock),
    createMemoryExpiringSets(clock),
    createMemoryLocks(clock),
  ];
  return { bus, counters, expiringSets, locks, close: () => closeAll([bus, counters, expiringSets, locks]) };
}

export async function openStores(config: AdapterConfig, { clock }: Deps): Promise<Stores> {
  const blobs = config.s3
    ? (await import('./blobs/s3.ts')).createS3Blobs(config.s3)
    : createFolderBlobs(join(config.dataDir, 'blobs'), clock);
  if (config.smtpUrl !== null) {
    const { createSmtpMail } = await import('./mail/smtp.ts');
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
