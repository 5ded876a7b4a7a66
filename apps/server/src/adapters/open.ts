import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { Db, Replica } from '../core/db.ts';
import type { Log } from '../core/log.ts';
import type { Adapters, SharedState } from '../core/ports.ts';
import { createFolderBlobs } from './blobs/folder.ts';
import type { S3Options } from './blobs/s3.ts';
import { createMemoryBus } from './bus/memory.ts';
import { type Closing, closeAll } from './closing.ts';
import { createMemoryCounters } from './counters/memory.ts';
import { beginEmbedded, openEmbedded } from './db/embedded/embedded.ts';
import { unpackShipped } from './db/embedded/shipped-template.ts';
import { emptyTemplate, migratedTemplate } from './db/embedded/template.ts';
import { migrate, readMigrations, serverMigrations } from './db/shared/migrate.ts';
import { createMemoryExpiringSets } from './expiring-sets/memory.ts';
import { createMemoryLocks } from './locks/memory.ts';
import { createMailbox } from './mail/mailbox.ts';
import { createNoMail } from './mail/none.ts';

// An adapter that only some configurations choose is loaded when it is chosen: their packages would be a third of what
// a start on the embedded defaults has to read.

/** Where the data is; the parts of the configuration that choose adapters. */
interface AdapterConfig {
  dataDir: string;
  databaseUrl: string | null;
  databaseReadUrl: string | null;
  redisUrl: string | null;
  redisPrefix: string;
  s3: S3Options | null;
  smtpUrl: string | null;
  mailFrom: string;
  isProduction: boolean;
  smtpAllowsPlaintext: boolean;
}

/** A mail server on this machine: nobody is in between. */
const ownHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

interface Deps {
  clock: Clock;
  log: Log;
}

type Stores = Pick<Adapters, 'blobs' | 'mail' | 'mailbox'>;

/** The database, migrated and ready. */
export async function openDatabase(config: AdapterConfig, log: Log): Promise<Db> {
  const { db, opened } = await beginDatabase(config, log);
  await opened;
  return db;
}

/** The database as it is: nothing is migrated, and a new one is empty. */
export async function openUnmigrated(config: AdapterConfig, log: Log): Promise<Db> {
  if (config.databaseUrl !== null)
    return (await import('./db/postgres/postgres.ts')).createPostgres({ url: config.databaseUrl });
  return openEmbedded({ folder: embeddedFolder(config), templates: [emptyTemplate()], log });
}

export const embeddedFolder = ({ dataDir }: Pick<AdapterConfig, 'dataDir'>): string => join(dataDir, 'db');

/** The database, which opens while its owner does something else: it may be asked when `opened` has resolved. */
async function beginDatabase(config: AdapterConfig, log: Log): Promise<{ db: Db; opened: Promise<void> }> {
  if (config.databaseUrl !== null) {
    const db = (await import('./db/postgres/postgres.ts')).createPostgres({ url: config.databaseUrl });
    return { db, opened: openAndMigrate(db, Promise.resolve()) };
  }
  const templates = [migratedTemplate(readMigrations(serverMigrations)), emptyTemplate()];
  if (templates[0] && !existsSync(embeddedFolder(config))) unpackShipped(templates[0]);
  const db = beginEmbedded({ folder: embeddedFolder(config), templates, log });
  return { db, opened: openAndMigrate(db, db.opened) };
}

/** From open to migrated. */
async function openAndMigrate(db: Db, opened: Promise<void>): Promise<void> {
  try {
    await opened;
    await awaitAnswer(db);
    await migrate(db, serverMigrations);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** It is not asked yet: nobody waits for a replica that is away. */
async function openReplica({ databaseReadUrl: url }: AdapterConfig, primary: Db): Promise<Replica | null> {
  if (url === null) return null;
  const [{ createPostgres }, { createReplica }] = await Promise.all([
    import('./db/postgres/postgres.ts'),
    import('./db/postgres/replica.ts'),
  ]);
  return createReplica({ primary, db: createPostgres({ url }) });
}

const firstAttempts = 3;
const attemptPauseMs = 300;

/** While a process starts it is busy loading itself, and may read the database's answer too late. */
async function awaitAnswer(db: Db): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.ping();
      return;
    } catch (error) {
      if (attempt === firstAttempts) throw error;
      await sleep(attemptPauseMs); // not the clock's, which keeps no process alive
    }
  }
}

export async function openSharedState(config: AdapterConfig, deps: Deps): Promise<SharedState & Closing> {
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

export async function openStores(config: AdapterConfig, { clock }: Deps): Promise<Stores & Closing> {
  const blobs = config.s3
    ? (await import('./blobs/s3.ts')).createS3Blobs(config.s3)
    : createFolderBlobs(join(config.dataDir, 'blobs'), clock);
  if (config.smtpUrl !== null) {
    const { createSmtpMail } = await import('./mail/smtp.ts');
    const isHere = ownHosts.has(new URL(config.smtpUrl).hostname);
    const requiresTls = config.isProduction && !config.smtpAllowsPlaintext && !isHere;
    const mail = createSmtpMail({ url: config.smtpUrl, from: config.mailFrom, requiresTls });
    return { blobs, mail, mailbox: null, close: () => closeAll([blobs, mail]) };
  }
  if (config.isProduction) return { blobs, mail: createNoMail(), mailbox: null, close: () => blobs.close() };
  const mailbox = createMailbox(clock);
  return { blobs, mail: mailbox, mailbox, close: () => closeAll([blobs, mailbox]) };
}

/** Everything a process runs on. */
export type OpenAdapters = Adapters & Closing;

export async function openAdapters(config: AdapterConfig, deps: Deps): Promise<OpenAdapters> {
  const { opened, ...adapters } = await beginAdapters(config, deps);
  await opened;
  return adapters;
}

/** The same, with the database still opening: it may be asked when `opened` has resolved. */
export async function beginAdapters(
  config: AdapterConfig,
  deps: Deps,
): Promise<OpenAdapters & { opened: Promise<void> }> {
  const { db, opened } = await beginDatabase(config, deps.log);
  opened.catch(() => {}); // who awaits it gets the error, perhaps only when the rest is open
  const [shared, stores] = await Promise.all([openSharedState(config, deps), openStores(config, deps)]).catch(
    async (error) => {
      await db.close();
      throw error;
    },
  );
  const replica = await openReplica(config, db);
  const closing = [shared, stores, ...(replica ? [replica] : []), db];
  return { ...shared, ...stores, db, replica, opened, close: () => closeAll(closing) };
}
