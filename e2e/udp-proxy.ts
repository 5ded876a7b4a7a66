import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

/** What happens to the packets of one direction. */
export interface Path {
  /** Share of packets that vanish, 0-1. */
  loss: number;
  /** How many vanish in a row, on average (Gilbert's model). 0: each by itself. */
  burst: number;
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
  /** A packet that reaches the server from wherever each client seems to be. */
  inject(packet: Uint8Array): void;
  close(): void;
}

interface UdpProxyOptions {
  /** Where clients send to; any free port unless given. */
  host?: string;
  port?: number;
  /** The server's address. */
  target?: string;
}

const clean = (): Path => ({ loss: 0, burst: 0, delayMs: 0, bitsPerSecond: 0, queueMs: 300 });

/**
 * A bad network in a process: clients send to its port, it sends on to the server from a socket of its own for each
 * client, and back. Loss is drawn from a fixed sequence, so that a run can be repeated.
 */
export async function startUdpProxy(
  serverPort: number,
  { host = '0.0.0.0', port = 0, target = '127.0.0.1' }: UdpProxyOptions = {},
): Promise<UdpProxy> {
  const front = createSocket('udp4');
  await new Promise<void>((resolve) => front.bind(port, host, resolve));
  const up = clean();
  const down = clean();
  const random = seeded(1);
  const backs = new Map<string, { socket: Socket; up: Link; down: Link }>();

  front.on('message', (packet, client) => {
    const key = `${client.address}:${client.port}`;
    let back = backs.get(key);
    if (!back) {
      back = { socket: openBack(client), up: new Link(), down: new Link() };
      backs.set(key, back);
    }
    const { socket } = back;
    back.up.pass(up, packet.length, random, () => socket.send(packet, serverPort, target));
  });

  function openBack(client: RemoteInfo): Socket {
    const socket = createSocket('udp4');
    socket.on('message', (packet) => {
      const link = backs.get(`${client.address}:${client.port}`)?.down;
      link?.pass(down, packet.length, random, () => front.send(packet, client.port, client.address));
    });
    socket.on('error', () => {});
    return socket;
  }

  return {
    port: front.address().port,
    up,
    down,
    inject(packet) {
      for (const { socket } of backs.values()) attempt(() => socket.send(packet, serverPort, target));
    },
    close() {
      front.close();
      for (const { socket } of backs.values()) socket.close();
      backs.clear();
    },
  };
}

/**
 * Whether the next packet vanishes. With bursts the path is good or bad: in the bad state everything is lost, and the
 * chances to change between the two give the share and the mean length that were asked for.
 */
export class Losses {
  #isBad = false;

  next({ loss, burst }: Pick<Path, 'loss' | 'burst'>, random: () => number): boolean {
    if (burst === 0 || loss === 0 || loss === 1) return random() < loss;
    const toBad = loss / (burst * (1 - loss));
    this.#isBad = this.#isBad ? random() >= 1 / burst : random() < toBad;
    return this.#isBad;
  }
}

/** One direction of one client. First in, first out: a path that reorders looks to a receiver like one that loses. */
class Link {
  /** When the last bit queued so far is through. */
  #freeAt = 0;
  readonly #waiting: { at: number; send: () => void }[] = [];
  #isTicking = false;
  readonly #losses = new Losses();

  pass(path: Path, bytes: number, random: () => number, send: () => void): void {
    if (this.#losses.next(path, random)) return;
    const now = performance.now();
    let at = now + path.delayMs;
    if (path.bitsPerSecond > 0) {
      const start = Math.max(now, this.#freeAt);
      if (start - now > path.queueMs) return;
      this.#freeAt = start + (bytes * 8000) / path.bitsPerSecond;
      at += this.#freeAt - now;
    }
    this.#waiting.push({ at, send });
    this.#release();
  }

  #release(): void {
    if (this.#isTicking) return;
    while (this.#waiting[0] && this.#waiting[0].at <= performance.now() + 0.5) attempt(this.#waiting.shift()?.send);
    const next = this.#waiting[0];
    if (!next) return;
    this.#isTicking = true;
    setTimeout(() => {
      this.#isTicking = false;
      this.#release();
    }, next.at - performance.now());
  }
}

/** The proxy may be closed while a packet waits. */
function attempt(send: (() => void) | undefined): void {
  try {
    send?.();
  } catch {}
}

/** Mulberry32: small, and the same every time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
