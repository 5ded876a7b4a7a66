import type { Duplex } from 'node:stream';
import { addressKey } from '@parley/contract/addresses';
import type { Address } from '@parley/turn/addresses';
import type { TurnClient } from '@parley/turn/ports';
import { Counts } from '@parley/turn/quotas';
import { StreamReader } from '@parley/turn/stream-reader';
import type { TurnServer } from '@parley/turn/turn-server';
import type { MediaClock } from '../media/clock.ts';

/** How long a connection may be without an allocation. */
const IDLE_MS = 15_000;
const WAITING_MAX = 1000;
const PER_ADDRESS_MAX = 1000;
const QUEUED_BYTES_MAX = 1 << 20;
const UNPROVEN_BYTES_MAX = 1 << 13;

interface Connection {
  client: TurnClient;
  /** Since when it has had no allocation. */
  idleSince: number;
}

/** Clients that come by TCP, by TLS or through a server of the control plane. */
export function createStreamClients(server: Pick<TurnServer, 'clientOf' | 'receive' | 'forget'>, clock: MediaClock) {
  const connections = new Set<Connection>();
  /** Those that have not proven anything yet, oldest first. */
  const waiting = new Set<Connection>();
  const perAddress = new Counts();
  let nextId = 1;
  let isClosed = false;

  function accept(socket: Duplex, address: Address): void {
    const holder = addressKey(address.address);
    // The control port may hand one over while the relay closes: nobody would end it any more.
    if (isClosed || perAddress.of(holder) >= PER_ADDRESS_MAX) return void socket.destroy();
    const connection: Connection = { client: clientOf(socket, address, nextId++), idleSince: clock.now() };
    const { client } = connection;
    const reader = new StreamReader();
    connections.add(connection);
    waiting.add(connection);
    perAddress.add(holder);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      connections.delete(connection);
      waiting.delete(connection);
      perAddress.remove(holder);
      server.forget(client);
    });
    socket.on('data', (chunk: Buffer) => {
      const messages = reader.read(chunk);
      for (const message of messages ?? []) server.receive(client, message);
      if (messages === null) socket.destroy();
      else if (server.clientOf(client.key)) waiting.delete(connection);
      // Who has proven nothing and does not read gets no answers kept.
      else if (socket.writableLength > UNPROVEN_BYTES_MAX) socket.destroy();
    });
    // A client that opens many pushes out the oldest, and not everybody who comes after.
    const [oldest] = waiting.size > WAITING_MAX ? waiting : [];
    oldest?.client.close();
  }

  function sweep(): void {
    const now = clock.now();
    for (const connection of connections) {
      if (server.clientOf(connection.client.key)) connection.idleSince = now;
      else if (now - connection.idleSince > IDLE_MS) connection.client.close();
    }
  }

  return {
    accept,
    sweep,
    close() {
      isClosed = true;
      for (const { client } of connections) client.close();
    },
  };
}

const clientOf = (socket: Duplex, address: Address, id: number): TurnClient => ({
  key: `stream|${id}`,
  address,
  isStream: true,
  send(bytes) {
    // Media that a slow reader cannot take is lost, as it is by UDP.
    if (!socket.destroyed && socket.writableLength < QUEUED_BYTES_MAX) socket.write(bytes);
  },
  close: () => socket.destroy(),
});
