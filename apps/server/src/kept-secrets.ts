import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Secrets that a machine can make for itself. */
export const secretNames = ['SECRET_KEY', 'SFU_REGISTRATION_SECRET'] as const;
type SecretName = (typeof secretNames)[number];
type KeptSecrets = Partial<Record<SecretName, string>>;

/** Why the kept secrets cannot be used: a sentence that says what to do. */
export class SecretsRefused extends Error {
  override name = 'SecretsRefused';
}

interface KeptSecretsOptions {
  dataDir: string;
  /** The secrets that no variable gives. */
  missing: readonly SecretName[];
  isProduction: boolean;
}

/** The missing secrets from the data folder; what is not there yet is made now and kept for the later starts. */
export const keptSecrets = (options: KeptSecretsOptions): KeptSecrets =>
  completed(options, (kept, made) => keep(options.dataDir, kept, made));

/** The same without a trace: what the next start would make is made up. */
export const plannedSecrets = (options: KeptSecretsOptions): KeptSecrets =>
  completed(options, (kept, made) => ({ ...kept, ...made }));

function completed(
  { dataDir, missing, isProduction }: KeptSecretsOptions,
  complete: (kept: KeptSecrets, made: KeptSecrets) => KeptSecrets,
): KeptSecrets {
  if (missing.length === 0) return {};
  const path = pathIn(dataDir);
  const kept = existsSync(path) ? readKept(path, isProduction) : {};
  const wanted = missing.filter((name) => kept[name] === undefined);
  if (wanted.length === 0) return kept;
  const database = join(dataDir, 'db');
  if (isProduction && wanted.includes('SECRET_KEY') && existsSync(database))
    throw new SecretsRefused(
      `SECRET_KEY is not set, and ${database} was written with one: set the same again, or restore ${path} from a backup.`,
    );
  const made = Object.fromEntries(wanted.map((name) => [name, randomBytes(36).toString('base64url')]));
  return complete(kept, made);
}

const pathIn = (dataDir: string): string => join(dataDir, 'secrets.json');

/** Null where none are kept. */
export const readKeptSecrets = (dataDir: string): KeptSecrets | null =>
  existsSync(pathIn(dataDir)) ? readKept(pathIn(dataDir), false) : null;

/** Those of another machine, as a backup brings them. */
export const keepSecrets = (dataDir: string, secrets: KeptSecrets): KeptSecrets =>
  keep(dataDir, readKeptSecrets(dataDir) ?? {}, secrets);

function readKept(path: string, isProduction: boolean): KeptSecrets {
  if (isProduction && (statSync(path).mode & 0o007) !== 0)
    throw new SecretsRefused(`${path} can be read by everybody on this machine: run chmod 600 ${path}.`);
  const kept = parsed(readFileSync(path, 'utf8'));
  const isWhole =
    typeof kept === 'object' && kept !== null && !Array.isArray(kept) && Object.values(kept).every(isSecret);
  if (!isWhole)
    throw new SecretsRefused(
      `${path} holds no secrets: restore it from a backup. Without it, what was signed and sealed with them is lost.`,
    );
  return kept;
}

const isSecret = (value: unknown): boolean => typeof value === 'string' && Buffer.byteLength(value) >= 32;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** On disk before they are used: what they sign must be readable after a power cut. */
function keep(dataDir: string, kept: KeptSecrets, made: KeptSecrets): KeptSecrets {
  const path = pathIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const secrets = { ...kept, ...made };
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, 'w', 0o600);
  writeSync(file, `${JSON.stringify(secrets, null, 2)}\n`);
  fsyncSync(file);
  closeSync(file);
  if (Object.keys(kept).length > 0) {
    renameSync(draft, path);
    return secrets;
  }
  try {
    linkSync(draft, path);
    return secrets;
  } catch (error) {
    // Another process with this folder was first: its secrets are the ones.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readKept(path, false);
  } finally {
    rmSync(draft);
  }
}
