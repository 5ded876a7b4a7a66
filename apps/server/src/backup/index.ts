import { existsSync, rmSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DataFolderLocked, lockFolder } from '../adapters/db/embedded/folder-lock.ts';
import { refuseNewer, serverMigrations } from '../adapters/db/shared/migrate.ts';
import { embeddedFolder, openStores, openUnmigrated } from '../adapters/open.ts';
import { type Config, readConfig, type Variables } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import type { Db } from '../core/db.ts';
import { randomBase62 } from '../core/ids.ts';
import { createLog, type Log } from '../core/log.ts';
import { forgetEpochs } from '../domains/chat/upkeep/epoch-store.ts';
import { keepSecrets, readKeptSecrets } from '../kept-secrets.ts';
import { version } from '../version.ts';
import type { WriteFrame } from './frames.ts';
import { receiveSnapshot } from './live-snapshot.ts';
import { BackupRefused } from './refused.ts';
import { type Archive, type Contents, restoreArchive, verifyArchive } from './restore-archive.ts';
import { type AssertHeld, withRestoreLock } from './restore-lock-store.ts';
import { exists } from './sealed-file.ts';
import { countTables, dropSince, listDrops, takeSnapshot } from './snapshot-store.ts';
import { type Source, type Written, writeArchive } from './write-archive.ts';

export { explainStartFailure } from '../start-failure.ts';

interface BackupOptions extends Archive {
  /** Leaves attachments out, where the bucket has a backup of its own. */
  withoutFiles: boolean;
  progress: (line: string) => void;
}

/** Backs up what a process with these variables stands on, whether one is running or not. */
export async function backup(variables: Variables, options: BackupOptions): Promise<Written> {
  const path = resolve(options.path);
  if (existsSync(path)) throw exists(path);
  if (!existsSync(dirname(path))) throw new BackupRefused(`There is no folder ${dirname(path)}.`);
  const config = readConfig(variables);
  if (config.databaseUrl === null && !hasEmbedded(config))
    throw new BackupRefused(
      `There is no database in ${config.dataDir}: set DATA_DIR or DATABASE_URL as the service has it.`,
    );
  const log = createLog(config.logLevel);
  const stores = await openStores(config, { clock: systemClock, log });
  try {
    const source: Source = {
      snapshot: (write) => snapshotOf(config, log, write),
      blobs: options.withoutFiles ? null : stores.blobs,
      secrets: { is: 'secrets', values: secretsOf(config), devEnv: await readDevEnv(config) },
    };
    const createdAt = new Date(systemClock.now()).toISOString();
    return await writeArchive(source, { ...options, path, version, createdAt });
  } finally {
    await stores.close();
  }
}

const hasEmbedded = (config: Config): boolean => existsSync(join(embeddedFolder(config), 'postgres'));

const devEnvPath = ({ dataDir }: Config): string => join(dataDir, 'dev.env');

/** What `npm start` left for its newcomer: without it the next start would make another account. */
const readDevEnv = (config: Config): Promise<string | null> =>
  config.isProduction ? Promise.resolve(null) : readFile(devEnvPath(config), 'utf8').catch(() => null);

const archivedSecrets: readonly string[] = ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'SFU_REGISTRATION_SECRET'];

const secretsOf = ({ secretKey, secretKeyPrevious, sfuSecrets }: Config): Record<string, string> => ({
  SECRET_KEY: secretKey,
  ...(secretKeyPrevious === null ? {} : { SECRET_KEY_PREVIOUS: secretKeyPrevious }),
  SFU_REGISTRATION_SECRET: sfuSecrets.join(','),
});

async function snapshotOf(config: Config, log: Log, write: WriteFrame): Promise<void> {
  let db: Db;
  try {
    db = await openUnmigrated(config, log);
  } catch (error) {
    if (error instanceof DataFolderLocked) return receiveSnapshot(embeddedFolder(config), write);
    throw error;
  }
  try {
    await takeSnapshot(db, write);
  } finally {
    await db.close();
  }
}

