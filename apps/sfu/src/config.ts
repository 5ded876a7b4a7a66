import { isIPv6 } from 'node:net';
import { type Setting, type Source, secretBytesMin } from '@parley/contract/settings';
import { type Variables, withoutServiceLinks } from '@parley/contract/variables';
import type { Cluster } from './cluster.ts';
import { ConfigError } from './config-error.ts';
import { type PublicAddresses, plainUrl } from './setting-kinds.ts';
import { announcedHost, hostOf, metricsToken, nodeSettings as settings, udpPort } from './settings.ts';
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
  publicAddresses: PublicAddresses;
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

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

type Read = <T>(setting: Setting<T>) => T;

export function readConfig(environment: Variables): NodeConfig {
  const variables = withoutServiceLinks(environment);
  const text = (name: string): string | null => variables[name]?.trim() || null;
  const isProduction = text('NODE_ENV') === 'production';
  // The first problem ends it.
  const source: Source = { isProduction, text, report: refuse };
  const read: Read = (setting) => setting.read(source);
  const mayMove = (port: string): boolean => !isProduction && text(port) === null;

  const name = read(settings.name);
  const announced = read(announcedHost);
  const publicAddresses = read(settings.publicAddresses);
  if (announced !== null && publicAddresses.length > 0)
    refuse('SFU_PUBLIC_IP must not be set beside SFU_ANNOUNCED_HOST, which is all that clients are told.');
  const internalUrl = read(settings.internalUrl);
  const internalHost = read(settings.internalHost);
  if (internalUrl === null && EVERY_ADDRESS.includes(internalHost))
    refuse('SFU_INTERNAL_URL must be set when SFU_INTERNAL_HOST is every address of this machine.');
  const controlUrl = read(settings.controlUrl);
  const publicUrl = text('PUBLIC_URL');
  const publicHost = publicUrl === null ? null : hostOf(plainUrl.parse(publicUrl, 'PUBLIC_URL', source));
  return {
    isProduction,
    name,
    region: read(settings.region),
    secrets: readSecrets(text('SFU_REGISTRATION_SECRET')),
    controlUrl,
    internalHost,
    internalPort: read(settings.internalPort),
    mayMoveInternalPort: mayMove('SFU_INTERNAL_PORT'),
    internalUrl,
    udpPort: read(udpPort),
    mayMoveUdpPort: mayMove('SFU_UDP_PORT'),
    announcedUdpPort: read(settings.announcedUdpPort),
    turnPort: read(settings.turnPort),
    mayMoveTurnPort: mayMove('SFU_TURN_PORT'),
    turnTls: readTurnTls(read),
    bindAddress: read(settings.bindAddress),
    announcedHost: announced,
    publicAddresses,
    stunServer: read(settings.stunServer),
    cluster: readCluster(read(settings.kubernetesNode), environment),
    namedHost: isLoopback(hostOf(controlUrl)) ? publicHost : null,
    drainSeconds: read(settings.drainSeconds),
    processes: read(settings.processes),
    roomSpreadPercent: read(settings.roomSpreadPercent),
    pipes: readPipes(read),
    capacity: read(settings.capacity),
    metricsToken: read(metricsToken),
    version: read(settings.version),
  };
}

function refuse(problem: string): never {
  throw new ConfigError(problem);
}

/** Kubernetes tells every pod where its API is; `withoutServiceLinks` takes that for a neighbour's. */
function readCluster(nodeName: string | null, environment: Variables): Cluster | null {
  if (nodeName === null) return null;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host) return refuse('SFU_KUBERNETES_NODE is for pods of Kubernetes, and this is none.');
  return { url: `https://${urlHost(host)}:${port}`, nodeName, credentials: SERVICE_ACCOUNT };
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

function readSecrets(given: string | null): string[] {
  const secrets = (given ?? '').split(',').filter((secret) => secret !== '');
  if (secrets.length === 0) refuse('SFU_REGISTRATION_SECRET must be set.');
  if (secrets.some((secret) => Buffer.byteLength(secret) < secretBytesMin))
    refuse(`SFU_REGISTRATION_SECRET must be at least ${secretBytesMin} bytes long.`);
  return secrets;
}

function readTurnTls(read: Read): NodeConfig['turnTls'] {
  const port = read(settings.turnTlsPort);
  const [certFile, keyFile] = [read(settings.turnTlsCert), read(settings.turnTlsKey)];
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null)
    return refuse('SFU_TURN_TLS_CERT and SFU_TURN_TLS_KEY must be set together.');
  return { port, certFile, keyFile };
}

function readPipes(read: Read): NodeConfig['pipes'] {
  const port = read(settings.pipePort);
  return port === null ? null : { bindHost: read(settings.internalHost), host: read(settings.pipeHost), port };
}

/** The host as a URL has it. */
export const urlHost = (host: string): string => (isIPv6(host) ? `[${host}]` : host);
