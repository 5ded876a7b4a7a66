import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Wire } from '@parley/turn/client';

export interface Target {
  transport: 'udp' | 'tcp' | 'tls';
  host: string;
  port: number;
}

const connectMsMax = 10_000;
/** When a datagram is sent again: one that is lost must not look like a closed port. */
const repeatsMs = [400, 1_200, 2_800];

export const openWire = (target: Target): Promise<Wire> =>
  target.transport === 'udp' ? datagramWire(target) : streamWire(target);

async function datagramWire({ host, port }: Target): Promise<Wire> {
  const { address, family } = await lookup(host);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  const timers = new Set<NodeJS.Timeout>();
  let isClosed = false;
  // A port that is closed says so, if anybody does, by ICMP: then no answer comes either.
  socket.on('error', () => {});
  const send = (bytes: Buffer): void => socket.send(bytes, port, address, () => {});
  return {
    isStream: false,
    send(bytes) {
      send(bytes);
      for (const ms of repeatsMs) timers.add(setTimeout(() => send(bytes), ms));
    },
    onBytes: (listener) => void socket.on('message', listener),
    close() {
      for (const timer of timers) clearTimeout(timer);
      if (!isClosed) socket.close();
      isClosed = true;
    },
    isClosed: () => isClosed,
  };
}

async function streamWire({ transport, host, port }: Target): Promise<Wire> {
  const isTls = transport === 'tls';
  const socket: Socket = isTls
    ? connectTls({ host, port, servername: host, ALPNProtocols: ['stun.turn'] })
    : connectTcp({ host, port });
  const patience = AbortSignal.timeout(connectMsMax);
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal: patience });
  } catch (error) {
    socket.destroy();
    throw patience.aborted ? new Error('no answer') : error;
  }
  socket.on('error', () => {});
  return {
    isStream: true,
    send: (bytes) => void socket.write(bytes),
    onBytes: (listener) => void socket.on('data', listener),
    close: () => void socket.destroy(),
    isClosed: () => socket.destroyed,
  };
}
