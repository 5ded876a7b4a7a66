import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Address, parseAddress } from '../src/addresses.ts';
import { decodeChannelData, encodeChannelData, isChannelData } from '../src/channel-data.ts';
import { isSigned, longTermKey, sign } from '../src/integrity.ts';
import { StreamReader } from '../src/stream-reader.ts';
import {
  ATTRIBUTE,
  decodeStun,
  encodeStun,
  find,
  findText,
  findUint32,
  METHOD,
  type NewAttribute,
  readErrorCode,
  readXorAddress,
  type StunMessage,
  uint32,
  xorAddress,
} from '../src/stun.ts';

const ANSWER_MS_MAX = 5000;

/** How bytes get to the relay and back. */
interface Wire {
  isStream: boolean;
  send(bytes: Buffer): void;
  onBytes(listener: (bytes: Buffer) => void): void;
  close(): void;
  isClosed(): boolean;
}

export interface Credential {
  username: string;
  credential: string;
}

export interface Answer {
  /** 0 when it succeeded. */
  error: number;
  message: StunMessage;
}

/** A TURN client (RFC 8656) that does exactly what it is told, also what no client should. */
export class TurnClient {
  readonly #wire: Wire;
  readonly #credential: Credential;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #reader = new StreamReader();
  readonly received: { from: 'channel' | 'indication'; peer: string; data: Buffer }[] = [];
  #key: Buffer | undefined;
  #realm = '';
  #nonce = '';

  constructor(wire: Wire, credential: Credential) {
    this.#wire = wire;
    this.#credential = credential;
    wire.onBytes((bytes) => {
      for (const message of wire.isStream ? (this.#reader.read(bytes) ?? []) : [bytes]) this.#onMessage(message);
    });
  }

  #onMessage(bytes: Buffer): void {
    if (isChannelData(bytes)) {
      const frame = decodeChannelData(bytes);
      if (frame) this.received.push({ from: 'channel', peer: String(frame.channel), data: Buffer.from(frame.data) });
      return;
    }
    const message = decodeStun(bytes);
    if (!message) return;
    if (message.class === 'indication') {
      const peer = readXorAddress(find(message, ATTRIBUTE.peerAddress), message.transactionId);
      const data = Buffer.from(find(message, ATTRIBUTE.data) ?? []);
      this.received.push({ from: 'indication', peer: `${peer?.address}|${peer?.port}`, data });
      return;
    }
    const id = message.transactionId.toString('hex');
    const error = readErrorCode(message) ?? 0;
    if (error === 0 && this.#key && message.method !== METHOD.binding && !isSigned(bytes, message, this.#key))
      throw new Error('An answer was not signed.');
    this.#waiting.get(id)?.({ error, message });
    this.#waiting.delete(id);
  }

  /** As it is, signed when a credential is known. */
  exchange(method: number, attributes: readonly NewAttribute[], transactionId = randomBytes(12)): Promise<Answer> {
    const bytes = encodeStun({ method, class: 'request', transactionId }, [...attributes, ...this.#identity()]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The relay did not answer.')), ANSWER_MS_MAX);
      this.#waiting.set(transactionId.toString('hex'), (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#wire.send(this.#key ? sign(bytes, this.#key) : bytes);
    });
  }

  #identity(): NewAttribute[] {
    if (!this.#key) return [];
    return [
      [ATTRIBUTE.username, Buffer.from(this.#credential.username)],
      [ATTRIBUTE.realm, Buffer.from(this.#realm)],
      [ATTRIBUTE.nonce, Buffer.from(this.#nonce)],
    ];
  }

  /** Answers one challenge, as every client does. */
  async request(method: number, attributes: readonly NewAttribute[] = []): Promise<Answer> {
    const first = await this.exchange(method, attributes);
    if (first.error !== 401 && first.error !== 438) return first;
    this.#realm = findText(first.message, ATTRIBUTE.realm) ?? '';
    this.#nonce = findText(first.message, ATTRIBUTE.nonce) ?? '';
    this.#key = longTermKey(this.#credential.username, this.#realm, this.#credential.credential);
    return this.exchange(method, attributes);
  }

  /** The relayed address, or the error. */
  async allocate(extra: readonly NewAttribute[] = []): Promise<{ error: number; relayed?: Address; seconds?: number }> {
    const { error, message } = await this.request(METHOD.allocate, [
      [ATTRIBUTE.requestedTransport, Buffer.from([17, 0, 0, 0])],
      ...extra,
    ]);
    const relayed = readXorAddress(find(message, ATTRIBUTE.relayedAddress), message.transactionId);
    const seconds = findUint32(message, ATTRIBUTE.lifetime);
    return { error, ...(relayed && { relayed }), ...(seconds !== undefined && { seconds }) };
  }

  /** The address of this client as the relay sees it. */
  async mapped(): Promise<Address | undefined> {
    const { message } = await this.exchange(METHOD.binding, []);
    return readXorAddress(find(message, ATTRIBUTE.mappedAddress), message.transactionId);
  }

  async refresh(seconds: number): Promise<number> {
    return (await this.request(METHOD.refresh, [[ATTRIBUTE.lifetime, uint32(seconds)]])).error;
  }

  async permit(...peers: Address[]): Promise<number> {
    return (await this.#withPeers(METHOD.createPermission, [], peers)).error;
  }

  async bindChannel(channel: number, peer: Address): Promise<number> {
    const number = uint32(channel * 0x10000);
    return (await this.#withPeers(METHOD.channelBind, [[ATTRIBUTE.channelNumber, number]], [peer])).error;
  }

  /** Addresses are XORed with the transaction: it must be chosen first. */
  async #withPeers(method: number, attributes: readonly NewAttribute[], peers: readonly Address[]): Promise<Answer> {
    const transactionId = randomBytes(12);
    const named = peers.map((peer) => [ATTRIBUTE.peerAddress, xorAddress(peer, transactionId)] as const);
    return this.exchange(method, [...attributes, ...named], transactionId);
  }

  send(peer: Address, data: Buffer): void {
    const transactionId = randomBytes(12);
    const message = { method: METHOD.send, class: 'indication', transactionId } as const;
    this.#wire.send(
      encodeStun(message, [
        [ATTRIBUTE.peerAddress, xorAddress(peer, transactionId)],
        [ATTRIBUTE.data, data],
      ]),
    );
  }

  sendChannel(channel: number, data: Buffer): void {
    this.#wire.send(encodeChannelData(channel, data, this.#wire.isStream));
  }

  sendRaw(bytes: Buffer): void {
    this.#wire.send(bytes);
  }

  get isClosed(): boolean {
    return this.#wire.isClosed();
  }

  close(): void {
    this.#wire.close();
  }
}

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
