import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseAddress } from '@parley/turn/addresses';
import type { TurnServer } from '@parley/turn/turn-server';

interface DatagramDeps {
  server: Pick<TurnServer, 'clientOf' | 'receive'>;
  port: number;
  /** Null for all of this machine. */
  bindAddress: string | null;
  onError(error: unknown): void;
}

/**
 * Clients that come by UDP. One socket for each address of this machine: an answer must come from the address that was
 * asked, and a socket of all addresses leaves that to the routing table.
 */
export async function listenDatagrams({ server, port, bindAddress, onError }: DatagramDeps) {
  const sockets = new Map<string, Socket>();

  async function listen(address: string): Promise<void> {
    const socket = await bind(port, address);
    sockets.set(address, socket);
    socket.on('error', onError);
    socket.on('message', (bytes, from) => {
      // Nothing can be sent there (RFC 768 has it for those who want no answer).
      if (from.port === 0) return;
      const key = `udp|${address}|${from.address}|${from.port}`;
      const client = server.clientOf(key) ?? clientOf(socket, from, key);
      if (client) server.receive(client, bytes);
    });
  }

  /** Of the addresses that came since the last time; those that went keep a socket that nothing arrives at. */
  async function rescan(): Promise<void> {
    const wanted = bindAddress ? [bindAddress] : localAddresses();
    const fresh = wanted.filter((address) => !sockets.has(address));
    await Promise.all(fresh.map((address) => listen(address).catch(ignoreGone)));
  }

  async function close(): Promise<void> {
    await Promise.all([...sockets.values()].map((socket) => new Promise<void>((closed) => socket.close(closed))));
  }

  await rescan().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { rescan, close };
}

/** An address can go while it is being bound, or not be usable yet. */
function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EADDRNOTAVAIL' && error.code !== 'EAFNOSUPPORT') throw error;
}

const localAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ scopeid }) => !scopeid).map(({ address }) => address),
  );

function clientOf(socket: Socket, { address: from, port }: RemoteInfo, key: string) {
  const address = parseAddress(from, port);
  const send = (bytes: Buffer): void => socket.send(bytes, port, from, () => {});
  return address && { key, address, isStream: false, send, close: () => {} };
}

function bind(port: number, address: string): Promise<Socket> {
  const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', ipv6Only: isIPv6(address) });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
