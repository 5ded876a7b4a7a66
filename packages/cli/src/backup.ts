import { readFileSync } from 'node:fs';
import { type Command, type Context, UsageError, type Values } from './command.ts';

const passphraseOption = {
  'passphrase-file': { type: 'string', means: 'A file with the passphrase; else BACKUP_PASSPHRASE.' },
} as const satisfies Command['options'];

/** Never an option itself: every user of a machine sees the options of its processes. */
function passphraseOf(values: Values, { env }: Context): string | null {
  const file = values['passphrase-file'];
  const passphrase = (typeof file === 'string' ? readPassphrase(file) : env['BACKUP_PASSPHRASE']) ?? '';
  if (typeof file === 'string' && passphrase === '') throw new UsageError(`${file} is empty.`);
  return passphrase === '' ? null : passphrase;
}

function readPassphrase(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new UsageError(`${file} cannot be read.`);
  }
}

/** At most a line a second; each new kind of work at once. */
function progressTo(context: Context): (line: string) => void {
  let [last, kind] = [0, ''];
  return (line) => {
    const [now, begin] = [performance.now(), line.split(':')[0] ?? ''];
    if (begin === kind && now - last < 1_000) return;
    [last, kind] = [now, begin];
    context.error(`${line} …`);
  };
}

const number = (value: number): string => value.toLocaleString('en');

interface Manifest {
  version: string;
  createdAt: string;
  tables: Readonly<Record<string, { rows: number }>>;
  files: { count: number; bytes: number } | null;
}

function summaryOf({ tables, files }: Manifest): string {
  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0);
  const inFiles = files === null ? 'no files' : `${number(files.count)} files (${number(files.bytes)} bytes)`;
  return `${number(rows)} rows, ${inFiles}`;
}

type Work = typeof import('@parley/server-app/backup');

/** What a person can mend is said in a sentence. */
async function explained(work: (server: Work) => Promise<number>, context: Context): Promise<number> {
  const server = await import('@parley/server-app/backup');
  try {
    return await work(server);
  } catch (error) {
    context.error(server.explainStartFailure(error, !context.env['DATABASE_URL']));
    return 1;
  }
}

export const backup: Command = {
  does: 'Writes database, files and secrets into one archive, also while the service runs.',
  usage: '<file> [--passphrase-file <file>] [--without-files]',
  options: {
    ...passphraseOption,
    'without-files': { type: 'boolean', means: 'Leaves attachments out, where their bucket has a backup of its own.' },
  },
  words: { least: 1, most: 1 },
  run: (values, context, [path = '']) =>
    explained(async (server) => {
      const passphrase = passphraseOf(values, context);
      const { manifest, missing } = await server.backup(context.env, {
        path,
        passphrase,
        withoutFiles: values['without-files'] === true,
        progress: progressTo(context),
      });
      context.out(`${path}: ${summaryOf(manifest)}, and the secrets.`);
      for (const key of missing.slice(0, 10))
        context.error(`The store lacks the file ${key}, which the database knows.`);
      if (missing.length > 0) context.error(`${number(missing.length)} files are missing in the store.`);
      if (passphrase === null)
        context.error(
          'It is not encrypted: anyone who reads it has every secret. Set BACKUP_PASSPHRASE to encrypt it.',
        );
      return 0;
    }, context),
};

export const restore: Command = {
  does: 'Fills an empty machine from an archive of parley backup.',
  usage: '<file> [--passphrase-file <file>]',
  options: passphraseOption,
  words: { least: 1, most: 1 },
  run: (values, context, [path = '']) =>
    explained(async (server) => {
      const archive = { path, passphrase: passphraseOf(values, context), progress: progressTo(context) };
      const { manifest, secretsIn } = await server.restore(context.env, archive);
      context.out(`Restored ${summaryOf(manifest)}, as of ${manifest.createdAt} (version ${manifest.version}).`);
      if (manifest.files === null) context.out('The archive has no files: S3_BUCKET must be a bucket that has them.');
      if (secretsIn !== null)
        context.out(`The secrets are in ${secretsIn}; in production with DATABASE_URL give them as variables.`);
      return 0;
    }, context),
};