interface RestoreOptions extends Archive {
  progress: (line: string) => void;
}

interface Restored extends Contents {
  /** Where secrets were kept that no variable gives; null when the variables have them all. */
  secretsIn: string | null;
}

/** Makes an empty machine what the archived one was. */
export async function restore(variables: Variables, { progress, ...archive }: RestoreOptions): Promise<Restored> {
  const contents = await verifyArchive(archive, progress);
  refuseNewer(contents.manifest.schema, serverMigrations);
  const config = configFor(variables, contents);
  if (config.databaseUrl === null && hasEmbedded(config))
    throw new BackupRefused(
      `${config.dataDir} holds a database: restore into another DATA_DIR, or move this one away.`,
    );
  const log = createLog(config.logLevel);
  const stores = await openStores(config, { clock: systemClock, log });
  const db = await openUnmigrated(config, log);
  try {
    // The embedded one is locked by its folder.
    if (config.databaseUrl === null) await fillEmpty(async () => {});
    else await underLock(config, log, fillEmpty);
  } finally {
    await db.close();
    await stores.close();
  }
  return { ...contents, secretsIn: await keep(variables, config, contents) };

  async function fillEmpty(assertHeld: AssertHeld): Promise<void> {
    if ((await countTables(db)) > 0)
      throw new BackupRefused('The database in DATABASE_URL has tables: restore into one that was just created.');
    // No more than functions.
    const before = await listDrops(db);
    try {
      await restoreArchive(archive, contents.manifest, { db, blobs: stores.blobs }, progress);
      await forgetEpochs(db, randomBase62(12));
    } catch (error) {
      // What is left there the next start would take for its database.
      await empty(before, assertHeld).catch(() => progress('What was begun is still in the database: drop it.'));
      throw error;
    }
  }

  /** Removes what this restore made, and only while nobody else can have made it. */
  async function empty(before: readonly string[], assertHeld: AssertHeld): Promise<void> {
    if (config.databaseUrl !== null) {
      await assertHeld();
      return await dropSince(db, before);
    }
    await db.close();
    const lock = lockFolder(embeddedFolder(config));
    rmSync(join(embeddedFolder(config), 'postgres'), { recursive: true, force: true });
    lock.release();
  }
}

async function underLock(config: Config, log: Log, work: (assertHeld: AssertHeld) => Promise<void>): Promise<void> {
  const db = await openUnmigrated(config, log);
  try {
    await withRestoreLock(db, work);
  } finally {
    await db.close();
  }
}

/** The settings, with the archive's secrets where the variables give none; what it sealed needs its own key. */
function configFor(variables: Variables, { secrets: { values } }: Contents): Config {
  const strange = Object.keys(values).find((name) => !archivedSecrets.includes(name));
  if (strange !== undefined) throw new BackupRefused(`The archive is damaged: ${strange} is no secret.`);
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const config = readConfig({ ...values, ...given });
  const kept = readKeptSecrets(config.dataDir);
  if (kept !== null && kept['SECRET_KEY'] !== values['SECRET_KEY'] && given['SECRET_KEY'] === undefined)
    throw new BackupRefused(`${config.dataDir} holds secrets of another installation: move its secrets.json away.`);
  if (![config.secretKey, config.secretKeyPrevious].includes(values['SECRET_KEY'] ?? ''))
    throw new BackupRefused(
      'SECRET_KEY is not the one of this backup, without which its webhook secrets and sessions are lost: unset it, and the one in the archive is used.',
    );
  return config;
}

/** Keeps what the variables do not give; answers where. */
async function keep(variables: Variables, config: Config, { secrets }: Contents): Promise<string | null> {
  const { values, devEnv } = secrets;
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  if (devEnv !== null && !config.isProduction && !existsSync(devEnvPath(config)))
    await writeFile(devEnvPath(config), devEnv, { mode: 0o600 });
  if (Object.keys(values).every((name) => variables[name]?.trim())) return null;
  keepSecrets(config.dataDir, values);
  return join(config.dataDir, 'secrets.json');
}
