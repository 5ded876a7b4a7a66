import { isIP, isIPv6 } from 'node:net';
import { type Variables, withoutServiceLinks } from '@parley/contract/variables';
import type { Cluster } from './cluster.ts';
import { ConfigError } from './config-error.ts';
import { defaultNodeName } from './node-name.ts';
import type { StunServer } from './stun.ts';

/** The settings of a node. Read once, at start; the only reader of the environment. */
export interface NodeConfig {
  isProduction: boolean;
  name: string;
  region: string;
  secrets: readonly string[];
  controlUrl: string;
  /** Where the control channel listens: one address, inside. Servers dial `internalUrl`, or this when there is none. */
  internalHost: string;
  internalPort: number;
  /** In development a default port that is taken is replaced by another. */
  mayMoveInternalPort: boolean;
  internalUrl: string | null;
  udpPort: number;
  mayMoveUdpPort: boolean;
  bindAddress: string | null;
  /** Of the TURN relay, UDP and TCP; null when there is none. */
  turnPort: number | null;
  mayMoveTurnPort: boolean;
  /** PEM files of a certificate for the announced host: the relay then also takes TLS. */
  turnTls: { port: number; certFile: string; keyFile: string } | null;
  /** All that clients are told, when it is given. */
  announcedHost: string | null;
  /** Told to clients besides the addresses of this machine; `auto` finds them. */
  publicAddresses: 'auto' | readonly string[];
  /** Asked which address it sees; only one that the operator names. */
  stunServer: StunServer | null;
  /** The Kubernetes that knows this machine's external addresses. */
  cluster: Cluster | null;
  /** The host of PUBLIC_URL, where the control plane is on this machine: then that name is this machine's. */
  namedHost: string | null;
  /** How long a node that is told to end waits for its rooms to empty. */
  drainSeconds: number;
  /** Where a NAT maps the UDP port from; the first process has this one. */
  announcedUdpPort: number;
  processes: number;
  /** How busy a media process is before a room goes on in another one as well; null: it never does. */
  roomSpreadPercent: number | null;
  /** Pipes to other nodes: where processes listen, one port after the other, and what others are told; null: none. */
  pipes: { bindHost: string; host: string; port: number } | null;
  capacity: number;
  /** Who scrapes `/metrics` must show it; null: nobody is asked. */
  metricsToken: string | null;
  version: string;
}

export type { Variables } from '@parley/contract/variables';
export { ConfigError };

const NAME = /^[A-Za-z0-9._-]{1,128}$/;
const HOST = /^[A-Za-z0-9.:-]{1,255}$/;
/** Names that collide with routes of the fleet (S55). */
const RESERVED = ['metrics', 'register'];
const SECRET_BYTES_MIN = 32;
const LOOPBACK = '127.0.0.1';
/** In production; unit files, chart and Compose file wait a little longer before they kill. */
const DRAIN_SECONDS = 60;
/** Of a core: what is left is for those who are in already, when more of them speak or share. */
const ROOM_SPREAD_PERCENT = 60;
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

