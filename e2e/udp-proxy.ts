import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

/** What happens to the packets of one direction. */
export interface Path {
  /** Share of packets that vanish, 0-1. */
  loss: number;
  delayMs: number;
  /** Bits per second that pass; what does not fit waits in a queue. 0: no limit. */
  bitsPerSecond: number;
  /** Longest wait in the queue; what would wait longer vanishes. */
  queueMs: number;
}

export interface UdpProxy {
  readonly port: number;
  /** Toward the server, and toward the clients: change them at any time. */
  readonly up: Path;
  readonly down: Path;
  close(): void;
}

const clean = (): Path => ({ loss: 0, delayMs: 0, bitsPerSecond: 0, queueMs: 300 });

/**
 * A bad network in a process: clients send to its port, it sends on to the server from a socket of its own for each
 * client, and back. Loss is drawn from a fixed sequence, so that a run can be repeated.
 */
export async function startUdpProxy(serverPort: number, host = '0.0.0.0'): Promise<UdpProxy> {
  const front = createSocket('udp4');
  await new Promise<void>((resolve) => front.bind(0, host, resolve));
  const up = clean();
  const down = clean();
  const random = seeded(1);
  const backs = new Map<string, { socket: Socket; up: Link; down: Link }>();

  front.on('message', (packet, client) => {
    const key = `${client.address}:${client.port}`;
    let back = backs.get(key);
    if (!back) {
      back = { socket: openBack(client), up: { freeAt: 0 }, down: { freeAt: 0 } };
      backs.set(key, back);
    }
    const { socket } = back;
    pass(up, back.up, packet.length, random, () => socket.send(packet, serverPort, '127.0.0.1'));
  });

  function openBack(client: RemoteInfo): Socket {
    const socket = createSocket('udp4');
    socket.on('message', (packet) => {
      const link = backs.get(`${client.address}:${client.port}`)?.down;
      if (link) pass(down, link, packet.length, random, () => front.send(packet, client.port, client.address));
    });
    socket.on('error', () => {});
    return socket;
  }

  return {
    port: front.address().port,
    up,
    down,
    close() {
      front.close();
      for (const { socket } of backs.values()) socket.close();
      backs.clear();
    },
  };
}

interface Link {
  /** When the last bit queued so far is through. */
  freeAt: number;
}

function pass(path: Path, link: Link, bytes: number, random: () => number, send: () => void): void {
  if (random() < path.loss) return;
  const now = performance.now();
  let wait = path.delayMs;
  if (path.bitsPerSecond > 0) {
    const start = Math.max(now, link.freeAt);
    if (start - now > path.queueMs) return;
    link.freeAt = start + (bytes * 8000) / path.bitsPerSecond;
    wait += link.freeAt - now;
  }
  if (wait < 1) attempt(send);
  else setTimeout(() => attempt(send), wait);
}

/** The proxy may be closed while a packet waits. */
function attempt(send: () => void): void {
  try {
    send();
  } catch {}
}

/** Mulberry32: small, and the same every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
