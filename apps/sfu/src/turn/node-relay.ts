import type { Announcer } from '../announce.ts';
import { ConfigError, EVERY_ADDRESS, type NodeConfig, urlHost } from '../config.ts';
import type { MediaClock } from '../media/clock.ts';
import { icePasswordOf } from '../media/ice-credentials.ts';
import type { MediaPorts } from '../ports.ts';
import { followCertificate, readCertificate } from './certificate-files.ts';
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
  relay: Pick<TurnRelay, 'accept' | 'close'>;
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
    tls: config.turnTls && { port: config.turnTls.port, ...(await readCertificate(config.turnTls)) },
    icePasswordOf: (ufrag) => icePasswordOf(iceKey, ufrag),
    onError,
  }).catch((error: unknown) => {
    throw notListening(error, turnPort, config.turnTls?.port);
  });
  const stopFollowing = config.turnTls ? followCertificate(config.turnTls, relay, onError) : () => {};
  return {
    relay: {
      accept: relay.accept,
      close() {
        stopFollowing();
        return relay.close();
      },
    },
    urls: () => announcer.relayHosts.flatMap((host) => urlsOf(urlHost(host), relay)),
    announce: () => relay.announce(sockets()),
  };
}

const urlsOf = (host: string, { port, tlsPort }: TurnRelay): string[] => [
  ...['udp', 'tcp'].map((transport) => `turn:${host}:${port}?transport=${transport}`),
  ...(tlsPort === null ? [] : [`turns:${host}:${tlsPort}?transport=tcp`]),
];

/** What to do about it, for an operator. */
function notListening(error: unknown, port: number, tlsPort: number | undefined): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return error;
  const isTls = 'port' in error && error.port === tlsPort;
  const [name, taken] = isTls ? ['SFU_TURN_TLS_PORT', tlsPort] : ['SFU_TURN_PORT', port];
  const off = isTls ? '' : ', or turn the relay off with SFU_TURN_PORT=off';
  return new ConfigError(`${name} ${taken} is taken: stop its program, choose another port${off}.`);
}
