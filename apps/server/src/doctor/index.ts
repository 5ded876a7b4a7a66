import { type DatabaseFacts, diagnosePostgres } from '../adapters/db/shared/diagnose.ts';
import { serverMigrations } from '../adapters/db/shared/migrate.ts';
import { openSharedState, openStores } from '../adapters/open.ts';
import { type Config, ConfigError, inspectConfig, type Variables } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import { settingRows } from '../settings.ts';
import { clockFinding, remoteTime } from './clock.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkFolder, checkOwnStorage } from './folder.ts';
import { checkNode, checkRunningMedia } from './media-node.ts';
import { checkPlainPort, checkPort, isOurs } from './network.ts';
import { checkReplica } from './replica.ts';
import { checkTls } from './tls.ts';

export type { Finding } from './finding.ts';

const patienceMs = 5_000;
const postgresMin = 150_000;

/** Looks at everything a process with these variables would stand on, and says what would not hold. Writes nothing. */
export async function* examine(variables: Variables): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = inspectConfig(variables);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems)
      yield fail('settings', problem, `${adviceOn(problem)}See docs/reference/settings.md.`);
    return;
  }
  yield ok('settings', `Settings are valid for ${config.isProduction ? 'production' : 'development'}.`);
  if (config.isProduction) yield checkRegistration(config);
  yield* adviseOnExposure(config);
  yield ok('runtime', `Node ${process.versions.node}.`);
  const isRunning = await isOurs(config.port);
  yield await checkPort(config, isRunning);
  const plain = await checkPlainPort(config, isRunning);
  if (plain !== null) yield plain;
  yield* await checkTls(config, isRunning);
  yield checkFolder(config, isRunning);
  const database = config.databaseUrl === null ? null : await inspectDatabase(config.databaseUrl);
  yield database === null ? embeddedDatabase(config) : database.finding;
  if (config.databaseUrl !== null && config.databaseReadUrl !== null)
    yield await checkReplica(config.databaseUrl, config.databaseReadUrl);
  if (config.redisUrl !== null) yield await checkRedis(config);
  yield config.s3 === null ? await checkOwnStorage(config) : await checkBucket(config, config.s3.bucket);
  if (config.runsMediaNode) yield* checkNode(config, variables, isRunning);
  if (isRunning) yield await checkRunningMedia(config);
  yield* await checkClock(config, database?.facts ?? null);
}

/** An instance on the internet that anybody may register on serves anybody. */
const checkRegistration = ({ registration: { policy, domains } }: Config): Finding =>
  policy === 'OPEN' && domains.length === 0
    ? warn(
        'accounts',
        'Anybody who reaches this instance can make an account.',
        'Set REGISTRATION=invite, or list your domains in REGISTRATION_DOMAINS, unless strangers are welcome.',
      )
    : ok('accounts', `Accounts: ${policy.toLowerCase()}${domains.length > 0 ? `, of ${domains.join(', ')}` : ''}.`);

/** What works and is still not how it should stay. */
function* adviseOnExposure(config: Config): Generator<Finding> {
  const { isProduction, metricsToken, metricsPort, secretKeyPrevious, smtpUrl, smtpAllowsPlaintext } = config;
  if (isProduction && metricsToken === null && metricsPort === null)
    yield warn('metrics', '/metrics answers everybody who reaches this port.', 'Set METRICS_TOKEN or METRICS_PORT.');
  if (isProduction && smtpUrl === null)
    yield warn(
      'mail',
      'No mail is sent: beyond the first account nobody can register or reset a password.',
      'Set SMTP_URL and MAIL_FROM. Until then the first account is made by the link that the server prints at its start.',
    );
  if (isProduction && smtpUrl !== null && smtpAllowsPlaintext)
    yield warn('mail', 'Mail may leave unencrypted, with links that sign in.', 'Unset SMTP_ALLOW_PLAINTEXT.');
  if (secretKeyPrevious !== null)
    yield warn(
      'secrets',
      'SECRET_KEY is being rotated: what the previous one signed is still accepted.',
      'Unset SECRET_KEY_PREVIOUS 30 days after the last process that signs with it.',
    );
}

/** What the table says of the variable that a problem begins with. */
function adviceOn(problem: string): string {
  const row = settingRows.find(({ name }) => problem.startsWith(`${name} `));
  return row ? `${row.name} takes: ${row.takes}. Default: ${row.default}. ` : '';
}

const embeddedDatabase = ({ isProduction, dataDir }: Config): Finding =>
  isProduction
    ? warn(
        'database',
        `The database is embedded in ${dataDir}: not safe against a power cut, and for one process only.`,
        'Set DATABASE_URL to a PostgreSQL 15 or newer.',
      )
    : ok('database', `The database is embedded in ${dataDir}.`);

async function inspectDatabase(url: string): Promise<{ finding: Finding; facts: DatabaseFacts | null }> {
  try {
    const facts = await inTime(diagnosePostgres(url, serverMigrations));
    return { finding: databaseFinding(facts), facts };
  } catch (error) {
    const finding = fail(
      'database',
      `The database in DATABASE_URL does not answer (${(error as Error).message}).`,
      'Start it, and check host, port, user and password.',
    );
    return { finding, facts: null };
  }
}

function databaseFinding({ version, pending, latencyMs }: DatabaseFacts): Finding {
  const name = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
  if (version < postgresMin) return fail('database', `${name} is too old.`, 'Use PostgreSQL 15 or newer.');
  if (pending.length > 0)
    return warn(
      'database',
      `${name} answers; ${pending.length} migrations have not run yet.`,
      'They run at the next start, or now with: parley migrate.',
    );
  return ok('database', `${name} answers in ${latencyMs.toFixed(1)} ms and is up to date.`);
}

async function checkRedis(config: Config): Promise<Finding> {
  try {
    const shared = await inTime(openSharedState(config, { clock: systemClock, log: createLog('silent') }));
    try {
      const latencyMs = (await shared.bus.ping()) ?? 0;
      return ok('redis', `Redis answers in ${latencyMs.toFixed(1)} ms.`);
    } finally {
      await shared.close();
    }
  } catch {
    return fail('redis', 'The Redis in REDIS_URL does not answer.', 'Start it, and check host, port and password.');
  }
}

async function checkBucket(config: Config, bucket: string): Promise<Finding> {
  const { blobs, close } = await openStores(config, { clock: systemClock, log: createLog('silent') });
  try {
    const latencyMs = await inTime(blobs.ping());
    return ok('storage', `Bucket ${bucket} answers in ${latencyMs.toFixed(1)} ms.`);
  } catch (error) {
    const fix = 'Check S3_ENDPOINT, S3_BUCKET and the keys.';
    return fail('storage', `Files cannot be stored (${(error as Error).message}).`, fix);
  } finally {
    await close();
  }
}

async function checkClock(config: Config, database: DatabaseFacts | null): Promise<Finding[]> {
  const seen: [who: string, skewMs: number][] = [];
  if (database) seen.push(['the database', database.now - systemClock.now()]);
  const address = await remoteTime(config.publicUrl);
  if (address !== null) seen.push([config.publicUrl, address - systemClock.now()]);
  if (seen.length === 0) return [ok('clock', 'No other clock is in reach to compare with.')];
  return seen.map(([who, skewMs]) => clockFinding(who, skewMs));
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs / 1000} s`)), patienceMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
