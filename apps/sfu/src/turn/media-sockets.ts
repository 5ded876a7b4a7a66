import { createSocket } from 'node:dgram';
import { type Address, keyOf, parseAddress } from '@parley/turn/addresses';
import type { MediaPeer, RelaySocket } from '@parley/turn/ports';

/** A media process's UDP port: where it is on this machine, and by what addresses clients know it. */
export interface MediaSocket {
  local: Address;
  announced: readonly MediaPeer[];
}

/** The address that a node's own packets to itself go by. */
const LOOPBACK = '127.0.0.1';

/** One announced address of each family: all of them lead to the same socket, and each would be one more path to check. */
export function mediaSocketOf(
  { udpPort, announcedPort, bindAddress }: { udpPort: number; announcedPort: number; bindAddress: string | null },
  addresses: readonly string[],
): MediaSocket {
  const all = addresses.flatMap((address) => parseAddress(address, announcedPort) ?? []);
  const announced = ([4, 6] as const).flatMap((family) => all.find((one) => one.family === family) ?? []);
  const local = parseAddress(bindAddress ?? LOOPBACK, udpPort) ?? { family: 4, address: LOOPBACK, port: udpPort };
  return { local, announced };
}

/** Opens sockets that send to the media sockets and hear of nobody else. */
export function createSocketOpener(initial: readonly MediaSocket[]) {
  const [first] = initial;
  const localOf = new Map<string, Address>();
  let sockets = initial;
  announce(initial);

  function announce(announced: readonly MediaSocket[]): void {
    sockets = announced;
    for (const { local, announced: peers } of sockets) for (const peer of peers) localOf.set(keyOf(peer), local);
  }

  function open(family: 4 | 6, onDatagram: (peer: MediaPeer, bytes: Buffer) => void): Promise<RelaySocket> {
    const peerOf = new Map(
      sockets.map(({ local, announced }) => [keyOf(local), announced.find((peer) => peer.family === family)]),
    );
    const socket = createSocket(first?.local.family === 6 ? 'udp6' : 'udp4');
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, first?.local.address ?? LOOPBACK, () => {
        socket.off('error', reject);
        // A media process that restarts refuses packets for a moment.
        socket.on('error', () => {});
        socket.on('message', (bytes, { address, port }) => {
          const peer = peerOf.get(`${address}|${port}`);
          if (peer) onDatagram(peer, bytes);
        });
        resolve({
          port: socket.address().port,
          send(peer, bytes) {
            const local = localOf.get(keyOf(peer));
            if (local) socket.send(bytes, local.port, local.address, () => {});
          },
          close: () => socket.close(),
        });
      });
    });
  }
  return { open, announce };
}
