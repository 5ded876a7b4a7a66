import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { type Address, parseAddress } from '@parley/turn/addresses';
import { TURN_REALM, turnSecretOf } from '@parley/turn/credentials';
import type { TurnClient } from '@parley/turn/ports';
import type { TurnQuotas } from '@parley/turn/quotas';
import { TurnServer } from '@parley/turn/turn-server';
import type { MediaClock } from '../media/clock.ts';
import { listenDatagrams } from './datagram-clients.ts';
import { createSocketOpener, type MediaSocket } from './media-sockets.ts';
import { createStreamClients } from './stream-clients.ts';

const SWEEP_MS = 1000;
const RESCAN_MS = 10_000;
const CONNECTIONS_MAX = 20_000;
const HANDSHAKE_MS_MAX = 10_000;
const MOVES_MAX = 20;

export interface KeyPair {
  cert: string;
  key: string;
}

export interface TurnRelayDeps {
  clock: MediaClock;
  /** The registration secrets that credentials are derived from. */
  secrets: readonly string[];
  sockets: readonly MediaSocket[];
  bindAddress: string | null;
  /** UDP and TCP. */
  port: number;
  /** Whether to fall back to any free port when this one is taken. */
  mayMovePort: boolean;
  tls: (KeyPair & { port: number }) | null;
  icePasswordOf(ufrag: string): string;
  onError(error: unknown): void;
  quotas?: TurnQuotas;
}

export interface TurnRelay {
  readonly port: number;
  readonly tlsPort: number | null;
  readonly allocations: number;
  /** A connection that somebody else has accepted, for a client at this address. */
  accept(socket: Duplex, address: Address): void;
  /** The media sockets by the addresses that clients are told from now on; those of before still lead to them. */
  announce(sockets: readonly MediaSocket[]): void;
  /** TLS connections from now on get this certificate; throws when it cannot be used. */
  renewCertificate(pair: KeyPair): void;
  close(): Promise<void>;
}

/** The node's TURN server on its sockets: UDP and TCP on one port, TLS on another. */
export async function startTurnRelay(deps: TurnRelayDeps): Promise<TurnRelay> {
  const { clock, secrets, sockets, icePasswordOf, quotas, onError } = deps;
  const opener = createSocketOpener(sockets);
  const server = new TurnServer({
    clock,
    secrets: secrets.map(turnSecretOf),
    realm: TURN_REALM,
    peers: peersOf(sockets),
    openSocket: (family, onDatagram) => opener.open(family, confined(onDatagram, onError)),
    icePasswordOf,
    ...(quotas && { quotas }),
  });
  const door = {
    clientOf: (key: string) => server.clientOf(key),
    receive: confined((client: TurnClient, bytes: Buffer) => server.receive(client, bytes), onError),
    forget: (client: TurnClient) => server.forget(client),
  };
  const streams = createStreamClients(door, clock);
  const onConnection = (socket: Socket) => {
    const address = parseAddress(socket.remoteAddress ?? '', socket.remotePort ?? 0);
    socket.setNoDelay(true);
    if (address) streams.accept(socket, address);
    else socket.destroy();
  };

  const { tcp, udp, port } = await bindBoth(deps, door, onConnection);
  const tls = deps.tls && (await listenTls(deps.tls, deps.bindAddress, onConnection).catch(undo(tcp, udp)));
  for (const listener of [tcp, tls]) listener?.on('error', onError);
  const timers = [
    setInterval(() => {
      server.sweep();
      streams.sweep();
    }, SWEEP_MS),
    setInterval(() => udp.rescan().catch(onError), RESCAN_MS),
  ];

  return {
    port,
    tlsPort: tls && portOf(tls),
    get allocations() {
      return server.size;
    },
    accept: streams.accept,
    announce(announced) {
      opener.announce(announced);
      server.announce(peersOf(announced));
    },
    renewCertificate: (pair) => tls?.setSecureContext(pair),
    async close() {
      for (const timer of timers) clearInterval(timer);
      streams.close();
      server.close();
      closeTcp(tcp);
      if (tls) closeTcp(tls);
      await udp.close();
    },
  };
}

/** A fault of ours, met by one packet, costs that packet and not the node with all its calls. */
const confined =
  <A extends unknown[]>(handle: (...args: A) => void, onError: (error: unknown) => void) =>
  (...args: A): void => {
    try {
      handle(...args);
    } catch (error) {
      onError(error);
    }
  };

const peersOf = (sockets: readonly MediaSocket[]) => sockets.flatMap(({ announced }) => announced);

type Datagrams = Awaited<ReturnType<typeof listenDatagrams>>;

/** Clients know one port for both: a free one of TCP may be taken for UDP. */
async function bindBoth(
  deps: TurnRelayDeps,
  server: Pick<TurnServer, 'clientOf' | 'receive'>,
  onConnection: (socket: Socket) => void,
) {
  const { bindAddress, onError } = deps;
  for (let move = 0; ; move += 1) {
    const tcp = createServer(onConnection);
    try {
      await listen(tcp, move === 0 ? deps.port : 0, bindAddress);
      const port = portOf(tcp);
      return { tcp, udp: await listenDatagrams({ server, port, bindAddress, onError }), port };
    } catch (error) {
      closeTcp(tcp);
      if (!deps.mayMovePort || move === MOVES_MAX) throw error;
    }
  }
}

async function listenTls(
  { port, cert, key }: NonNullable<TurnRelayDeps['tls']>,
  host: string | null,
  onConnection: (socket: Socket) => void,
) {
  const tls = createTlsServer({ cert, key, handshakeTimeout: HANDSHAKE_MS_MAX }, onConnection);
  tls.on('tlsClientError', (_error, socket) => socket.destroy());
  await listen(tls, port, host);
  return tls;
}

const undo =
  (tcp: Server, udp: Datagrams) =>
  async (error: unknown): Promise<never> => {
    closeTcp(tcp);
    await udp.close();
    throw error;
  };

function listen(server: Server, port: number, host: string | null): Promise<void> {
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host && { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

// A listening TCP server always has an AddressInfo.
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
/** Without waiting: a TLS handshake that is under way ends by itself. */
const closeTcp = (server: Server): void => {
  server.close().unref();
};
