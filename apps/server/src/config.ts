import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { type Limits, limitRows, readLimits } from '@parley/contract/limits';
import type { LogLevel } from './core/log.ts';
import type { OAuthConfig } from './domains/accounts/index.ts';
import { settings } from './settings.ts';

/** Everything a process is told from outside. Read once, at start; the only reader of the environment. */
export interface Config {
  isProduction: boolean;
  host: string;
  port: number;
  publicUrl: string;
  dataDir: string;
  databaseUrl: string | null;
  redisUrl: string | null;
  redisPrefix: string;
  s3: S3Config | null;
  smtpUrl: string | null;
  mailFrom: string;
  secretKey: string;
  sfuSecrets: readonly string[];
  sfuAllowedHosts: readonly string[];
  /** Whether this process runs a media node beside it. */
  runsMediaNode: boolean;
  /** UDP port of that node. */
  sfuUdpPort: number;
  /** Runs the playground outside development mode, with this key. */
  playgroundApiKey: string | null;
  turn: { urls: readonly string[]; secret: string | null };
  operatorEmails: readonly string[];
  trustProxy: readonly string[];
  requireVerifiedEmail: boolean;
  oauth: OAuthConfig;
  usageEnforced: boolean;
  webhookAllowPrivate: boolean;
  logLevel: LogLevel;
  traces: TracesConfig | null;
  limits: Limits;
}

export interface TracesConfig {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  sampleRatio: number;
}

export interface S3Config {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
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

export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads and checks every variable; throws one ConfigError that lists all that is wrong. */
export function readConfig(variables: Variables): Config {
  const problems: string[] = unknownVariables(variables);
  const { limits, problems: limitProblems } = readLimits(variables);
  problems.push(...limitProblems);
  const read = createReader(variables, problems);

  const isProduction = read.oneOf('NODE_ENV', ['production', 'development', 'test'], 'development') === 'production';
  const port = read.port('PORT', 4000);
  const dataDir = resolve(read.text('DATA_DIR') ?? '.parley');
  const publicUrl = read.url('PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? null;
  if (isProduction) problems.push(...missingInProduction(variables));

  const config: Omit<Config, 'secretKey' | 'sfuSecrets'> = {
    isProduction,
    host: read.text('HOST') ?? (isProduction ? '0.0.0.0' : '127.0.0.1'),
    port,
    publicUrl: publicUrl ?? `http://localhost:${port}`,
    dataDir,
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: read.url('REDIS_URL', ['redis:', 'rediss:']),
    redisPrefix: read.text('REDIS_KEY_PREFIX') ?? 'parley:',
    s3: readS3(read, problems),
    smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: read.text('MAIL_FROM') ?? 'Parley <no-reply@localhost>',
    sfuAllowedHosts: readAllowedHosts(read, problems),
    // In production a node must know the address it announces; without one the nodes run elsewhere.
    sfuUdpPort: read.port('SFU_UDP_PORT', 4443),
    runsMediaNode: read.flag('SFU_EMBEDDED', !isProduction || read.text('SFU_ANNOUNCED_HOST') !== null),
    playgroundApiKey: readPlaygroundKey(read, problems),
    turn: { urls: read.list('RTC_TURN_URLS'), secret: read.text('RTC_TURN_SECRET') },
    operatorEmails: read.list('OPERATOR_EMAILS').map((email) => email.toLowerCase()),
    trustProxy: read.list('TRUST_PROXY'),
    requireVerifiedEmail: read.flag('AUTH_REQUIRE_VERIFIED_EMAIL', isProduction),
    oauth: readOAuth(read, problems, isProduction),
    usageEnforced: read.flag('USAGE_ENFORCE', false),
    webhookAllowPrivate: read.flag('WEBHOOK_ALLOW_PRIVATE', false),
    logLevel: read.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], isProduction ? 'info' : 'warn'),
    traces: readTraces(read, problems),
    limits,
  };
  problems.push(...shortSecrets(variables), ...(isProduction ? guessableSecrets(variables) : []));
  if (problems.length > 0) throw new ConfigError(problems);

  const secrets = isProduction ? {} : developmentSecrets(dataDir);
  return {
    ...config,
    secretKey: read.text('SECRET_KEY') ?? secrets['SECRET_KEY'] ?? '',
    // Two at once while a secret is being rotated: "new,old".
    sfuSecrets: (read.text('SFU_REGISTRATION_SECRET') ?? secrets['SFU_REGISTRATION_SECRET'] ?? '').split(','),
  };
}

