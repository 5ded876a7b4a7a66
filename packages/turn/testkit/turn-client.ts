import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Address, parseAddress } from '../src/addresses.ts';
import type { Wire } from '../src/client.ts';

export { type Credential, TurnClient } from '../src/client.ts';

export function streamWire(socket: Duplex): Wire {
  socket.on('error', () => {});
  return {
    isStream: true,
    send: (bytes) => void socket.write(bytes),
    onBytes: (listener) => void socket.on('data', listener),
    close: () => void socket.destroy(),
    isClosed: () => socket.destroyed,
  };
}

export async function tcpWire(port: number, host = '127.0.0.1'): Promise<Wire> {
  const socket = connectTcp(port, host);
  await once(socket, 'connect');
  return streamWire(socket);
}

export async function tlsWire(port: number, ca: string, servername: string): Promise<Wire> {
  const socket = connectTls({ port, host: '127.0.0.1', ca, servername });
  await once(socket, 'secureConnect');
  return streamWire(socket);
}

export async function udpWire(port: number, host = '127.0.0.1'): Promise<Wire> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  socket.bind(0, host);
  await once(socket, 'listening');
  let isClosed = false;
  return {
    isStream: false,
    send: (bytes) => socket.send(bytes, port, host),
    onBytes: (listener) => void socket.on('message', listener),
    close() {
      isClosed = true;
      socket.close();
    },
    isClosed: () => isClosed,
  };
}

export function address(text: string, port: number): Address {
  const found = parseAddress(text, port);
  if (!found) throw new Error(`${text} is no IP address`);
  return found;
}