export function readConfig(environment: Variables): NodeConfig {
  const variables = withoutServiceLinks(environment);
  const text = (name: string): string | undefined => variables[name]?.trim() || undefined;
  const isProduction = text('NODE_ENV') === 'production';
  const integer = (name: string, fallback: number, least: number, most: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most)
      throw new ConfigError(`${name} must be a whole number from ${least} to ${most}.`);
    return Number(value);
  };
  const matching = (name: string, fallback: string | null, pattern: RegExp, means: string): string | null => {
    const value = text(name) ?? fallback;
    if (value !== null && !pattern.test(value)) throw new ConfigError(`${name} must be ${means}.`);
    return value;
  };
  const url = (name: string): string | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (!isPlainUrl(value)) throw new ConfigError(`${name} must be an http or https URL without credentials.`);
    return value.replace(/\/+$/, '');
  };

  const name =
    matching('SFU_NAME', defaultNodeName(), NAME, '1-128 letters, digits, dots, dashes or underscores') ?? '';
  if (RESERVED.includes(name)) throw new ConfigError(`SFU_NAME must not be "${name}": the fleet's routes use it.`);
  const announcedHost = matching('SFU_ANNOUNCED_HOST', null, HOST, 'a host name or an IP address');
  const publicAddresses = readPublicAddresses(text('SFU_PUBLIC_IP'), isProduction && announcedHost === null);
  if (announcedHost !== null && publicAddresses.length > 0)
    throw new ConfigError(
      'SFU_PUBLIC_IP must not be set beside SFU_ANNOUNCED_HOST, which is all that clients are told.',
    );
  const internalUrl = url('SFU_INTERNAL_URL') ?? null;
  const internalHost = matching('SFU_INTERNAL_HOST', hostOf(internalUrl), HOST, 'an address or name of this machine');
  if (internalUrl === null && EVERY_ADDRESS.includes(internalHost ?? ''))
    throw new ConfigError('SFU_INTERNAL_URL must be set when SFU_INTERNAL_HOST is every address of this machine.');
  const controlUrl = url('CONTROL_URL') ?? 'http://127.0.0.1:4000';
  const publicUrl = url('PUBLIC_URL') ?? null;
  const udpPort = integer('SFU_UDP_PORT', 4443, 1024, 65_000);
  const processes = integer('SFU_PROCESSES', isProduction ? 0 : 1, 1, 256);
  return {
    isProduction,
    name,
    region: matching('SFU_REGION', 'default', /^[^\p{Cc}]{1,64}$/u, '1-64 characters') ?? 'default',
    secrets: readSecrets(text('SFU_REGISTRATION_SECRET')),
    controlUrl,
    internalHost: internalHost ?? LOOPBACK,
    internalPort: integer('SFU_INTERNAL_PORT', 4480, 0, 65_535),
    mayMoveInternalPort: !isProduction && text('SFU_INTERNAL_PORT') === undefined,
    internalUrl,
    udpPort,
    mayMoveUdpPort: !isProduction && text('SFU_UDP_PORT') === undefined,
    announcedUdpPort: integer('SFU_ANNOUNCED_UDP_PORT', udpPort, 1, 65_535),
    turnPort: text('SFU_TURN_PORT') === 'off' ? null : integer('SFU_TURN_PORT', 3478, 0, 65_535) || null,
    mayMoveTurnPort: !isProduction && text('SFU_TURN_PORT') === undefined,
    turnTls: readTurnTls(
      text('SFU_TURN_TLS_CERT'),
      text('SFU_TURN_TLS_KEY'),
      integer('SFU_TURN_TLS_PORT', 5349, 1, 65_535),
    ),
    bindAddress: matching('SFU_BIND_ADDRESS', null, HOST, 'an IP address of this machine'),
    announcedHost,
    publicAddresses,
    stunServer: readStunServer(text('SFU_STUN_SERVER')),
    cluster: readCluster(text('SFU_KUBERNETES_NODE'), environment),
    namedHost: publicUrl !== null && isLoopback(hostOf(controlUrl)) ? hostOf(publicUrl) : null,
    drainSeconds: integer('SFU_DRAIN_SECONDS', isProduction ? DRAIN_SECONDS : 0, 0, 86_400),
    processes,
    roomSpreadPercent:
      text('SFU_ROOM_SPREAD_PERCENT') === 'off'
        ? null
        : integer('SFU_ROOM_SPREAD_PERCENT', ROOM_SPREAD_PERCENT, 0, 100),
    pipes:
      (text('SFU_PIPE_PORT') ?? 'off') === 'off'
        ? null
        : {
            bindHost: internalHost ?? LOOPBACK,
            host:
              matching('SFU_PIPE_HOST', null, HOST, 'a host name or an IP address') ??
              (internalUrl === null ? (internalHost ?? LOOPBACK) : hostOf(internalUrl)),
            port: integer('SFU_PIPE_PORT', 0, 0, 65_000),
          },
    capacity: integer('SFU_CAPACITY', 1000, 1, 100_000),
    metricsToken: text('METRICS_TOKEN') ?? null,
    version: (text('SFU_VERSION') ?? '').slice(0, 64),
  };
}

function readPublicAddresses(value: string | undefined, isAutoByDefault: boolean): 'auto' | string[] {
  if (value === 'auto' || (value === undefined && isAutoByDefault)) return 'auto';
  const addresses = (value ?? '').split(',').flatMap((address) => address.trim() || []);
  if (addresses.some((address) => isIP(address) === 0))
    throw new ConfigError('SFU_PUBLIC_IP must be auto, or IP addresses with commas between them.');
  return addresses;
}

/** `stun.example.com:3478`, with or without the port. */
function readStunServer(value: string | undefined): StunServer | null {
  if (value === undefined) return null;
  const [, host, port = '3478'] = /^(?:stun:)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(value) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw new ConfigError('SFU_STUN_SERVER must be a host, with a port if it is not 3478.');
  return { host: host.replaceAll(/^\[|\]$/g, ''), port: Number(port) };
}

/** Kubernetes tells every pod where its API is; `withoutServiceLinks` takes that for a neighbour's. */
function readCluster(nodeName: string | undefined, environment: Variables): Cluster | null {
  if (nodeName === undefined) return null;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host) throw new ConfigError('SFU_KUBERNETES_NODE is for pods of Kubernetes, and this is none.');
  return { url: `https://${urlHost(host)}:${port}`, nodeName, credentials: SERVICE_ACCOUNT };
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

function readSecrets(value: string | undefined): string[] {
  const secrets = (value ?? '').split(',').filter((secret) => secret !== '');
  if (secrets.length === 0) throw new ConfigError('SFU_REGISTRATION_SECRET must be set.');
  if (secrets.some((secret) => Buffer.byteLength(secret) < SECRET_BYTES_MIN))
    throw new ConfigError(`SFU_REGISTRATION_SECRET must be at least ${SECRET_BYTES_MIN} bytes long.`);
  return secrets;
}

function readTurnTls(certFile: string | undefined, keyFile: string | undefined, port: number): NodeConfig['turnTls'] {
  if (!certFile && !keyFile) return null;
  if (!certFile || !keyFile) throw new ConfigError('SFU_TURN_TLS_CERT and SFU_TURN_TLS_KEY must be set together.');
  return { port, certFile, keyFile };
}

/** The host of a URL as one listens on it: an IPv6 address without brackets. */
const hostOf = (url: string | null): string =>
  url === null ? LOOPBACK : new URL(url).hostname.replaceAll(/^\[|\]$/g, '');

/** The host as a URL has it. */
export const urlHost = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}
