import { isIP } from 'node:net';
import { type About, type Setting, type Source, secretBytesMin, setting } from '@parley/contract/settings';
import { parseRedisUrl, redisSchemes } from './adapters/redis-address.ts';

export const list = (name: string, about: About<readonly string[]>): Setting<readonly string[]> =>
  setting(name, { takes: 'list, comma separated', parse: partsOf }, { default: [], ...about });

const partsOf = (given: string): readonly string[] =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const flag = (name: string, about: About<boolean>): Setting<boolean> =>
  setting(name, { takes: 'true or false', parse: parseFlag }, about);

function parseFlag(given: string, name: string, { report }: Source): boolean {
  if (given !== 'true' && given !== 'false') report(`${name} must be true or false, not "${given}".`);
  return given === 'true';
}

export function oneOf<const T extends string>(name: string, allowed: readonly T[], about: About<T>): Setting<T> {
  return setting<T, T>(
    name,
    {
      takes: allowed.join(', '),
      parse(given, _name, { report }) {
        const match = allowed.find((value) => value === given);
        if (match === undefined) report(`${name} must be one of ${allowed.join(', ')}, not "${given}".`);
        // A problem was reported, so nothing will use the value.
        return match ?? (given as T);
      },
    },
    about,
  );
}

export const port = <D = null>(name: string, about: About<D>): Setting<number | D> =>
  setting(name, { takes: 'port', parse: parsePort }, about);

function parsePort(given: string, name: string, { report }: Source): number {
  const number = Number(given);
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    report(`${name} must be a port from 1 to 65535, not "${given}".`);
  return number;
}

/** With 0 there is none. */
export const portOrNone = (name: string, about: About<number | null>): Setting<number | null> =>
  setting<number | null, number | null>(
    name,
    {
      takes: 'port, or 0 for none',
      parse: (given, _name, source) => (given === '0' ? null : parsePort(given, name, source)),
    },
    about,
  );

/** A number from 0 to 1. */
export const share = (name: string, about: About<number>): Setting<number> =>
  setting(name, { takes: 'number from 0 to 1', parse: parseShare }, about);

function parseShare(given: string, name: string, { report }: Source): number {
  const number = Number(given);
  if (!(number >= 0 && number <= 1)) report(`${name} must be a number from 0 to 1.`);
  return number;
}

type Protocol = 'http:' | 'https:' | 'postgres:' | 'postgresql:' | 'smtp:' | 'smtps:';

export const url = <D extends string | null>(
  name: string,
  protocols: readonly Protocol[],
  about: About<D>,
): Setting<string | D> =>
  setting(
    name,
    {
      takes: `URL (${starts(protocols)})`,
      parse(given, _name, { report }) {
        if (!URL.canParse(given) || !protocols.some((protocol) => protocol === new URL(given).protocol))
          report(`${name} must be a URL that starts with ${starts(protocols)}.`);
        return given;
      },
    },
    about,
  );

/** One Redis, several, sentinels or a cluster. */
export const redisUrl = <D extends string | null>(name: string, about: About<D>): Setting<string | D> =>
  setting(
    name,
    {
      takes: `URL (${redisSchemes}), several with commas`,
      parse(given, _name, { report }) {
        try {
          parseRedisUrl(given);
        } catch (error) {
          report(`${name} ${error instanceof Error ? error.message : error}.`);
        }
        return given;
      },
    },
    about,
  );

const starts = (protocols: readonly Protocol[]): string => protocols.map((protocol) => `${protocol}//`).join(' or ');

/** In production only over TLS. */
export function secureUrl<D extends string | null>(name: string, about: About<D>): Setting<string | D> {
  const anywhere = url(name, ['http:', 'https:'], about);
  const secure = url(name, ['https:'], about);
  return { rows: anywhere.rows, read: (source) => (source.isProduction ? secure : anywhere).read(source) };
}

const distinctCharactersMin = 10;
/** What examples and tutorials write where a secret should be. */
const placeholder = /change.?me|replace.?me|example|placeholder|your.?(own|secret)|insecure|fill.?in/i;

/** A secret of ours, or several with commas between them while one is rotated. */
export const secrets = (name: string, about: About<null>): Setting<readonly string[] | null> =>
  setting(
    name,
    { takes: `text of at least ${secretBytesMin} bytes`, parse: parseSecrets },
    { ...about, defaultText: 'made and kept in DATA_DIR; required in production with DATABASE_URL', isSecret: true },
  );

/** One that is on its way out: it need not be there. */
export const previousSecret = (name: string, about: About<null>): Setting<readonly string[] | null> =>
  setting(
    name,
    { takes: `text of at least ${secretBytesMin} bytes`, parse: parseSecrets },
    { ...about, defaultText: 'unset', isSecret: true },
  );

function parseSecrets(given: string, name: string, { isProduction, report }: Source): readonly string[] {
  const parts = given.split(',').filter((part) => part !== '');
  if (parts.length === 0 || parts.some((part) => Buffer.byteLength(part) < secretBytesMin))
    report(`${name} must be at least ${secretBytesMin} bytes long: try "openssl rand -base64 48".`);
  // Long is not enough: a secret from a public file is none.
  const isGuessable = parts.some((part) => new Set(part).size < distinctCharactersMin || placeholder.test(part));
  if (isProduction && isGuessable) report(`${name} can be guessed: make one with "openssl rand -base64 48".`);
  return parts;
}

/** `name=value` pairs with commas between them. */
export const headers = (name: string, about: About<Readonly<Record<string, string>>>) =>
  setting(name, { takes: 'name=value, comma separated', parse: parseHeaders }, { default: {}, ...about });

function parseHeaders(given: string, name: string, { report }: Source): Readonly<Record<string, string>> {
  const pairs = partsOf(given).map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
  if (pairs.includes(null)) report(`${name} must be name=value pairs with commas between them.`);
  return Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim(), pair?.[2]?.trim()]));
}

/** Networks, addresses and host names. */
export const hosts = (name: string, about: About<readonly string[]>): Setting<readonly string[]> =>
  setting(name, { takes: 'list, comma separated', parse: parseHosts }, about);

function parseHosts(given: string, name: string, { report }: Source): readonly string[] {
  const entries = partsOf(given);
  for (const entry of entries)
    if (!isNetwork(entry) && !/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(entry))
      report(`${name} must list networks, addresses or host names, not "${entry}".`);
  return entries;
}

function isNetwork(entry: string): boolean {
  const [address = '', prefix = '0', rest] = entry.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && rest === undefined && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits;
}
