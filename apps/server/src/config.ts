import { type Limits, limitRows, readLimits } from '@parley/contract/limits';
import type { Source, ValueOf } from '@parley/contract/settings';
import { type Variables, withoutServiceLinks } from '@parley/contract/variables';
import { isLoopbackHost } from './core/hosts.ts';
import { keptSecrets, plannedSecrets, SecretsRefused, secretNames } from './kept-secrets.ts';
import { mode, settingRows, settings } from './settings.ts';

type Given = ValueOf<typeof settings>;

/** The settings of a process. Read once, at start; the only reader of the environment. */
export interface Config extends Omit<Given, 'secretKey' | 'sfuSecrets'> {
  secretKey: string;
  sfuSecrets: readonly string[];
  limits: Limits;
}

/** The configuration cannot be used. Each problem is a sentence that names its variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export type { Variables } from '@parley/contract/variables';

/** Reads and checks every variable; throws one ConfigError that lists all that is wrong. */
export const readConfig = (environment: Variables): Config => read(environment, keptSecrets);

/** The same for a reader: no secret is made and kept. */
export const inspectConfig = (environment: Variables): Config => read(environment, plannedSecrets);

function read(environment: Variables, secretsOf: typeof keptSecrets): Config {
  const variables = withoutServiceLinks(environment);
  const { limits, problems: limitProblems } = readLimits(variables);
  const problems = new Set([...unknownVariables(variables), ...limitProblems]);
  const source: Source = {
    isProduction: false,
    text: (name) => variables[name]?.trim() || null,
    report: (problem) => void problems.add(problem),
  };
  const isProduction = mode.read(source) === 'production';
  const given = settings.read({ ...source, isProduction });
  if (isProduction && given.sfuSecrets?.some((secret) => given.secretKey?.split(',').includes(secret)))
    source.report('SECRET_KEY and SFU_REGISTRATION_SECRET must differ: media nodes know only the second.');
  for (const problem of [...leftDevelopmentSettings(given), ...unsharedSecrets(given)]) source.report(problem);
  if (given.secretKeyPrevious !== null && given.secretKeyPrevious === given.secretKey)
    source.report('SECRET_KEY_PREVIOUS must be another secret than SECRET_KEY.');
  if (problems.size > 0) throw new ConfigError([...problems]);
  return { ...given, ...completeSecrets(given, secretsOf), limits };
}

/** Development mode shows its mail to anyone who asks, so it stays on this machine: a forgotten NODE_ENV is found here. */
function leftDevelopmentSettings({ isProduction, allowsPublicDevelopment, publicUrl, host }: Given): string[] {
  if (isProduction || allowsPublicDevelopment) return [];
  const remedy = 'set NODE_ENV=production, or ALLOW_PUBLIC_DEVELOPMENT=true if others may read its mail and sign in.';
  const refused = (name: string) => `${name} is not of this machine alone, and this is development mode: ${remedy}`;
  // One that is no URL has been reported as such.
  const isStray = URL.canParse(publicUrl) && !isLoopbackHost(new URL(publicUrl).hostname);
  return [...(isStray ? [refused('PUBLIC_URL')] : []), ...(isLoopbackHost(host) ? [] : [refused('HOST')])];
}

/** What no variable gives is made once and kept. */
function completeSecrets(given: Given, secretsOf: typeof keptSecrets): Pick<Config, 'secretKey' | 'sfuSecrets'> {
  try {
    const kept = secretsOf({ ...given, missing: missingSecrets(given) });
    return {
      secretKey: given.secretKey ?? kept.SECRET_KEY ?? '',
      // Of a machine whose secret was being rotated a backup brings two.
      sfuSecrets: given.sfuSecrets ?? (kept.SFU_REGISTRATION_SECRET ?? '').split(','),
    };
  } catch (error) {
    throw error instanceof SecretsRefused ? new ConfigError([error.message]) : error;
  }
}

function missingSecrets({ secretKey, sfuSecrets }: Given) {
  const given = { SECRET_KEY: secretKey, SFU_REGISTRATION_SECRET: sfuSecrets };
  return secretNames.filter((name) => given[name] === null);
}

/** Servers of one database sign and seal for each other: none may make secrets of its own. */
const unsharedSecrets = (given: Given): string[] =>
  given.isProduction && given.databaseUrl !== null
    ? missingSecrets(given).map(
        (name) =>
          `${name} must be set in production with DATABASE_URL, to the same on every server: make it once with "openssl rand -base64 48".`,
      )
    : [];

/** Prefixes that only we use; HTTP_, RATE_ or S3_ may be another program's. */
const ownPrefixes = new Set([
  'SIGNALING',
  'SFU',
  'CHAT',
  'STORAGE',
  'WEBHOOK',
  'PUSH',
  'LIVE',
  'USAGE',
  'PLAYGROUND',
  'OAUTH',
  'RTC',
  'OBSERVABILITY',
  'REGISTRATION',
]);

/** A variable that starts like one of ours and is none of them is a typing error that would silently do nothing. */
function unknownVariables(variables: Variables): string[] {
  const known = new Set([...settingRows.map(({ name }) => name), ...Object.keys(limitRows)]);
  const isSuspect = (name: string): boolean => name.includes('_') && ownPrefixes.has(name.split('_')[0] ?? '');
  return Object.keys(variables)
    .filter((name) => isSuspect(name) && !known.has(name))
    .map((name) => `${name} is not a setting.${nearest(name, known)}`);
}

function nearest(name: string, known: ReadonlySet<string>): string {
  const [closest] = [...known]
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .sort((a, b) => a.distance - b.distance);
  return closest && closest.distance <= 4 ? ` Did you mean ${closest.other}?` : '';
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const change = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
