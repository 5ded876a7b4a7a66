import { readFile } from 'node:fs/promises';
import type { Announcer } from '../announce.ts';
import { ConfigError, EVERY_ADDRESS, type NodeConfig, urlHost } from '../config.ts';
import type { MediaClock } from '../media/clock.ts';
import { icePasswordOf } from '../media/ice-credentials.ts';
import type { MediaPorts } from '../ports.ts';
import { mediaSocketOf } from './media-sockets.ts';
import { startTurnRelay, type TurnRelay } from './relay.ts';

interface NodeRelayDeps {
  config: NodeConfig;
  clock: MediaClock;
  /** What the node announces. */
  announcer: Pick<Announcer, 'addresses' | 'relayHosts'>;
  ports: readonly MediaPorts[];
  iceKey: Buffer;
  onError(error: unknown): void;
}

export interface NodeRelay {
  relay: TurnRelay;
  urls(): readonly string[];
  /** The node announces other addresses from now on. */
  announce(): void;
}

/** The relay of a node, and how clients reach it; null where it is turned off. */
export async function startNodeRelay(deps: NodeRelayDeps): Promise<NodeRelay | null> {
  const { config, clock, announcer, ports, iceKey, onError } = deps;
  const { secrets, turnPort } = config;
  const bindAddress = EVERY_ADDRESS.includes(config.bindAddress ?? '') ? null : config.bindAddress;
  if (turnPort === null) return null;
  const sockets = () => ports.map((port) => mediaSocketOf({ ...port, bindAddress }, announcer.addresses));
  const relay = await startTurnRelay({
    clock,
    secrets,
    bindAddress,
    sockets: sockets(),
    port: turnPort,
    mayMovePort: config.mayMoveTurnPort,
    tls: await readCertificate(config),
    icePasswordOf: (ufrag) => icePasswordOf(iceKey, ufrag),
    onError,
  }).catch((error: unknown) => {
    throw notListening(error, turnPort, config.turnTls?.port);
  });
  return {
    relay,
    urls: () => announcer.relayHosts.flatMap((host) => urlsOf(urlHost(host), relay)),
    announce: () => relay.announce(sockets()),
  };
}

const urlsOf = (host: string, { port, tlsPort }: TurnRelay): string[] => [
  ...['udp', 'tcp'].map((transport) => `turn:${host}:${port}?transport=${transport}`),
  ...(tlsPort === null ? [] : [`turns:${host}:${tlsPort}?transport=tcp`]),
];

async function readCertificate({ turnTls }: NodeConfig) {
  if (!turnTls) return null;
  const [cert, key] = await Promise.all([
    read('SFU_TURN_TLS_CERT', turnTls.certFile),
    read('SFU_TURN_TLS_KEY', turnTls.keyFile),
  ]);
  return { port: turnTls.port, cert, key };
}

const read = (name: string, file: string): Promise<string> =>
  readFile(file, 'utf8').catch(() => {
    throw new ConfigError(`${name} must be a file that can be read; ${file} is not.`);
  });

/** What to do about it, for an operator. */
function notListening(error: unknown, port: number, tlsPort: number | undefined): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return error;
  const isTls = 'port' in error && error.port === tlsPort;
  const [name, taken] = isTls ? ['SFU_TURN_TLS_PORT', tlsPort] : ['SFU_TURN_PORT', port];
  const off = isTls ? '' : ', or turn the relay off with SFU_TURN_PORT=off';
  return new ConfigError(`${name} ${taken} is taken: stop its program, choose another port${off}.`);
}
