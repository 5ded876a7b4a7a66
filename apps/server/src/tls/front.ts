import type { Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Limits } from '@parley/contract';
import { plainAddress } from '../core/addresses.ts';
import type { Front } from '../core/front.ts';
import { isLoopbackHost } from '../core/hosts.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Certificates } from './certificates.ts';
import { isTurn, openingOf, peek } from './first-bytes.ts';
import { createAddressCount } from './pending.ts';
import { joinSockets, type OpenTurnPipe } from './turn-pipe.ts';

interface FrontDeps {
  certificates: Certificates;
  openTurnPipe: OpenTurnPipe;
  limits: Limits;
  metrics: Metrics;
  log: Log;
}

interface Handshake {
  socket: Socket;
  /** It is over: the connection counts no longer. */
  release(): void;
}

/** No 1.0 and 1.1, and of 1.2 only what has forward secrecy and authenticated encryption. */
const protocol = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const;

/** RFC 7301 and RFC 7443. A client that names none of them is refused; one that names nothing is judged by its bytes. */
const applications = ['http/1.1', 'stun.turn'];

export function createFront({ certificates, openTurnPipe, limits, metrics, log }: FrontDeps): Front {
  const pending = createAddressCount(limits.TLS_MAX_PENDING_PER_ADDRESS);
  const relayed = createAddressCount(limits.TLS_MAX_RELAYED_PER_ADDRESS);
  /** By both ends of the connection: the handshake gives back another object for it. */
  const inHandshake = new Map<string, Handshake>();
  const idle = new Set<Socket>();
  const relays = new Set<Socket>();
  metrics.gauge('parley_turn_connections', 'TURN connections on the port of HTTP.', () => relays.size);

  const handshakes = createHandshakes({ certificates, timeoutMs: limits.TLS_MAX_PENDING_MS });

  /** The verdict on its first bytes, or null when it was closed for being silent or too many. */
  async function judged<T>(socket: Socket, judge: (bytes: Buffer) => T | null): Promise<T | null> {
    const timer = setTimeout(() => socket.destroy(), limits.TLS_MAX_PENDING_MS);
    idle.add(socket);
    const verdict = await peek(socket, judge);
    clearTimeout(timer);
    idle.delete(socket);
    if (verdict === null) socket.destroy();
    return verdict;
  }

  async function accept(socket: Socket, serveHttp: (socket: Socket) => void): Promise<void> {
    const error = () => socket.destroy();
    socket.on('error', error);
    const release = pending.enter(socket);
    if (release === null) {
      metrics.count('parley_tls_refused_total', { reason: 'too many' });
      return void socket.destroy();
    }
    const opening = await judged(socket, openingOf);
    if (opening === null) return;
    if (opening === 'plain') {
      release();
      if (!isOwnMachine(socket)) return refusePlain(socket);
      socket.off('error', error);
      return serveHttp(socket);
    }
    const key = keyOf(socket);
    inHandshake.set(key, { socket, release });
    socket.once('close', () => inHandshake.delete(key));
    // As with any TLS server: who leaves in the middle of the handshake is gone.
    socket.allowHalfOpen = false;
    handshakes[opening].emit('connection', socket);
  }

  async function route(socket: TLSSocket, serveHttp: (socket: Socket) => void): Promise<void> {
    const key = keyOf(socket);
    const error = () => socket.destroy();
    socket.on('error', error);
    const isForTurn = socket.alpnProtocol === 'stun.turn' || (await judged(socket, isTurn));
    inHandshake.get(key)?.release();
    inHandshake.delete(key);
    if (isForTurn === null || socket.destroyed) return;
    if (isForTurn) return relay(socket);
    socket.off('error', error);
    serveHttp(socket);
  }

  async function relay(client: TLSSocket): Promise<void> {
    if (relayed.enter(client) === null) return void client.destroy();
    relays.add(client);
    client.once('close', () => relays.delete(client));
    const { remoteAddress = '', remotePort: port = 0 } = client;
    const node = await openTurnPipe({ address: plainAddress(remoteAddress), port }).catch((error) => {
      log.warn({ error }, 'no TURN server takes the connection');
      return null;
    });
    if (node === null) return void client.destroy();
    joinSockets(client, node);
  }

  return {
    guard(server) {
      const [listener] = server.listeners('connection');
      const serveHttp = (socket: Socket): void => void listener?.call(server, socket);
      server.removeAllListeners('connection');
      server.once('listening', certificates.whenListening);
      server.on('connection', (socket: Socket) => void accept(socket, serveHttp));
      handshakes.tls.on('secureConnection', (socket) => void route(socket, serveHttp));
    },
    closeIdle() {
      const handshaking = [...inHandshake.values()].map(({ socket }) => socket);
      for (const socket of [...handshaking, ...idle, ...relays]) socket.destroy();
    },
  };
}

interface HandshakeDeps {
  certificates: Certificates;
  timeoutMs: number;
}

/** Two servers that listen nowhere: one with our certificate, one with those that prove our name to an authority. */
function createHandshakes({ certificates, timeoutMs }: HandshakeDeps): Record<'tls' | 'validation', TlsServer> {
  const tls = createServer({
    ...protocol,
    handshakeTimeout: timeoutMs,
    ALPNCallback: ({ protocols }) => applications.find((name) => protocols.includes(name)),
  });
  certificates.onChange((pair) => tls.setSecureContext({ ...protocol, ...pair }));
  const validation = createServer({
    ...protocol,
    handshakeTimeout: timeoutMs,
    ALPNProtocols: ['acme-tls/1'],
    SNICallback: (name, done) =>
      void certificates.validationOf(name).then(
        (context) => (context ? done(null, context) : done(new Error('no validation is under way'))),
        (error) => done(error),
      ),
  });
  // The handshake itself is the proof.
  validation.on('secureConnection', (socket) => socket.destroySoon());
  // A client that ends its handshake, or cannot make one, is closed; that is all there is to do.
  for (const server of [tls, validation]) server.on('tlsClientError', (_error, socket) => socket.destroy());
  return { tls, validation };
}

const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

/** The media node beside us, health checks and `parley doctor` come without TLS. */
const isOwnMachine = ({ remoteAddress = '', localAddress }: Socket): boolean =>
  isLoopbackHost(plainAddress(remoteAddress)) || remoteAddress === localAddress;

function refusePlain(socket: Socket): void {
  const text = 'This port speaks TLS: use https.\n';
  socket.write(
    'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\n' +
      `content-length: ${text.length}\r\n\r\n${text}`,
  );
  socket.destroySoon();
}
