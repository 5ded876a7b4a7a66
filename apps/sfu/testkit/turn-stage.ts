import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Address } from '@parley/turn/addresses';
import { turnCredential, turnSecretOf } from '@parley/turn/credentials';
import { address, type Credential, TurnClient, tcpWire, udpWire } from '../../../packages/turn/testkit/turn-client.ts';
import { systemClock } from '../src/media/clock.ts';
import { startTurnRelay, type TurnRelay, type TurnRelayDeps } from '../src/turn/relay.ts';
import { TEST_SECRET } from './node.ts';

/** A relay in front of the sockets of two media processes, which echo, and another that nobody may reach. */
export interface TurnStage {
  relay: TurnRelay;
  /** The first media socket, as clients know it; the other is at the next port. */
  peer: Address;
  /** What came to the media socket. */
  heard: Buffer[];
  forbidden: { address: Address; heard: Buffer[] };
  udp(user?: string): Promise<TurnClient>;
  tcp(user?: string): Promise<TurnClient>;
  credential(user?: string): Credential;
  stop(): Promise<void>;
}

/** Of documentation (RFC 5737): nothing can be sent there by mistake. */
const ANNOUNCED = '192.0.2.7';

export async function startTurnStage(options: Partial<TurnRelayDeps> = {}): Promise<TurnStage> {
  const [media, second, other] = await Promise.all([openSocket(), openSocket(), openSocket()]);
  const heard: Buffer[] = [];
  const stray: Buffer[] = [];
  for (const socket of [media, second])
    socket.on('message', (bytes, from) => {
      heard.push(bytes);
      socket.send(bytes, from.port, from.address);
    });
  other.on('message', (bytes) => stray.push(bytes));
  const peer = address(ANNOUNCED, 4443);
  const localOf = (socket: Socket): Address => address('127.0.0.1', socket.address().port);
  const clients: TurnClient[] = [];
  const keep = (client: TurnClient): TurnClient => {
    clients.push(client);
    return client;
  };
  const relay = await startTurnRelay({
    clock: systemClock,
    secrets: [TEST_SECRET],
    sockets: [
      { local: localOf(media), announced: [peer, address('2001:db8::7', peer.port)] },
      { local: localOf(second), announced: [address(ANNOUNCED, peer.port + 1)] },
    ],
    bindAddress: '127.0.0.1',
    port: 0,
    mayMovePort: true,
    tls: null,
    icePasswordOf: () => '',
    onError: () => {},
    ...options,
  });
  const { wall } = options.clock ?? systemClock;
  const credential = (user = 'ada') => turnCredential(turnSecretOf(TEST_SECRET), user, wall() + 60_000);
  return {
    relay,
    peer,
    heard,
    forbidden: { address: localOf(other), heard: stray },
    credential,
    udp: async (user) => keep(new TurnClient(await udpWire(relay.port), credential(user))),
    tcp: async (user) => keep(new TurnClient(await tcpWire(relay.port), credential(user))),
    async stop() {
      for (const client of clients) if (!client.isClosed) client.close();
      await relay.close();
      for (const socket of [media, second, other]) socket.close();
    },
  };
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