/** The names are OpenTelemetry's own, so that one set of variables serves all of a machine's services. */
function readTraces(read: Reader, problems: string[]): TracesConfig | null {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const sampleRatio = Number(read.text('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(sampleRatio >= 0 && sampleRatio <= 1)) problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  const pairs = read.list('OTEL_EXPORTER_OTLP_HEADERS').map((pair) => pair.split(/=(.*)/s, 2) as [string, string?]);
  if (pairs.some(([name, value]) => name === '' || value === undefined))
    problems.push('OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs with commas between them.');
  if (endpoint === null) return null;
  const headers = Object.fromEntries(pairs.map(([name, value = '']) => [name.trim(), value.trim()]));
  return { endpoint, headers, serviceName: read.text('OTEL_SERVICE_NAME') ?? 'parley', sampleRatio };
}

const secretNames = ['SECRET_KEY', 'SFU_REGISTRATION_SECRET'] as const;
const secretBytesMin = 32;

function missingInProduction(variables: Variables): string[] {
  const needed = [...secretNames, 'PUBLIC_URL'];
  return needed.filter((name) => !variables[name]).map((name) => `${name} must be set in production.`);
}

function shortSecrets(variables: Variables): string[] {
  return secretNames.flatMap((name) => {
    const isShort = secretParts(variables, name).some((part) => Buffer.byteLength(part) < secretBytesMin);
    return isShort ? [`${name} must be at least ${secretBytesMin} bytes long: try "openssl rand -base64 48".`] : [];
  });
}

const secretParts = (variables: Variables, name: string): string[] =>
  (variables[name] ?? '').split(',').filter((part) => part !== '');

const distinctCharactersMin = 10;
/** What examples and tutorials write where a secret should be. */
const placeholder = /change.?me|replace.?me|example|placeholder|your.?(own|secret)|insecure|fill.?in/i;

/** Long is not enough: a secret that is in a file everybody has is none. */
function guessableSecrets(variables: Variables): string[] {
  const problems = secretNames.flatMap((name) => {
    const isGuessable = secretParts(variables, name).some(
      (part) => new Set(part).size < distinctCharactersMin || placeholder.test(part),
    );
    return isGuessable ? [`${name} can be guessed: make one with "openssl rand -base64 48".`] : [];
  });
  const [key = [], registration = []] = secretNames.map((name) => secretParts(variables, name));
  if (key.some((part) => registration.includes(part)))
    problems.push('SECRET_KEY and SFU_REGISTRATION_SECRET must differ: media nodes know only the second.');
  return problems;
}

/** Secrets of a development machine: made on the first start, kept in the data folder for the later ones. */
function developmentSecrets(dataDir: string): Readonly<Record<string, string>> {
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  const secrets = Object.fromEntries(secretNames.map((name) => [name, randomBytes(36).toString('base64url')]));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
  return secrets;
}

/** A variable that starts like one of ours and is none of them is a typing error that would silently do nothing. */
function unknownVariables(variables: Variables): string[] {
  const known = new Set([...Object.keys(settings), ...Object.keys(limitRows)]);
  const prefixes = new Set(
    [...known].map((name) => name.split('_')[0] ?? name).filter((prefix) => ownPrefixes.has(prefix)),
  );
  return Object.keys(variables)
    .filter(
      (name) =>
        prefixes.has(name.split('_')[0] ?? '') &&
        name.includes('_') &&
        !known.has(name) &&
        !name.startsWith('PARLEY_TEST_'),
    )
    .map((name) => `${name} is not a setting.${nearest(name, known)}`);
}

/** Prefixes that nobody else uses; HTTP_, RATE_ or S3_ may be another program's. */
const ownPrefixes = new Set([
  'SIGNALING',
  'SFU',
  'CHAT',
  'STORAGE',
  'WEBHOOK',
  'LIVE',
  'USAGE',
  'PARLEY',
  'PLAYGROUND',
  'OAUTH',
  'RTC',
  'OBSERVABILITY',
]);

function nearest(name: string, known: ReadonlySet<string>): string {
  const close = [...known]
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return close && close.distance <= 4 ? ` Did you mean ${close.other}?` : '';
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

type Reader = ReturnType<typeof createReader>;

function createReader(variables: Variables, problems: string[]) {
  const text = (name: string): string | null => variables[name]?.trim() || null;

  return {
    text,
    list: (name: string): string[] =>
      (text(name) ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    flag(name: string, fallback: boolean): boolean {
      const given = text(name);
      if (given !== null && given !== 'true' && given !== 'false')
        problems.push(`${name} must be true or false, not "${given}".`);
      return given === null ? fallback : given === 'true';
    },
    oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
      const given = text(name);
      if (given === null) return fallback;
      const match = allowed.find((value) => value === given);
      if (match === undefined) problems.push(`${name} must be one of ${allowed.join(', ')}, not "${given}".`);
      return match ?? fallback;
    },
    port(name: string, fallback: number): number {
      const given = text(name);
      const number = Number(given ?? fallback);
      if (!Number.isInteger(number) || number < 1 || number > 65535)
        problems.push(`${name} must be a port from 1 to 65535, not "${given}".`);
      return number;
    },
    url(name: string, protocols: readonly string[]): string | null {
      const given = text(name);
      if (given === null) return null;
      if (!URL.canParse(given) || !protocols.includes(new URL(given).protocol)) {
        problems.push(
          `${name} must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}.`,
        );
      }
      return given;
    },
  };
}

/** Several variables that make sense only together: all or none. */
function readTogether<N extends string>(
  read: Reader,
  problems: string[],
  names: readonly N[],
): Record<N, string> | null {
  const values = names.map((name) => [name, read.text(name)] as const);
  const missing = values.filter(([, value]) => value === null).map(([name]) => name);
  if (missing.length === names.length) return null;
  if (missing.length > 0)
    problems.push(
      `${missing.join(', ')} must be set together with ${names.filter((name) => !missing.includes(name)).join(', ')}.`,
    );
  return Object.fromEntries(values.map(([name, value]) => [name, value ?? ''])) as Record<N, string>;
}

/** The networks that media nodes usually share with us; never a public or link-local address. */
const privateNetworks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
];

function readAllowedHosts(read: Reader, problems: string[]): string[] {
  const given = read.list('SFU_ALLOWED_HOSTS');
  for (const entry of given) {
    const [address = '', prefix, rest] = entry.split('/');
    const bits = isIP(address) === 4 ? 32 : 128;
    const isNetwork =
      isIP(address) !== 0 && rest === undefined && /^\d{1,3}$/.test(prefix ?? '0') && Number(prefix ?? 0) <= bits;
    if (!isNetwork && !/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(entry))
      problems.push(`SFU_ALLOWED_HOSTS must list networks, addresses or host names, not "${entry}".`);
  }
  return given.length > 0 ? given : privateNetworks;
}

function readPlaygroundKey(read: Reader, problems: string[]): string | null {
  const key = read.text('PLAYGROUND_API_KEY');
  // Whoever opens the playground may do what its key may: never with people's real rooms.
  if (key !== null && !key.startsWith('svk_dev_')) problems.push('PLAYGROUND_API_KEY must be a development key.');
  return key;
}

function readS3(read: Reader, problems: string[]): S3Config | null {
  const given = readTogether(read, problems, ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);
  return (
    given && {
      endpoint: read.url('S3_ENDPOINT', ['http:', 'https:']) ?? '',
      bucket: given.S3_BUCKET,
      region: read.text('S3_REGION') ?? 'us-east-1',
      accessKeyId: given.S3_ACCESS_KEY_ID,
      secretAccessKey: given.S3_SECRET_ACCESS_KEY,
    }
  );
}

function readOAuth(read: Reader, problems: string[], isProduction: boolean): OAuthConfig {
  const protocols = isProduction ? ['https:'] : ['http:', 'https:'];
  const providerUrl = (name: string): string | null => read.url(name, protocols)?.replace(/\/+$/, '') ?? null;
  const google = readTogether(read, problems, ['OAUTH_GOOGLE_CLIENT_ID', 'OAUTH_GOOGLE_CLIENT_SECRET']);
  const github = readTogether(read, problems, ['OAUTH_GITHUB_CLIENT_ID', 'OAUTH_GITHUB_CLIENT_SECRET']);
  const oidc = readTogether(read, problems, ['OAUTH_OIDC_ISSUER', 'OAUTH_OIDC_CLIENT_ID', 'OAUTH_OIDC_CLIENT_SECRET']);
  return {
    google: google && { clientId: google.OAUTH_GOOGLE_CLIENT_ID, clientSecret: google.OAUTH_GOOGLE_CLIENT_SECRET },
    github: github && {
      clientId: github.OAUTH_GITHUB_CLIENT_ID,
      clientSecret: github.OAUTH_GITHUB_CLIENT_SECRET,
      url: providerUrl('OAUTH_GITHUB_URL') ?? 'https://github.com',
      apiUrl: providerUrl('OAUTH_GITHUB_API_URL') ?? 'https://api.github.com',
    },
    oidc: oidc && {
      // As it is: a slash at its end belongs to some issuers' names.
      issuer: read.url('OAUTH_OIDC_ISSUER', protocols) ?? '',
      clientId: oidc.OAUTH_OIDC_CLIENT_ID,
      clientSecret: oidc.OAUTH_OIDC_CLIENT_SECRET,
    },
    redirectUris: read.list('OAUTH_REDIRECT_URIS'),
  };
}
