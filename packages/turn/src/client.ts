import { randomBytes } from 'node:crypto';
import type { Address } from './addresses.ts';
import { decodeChannelData, encodeChannelData, isChannelData } from './channel-data.ts';
import { isSigned, longTermKey, sign } from './integrity.ts';
import { StreamReader } from './stream-reader.ts';
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
} from './stun.ts';

const ANSWER_MS_MAX = 5000;

/** How bytes get to the relay and back. */
export interface Wire {
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

/** A TURN client (RFC 8656), without sockets, that does exactly what it is told, also what no client should. */
export class TurnClient {
  readonly #wire: Wire;
  readonly #credential: Credential;
  readonly #answerMsMax: number;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #reader = new StreamReader();
  readonly received: { from: 'channel' | 'indication'; peer: string; data: Buffer }[] = [];
  #key: Buffer | undefined;
  #realm = '';
  #nonce = '';

  constructor(wire: Wire, credential: Credential, answerMsMax = ANSWER_MS_MAX) {
    this.#wire = wire;
    this.#credential = credential;
    this.#answerMsMax = answerMsMax;
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
    // Its sender does not know the password.
    if (error === 0 && this.#key && message.method !== METHOD.binding && !isSigned(bytes, message, this.#key)) return;
    this.#waiting.get(id)?.({ error, message });
    this.#waiting.delete(id);
  }

  /** As it is, signed when a credential is known. */
  exchange(method: number, attributes: readonly NewAttribute[], transactionId = randomBytes(12)): Promise<Answer> {
    const bytes = encodeStun({ method, class: 'request', transactionId }, [...attributes, ...this.#identity()]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The relay did not answer.')), this.#answerMsMax);
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
