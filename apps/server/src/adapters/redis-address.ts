/** Where shared state is, from REDIS_URL: one URL, or several with commas between them. */
export type RedisAddress =
  /** Each has its share of the names. */
  | { kind: 'servers'; servers: readonly RedisServer[] }
  | { kind: 'cluster'; nodes: readonly RedisNode[]; login: RedisLogin }
  | { kind: 'sentinel'; nodes: readonly RedisNode[]; login: RedisLogin; master: string };

interface RedisServer {
  /** Host and port, however the URL spells them: a new password moves nothing. */
  id: string;
  url: string;
}

export interface RedisNode {
  /** An IPv6 address is without its brackets. */
  host: string;
  port: number;
}

export interface RedisLogin {
  username?: string;
  password?: string;
  isTls: boolean;
}

const kinds = { redis: 'servers', 'redis+cluster': 'cluster', 'redis+sentinel': 'sentinel' } as const;
const defaultPorts = { servers: 6379, cluster: 6379, sentinel: 26379 } as const;

export const redisSchemes = 'redis://, redis+cluster:// or redis+sentinel://, over TLS rediss instead of redis';

/** Throws an `Error` whose message says what is wrong; it never contains the URL, which may have a password. */
export function parseRedisUrl(text: string): RedisAddress {
  const urls = text.split(',').map((part) => part.trim());
  const parsed = urls.map((url) => (URL.canParse(url) ? new URL(url) : refuse(`must start with ${redisSchemes}`)));
  const schemes = new Set(parsed.map(({ protocol }) => protocol));
  const [first] = parsed;
  if (schemes.size > 1 || !first) refuse('must have URLs of one kind');
  const scheme = first.protocol.replace(/^rediss/, 'redis').slice(0, -1);
  const kind = kinds[scheme as keyof typeof kinds] ?? refuse(`must start with ${redisSchemes}`);
  const nodes = parsed.map((url) => nodeOf(url, defaultPorts[kind]));
  const ids = nodes.map(idOf);
  if (new Set(ids).size < ids.length) refuse('names a server twice');
  if (kind === 'servers') return { kind, servers: urls.map((url, at) => ({ id: ids[at] ?? '', url })) };
  const login = loginOf(first);
  const paths = new Set(parsed.map(({ pathname }) => pathname.replace('/', '')));
  const [path = ''] = paths;
  if (kind === 'cluster') return path === '' ? { kind, nodes, login } : refuse('of a cluster has no database');
  if (path === '' || paths.size > 1) refuse('of sentinels must end with the name of the master, the same for all');
  return { kind, nodes, login, master: decodeURIComponent(path) };
}

// A scheme that the URL standard does not know keeps the letters of its host as they are.
const nodeOf = ({ hostname, port }: URL, defaultPort: number): RedisNode => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase(),
  port: Number(port) || defaultPort,
});

/** As in a URL. */
export const idOf = ({ host, port }: RedisNode): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const loginOf = ({ username, password, protocol }: URL): RedisLogin => ({
  ...(username !== '' && { username: decodeURIComponent(username) }),
  ...(password !== '' && { password: decodeURIComponent(password) }),
  isTls: protocol.startsWith('rediss'),
});

function refuse(reason: string): never {
  throw new Error(reason);
}
