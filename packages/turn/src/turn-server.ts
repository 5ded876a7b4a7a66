import { randomBytes } from 'node:crypto';
import { addressKey } from '@parley/contract/addresses';
import { type Address, keyOf } from './addresses.ts';
import { Allocation } from './allocation.ts';
import { type Authenticated, createAuthenticator } from './authentication.ts';
import { CHANNEL_MAX, CHANNEL_MIN, decodeChannelData, encodeChannelData, isChannelData } from './channel-data.ts';
import { sign } from './integrity.ts';
import type { MediaPeer, RelaySocket, TurnClient, TurnClock } from './ports.ts';
import { Budgets, Counts, QUOTAS, type TurnQuotas } from './quotas.ts';
import { type Refusal, refusal } from './refusals.ts';
import { rewriteAnswer, rewriteCheck } from './rewrite.ts';
import {
  ATTRIBUTE,
  decodeStun,
  encodeStun,
  errorCode,
  find,
  findAll,
  findUint32,
  METHOD,
  type NewAttribute,
  readXorAddress,
  type StunMessage,
  uint32,
  xorAddress,
} from './stun.ts';

const LIFETIME_SECONDS_MIN = 600;
const LIFETIME_SECONDS_MAX = 3600;
const UDP = 17;
const RESERVE = 0x80;
const FAMILIES: Record<number, 4 | 6> = { 1: 4, 2: 6 };

export interface TurnServerDeps {
  clock: TurnClock;
  /** Keys of credentials; the first is current, the others are accepted while secrets are rotated. */
  secrets: readonly Buffer[];
  realm: string;
  /** The media sockets of this node; nothing else is ever sent to. One address of each family. */
  peers: readonly MediaPeer[];
  /** `family`: of the peers that its datagrams come from. */
  openSocket(family: 4 | 6, onDatagram: (peer: MediaPeer, bytes: Buffer) => void): Promise<RelaySocket>;
  /** Of the node's side of a connection, to mend its connectivity checks. */
  icePasswordOf(ufrag: string): string;
  quotas?: TurnQuotas;
}

interface Request {
  client: TurnClient;
  message: StunMessage;
  by: Authenticated;
}

/** What a request is answered with, or why not. */
type Answer = readonly NewAttribute[] | Refusal;
type Handler = (request: Request, allocation: Allocation) => Answer;

/** A TURN server (RFC 8656) whose only peers are the media sockets of its node. */
export class TurnServer {
  readonly #deps: TurnServerDeps;
  readonly #quotas: TurnQuotas;
  /** All that were ever announced. */
  readonly #peers = new Map<string, MediaPeer>();
  #announced: readonly MediaPeer[] = [];
  readonly #authenticate: ReturnType<typeof createAuthenticator>;
  readonly #allocations = new Map<string, Allocation>();
  /** Clients whose relay socket is being opened. */
  readonly #opening = new Set<string>();
  readonly #perUser = new Counts();
  readonly #perAddress = new Counts();
  /** Apart: who sends from forged UDP addresses must not use up what a connection, whose address is real, may ask. */
  readonly #unproven: { datagrams: Budgets; streams: Budgets };
  #isClosed = false;

  constructor(deps: TurnServerDeps) {
    this.#deps = deps;
    this.#quotas = deps.quotas ?? QUOTAS;
    const { unprovenPerSecond } = this.#quotas;
    this.#unproven = { datagrams: new Budgets(unprovenPerSecond), streams: new Budgets(unprovenPerSecond) };
    this.#authenticate = createAuthenticator(deps);
    this.announce(deps.peers);
  }

  /** The media sockets have these addresses from now on; who knows an older one still reaches them. */
  announce(peers: readonly MediaPeer[]): void {
    this.#announced = peers;
    for (const peer of peers) this.#peers.set(keyOf(peer), peer);
  }

  get size(): number {
    return this.#allocations.size;
  }

  /** The client that has an allocation under this key. */
  clientOf(key: string): TurnClient | undefined {
    return this.#allocations.get(key)?.facts.client;
  }

  /** One datagram, or one message of a stream. */
  receive(client: TurnClient, bytes: Buffer): void {
    if (isChannelData(bytes)) this.#onChannelData(client, bytes);
    else this.#onMessage(client, bytes);
  }

  #onMessage(client: TurnClient, bytes: Buffer): void {
    const message = decodeStun(bytes);
    if (message?.class === 'indication' && message.method === METHOD.send) this.#onSend(client, message);
    if (message?.class !== 'request') return;
    // Unauthenticated, as STUN is: it tells the client its own address and nothing else.
    if (message.method === METHOD.binding) this.#answerUnproven(client, () => this.#bind(client, message));
    else this.#onRequest(client, message, bytes);
  }

  /** Too many are not answered: by UDP the address may be a victim's; a connection, which waits for answers, ends. */
  #answerUnproven(client: TurnClient, answer: () => void): void {
    const budgets = this.#unproven[client.isStream ? 'streams' : 'datagrams'];
    const isAnswered =
      // It has proven itself: a stale nonce is answered, whatever others send in its name.
      this.#allocations.has(client.key) || budgets.take(addressKey(client.address.address), this.#deps.clock.now());
    if (isAnswered) answer();
    else client.close();
  }

  #bind(client: TurnClient, message: StunMessage): void {
    this.#answer(client, message, [mapped(client, message)]);
  }

  #onRequest(client: TurnClient, message: StunMessage, bytes: Buffer): void {
    const allocation = this.#allocations.get(client.key);
    const by = this.#authenticate(client, message, bytes, allocation?.facts);
    if ('code' in by) this.#answerUnproven(client, () => this.#refuse(client, message, by));
    else if (message.method === METHOD.allocate) this.#allocate({ client, message, by }, allocation);
    else this.#settle({ client, message, by }, this.#perform({ client, message, by }, allocation));
  }

  #perform(request: Request, allocation: Allocation | undefined): Answer {
    const handler = this.#handlers[request.message.method];
    if (!handler) return refusal(400);
    return allocation ? handler(request, allocation) : refusal(437);
  }

  #settle({ client, message, by }: Request, answer: Answer): void {
    if ('code' in answer) this.#refuse(client, message, answer, by.key);
    else this.#answer(client, message, answer, by.key);
  }

  #answer(
    client: TurnClient,
    { method, transactionId }: StunMessage,
    attributes: readonly NewAttribute[],
    key?: Buffer,
  ) {
    const bytes = encodeStun({ method, class: 'success', transactionId }, attributes);
    const signed = key ? sign(bytes, key) : bytes;
    client.send(signed);
    return signed;
  }

  #refuse(client: TurnClient, { method, transactionId }: StunMessage, { code, reason, extra }: Refusal, key?: Buffer) {
    const bytes = encodeStun({ method, class: 'error', transactionId }, [
      [ATTRIBUTE.errorCode, errorCode(code, reason)],
      ...extra,
    ]);
    client.send(key ? sign(bytes, key) : bytes);
  }

  #allocate(request: Request, allocation: Allocation | undefined): void {
    const { client, message } = request;
    const isRepeat = allocation?.answer?.transactionId.equals(message.transactionId);
    if (isRepeat && allocation?.answer) client.send(allocation.answer.bytes);
    else if (allocation) this.#settle(request, refusal(437));
    // Otherwise the answer to its first request is on the way.
    else if (!this.#opening.has(client.key)) this.#begin(request, this.#objection(request));
  }

  #begin(request: Request, objection: Refusal | undefined): void {
    if (objection) {
      this.#settle(request, objection);
      return;
    }
    const { client, by } = request;
    this.#opening.add(client.key);
    this.#perUser.add(by.user);
    this.#perAddress.add(addressKey(client.address.address));
    this.#open(request)
      .catch(() => {
        this.#giveBack(by.user, client);
        this.#settle(request, refusal(508));
      })
      .finally(() => this.#opening.delete(client.key));
  }

  #objection({ client, message, by }: Request): Refusal | undefined {
    const transport = find(message, ATTRIBUTE.requestedTransport);
    if (transport?.length !== 4) return refusal(400);
    if (transport.readUInt8(0) !== UDP) return refusal(442);
    if (!this.#relayedFor(message)) return refusal(440);
    // The port after it cannot be reserved.
    if ((find(message, ATTRIBUTE.evenPort)?.[0] ?? 0) & RESERVE) return refusal(508);
    if (this.#perUser.of(by.user) >= this.#quotas.allocationsPerUser) return refusal(486);
    const isFull =
      this.#allocations.size + this.#opening.size >= this.#quotas.allocations ||
      this.#perAddress.of(addressKey(client.address.address)) >= this.#quotas.allocationsPerAddress;
    return isFull ? refusal(508) : undefined;
  }

  /**
   * An address of this node, of the asked family or else IPv4 where it has one: only for the client's own bookkeeping,
   * since nobody but the media sockets can send to an allocation.
   */
  #relayedFor(message: StunMessage): MediaPeer | undefined {
    const asked = find(message, ATTRIBUTE.requestedFamily);
    const ofFamily = (family: 4 | 6 | undefined) => this.#announced.find((peer) => peer.family === family);
    return asked ? ofFamily(FAMILIES[asked[0] ?? 0]) : (ofFamily(4) ?? ofFamily(6));
  }

  #giveBack(user: string, client: TurnClient): void {
    this.#perUser.remove(user);
    this.#perAddress.remove(addressKey(client.address.address));
  }

  async #open(request: Request): Promise<void> {
    const { client, message, by } = request;
    const { clock, openSocket } = this.#deps;
    const { family, address } = this.#relayedFor(message) ?? client.address;
    let allocation: Allocation | undefined;
    const socket = await openSocket(family, (peer, bytes) => {
      if (allocation) this.#onDatagram(allocation, peer, bytes);
    });
    // The client is gone, or the server.
    if (this.#isClosed || !this.#opening.has(client.key)) {
      socket.close();
      return this.#giveBack(by.user, client);
    }
    // The port is as much of a label as the address is.
    const isEven = find(message, ATTRIBUTE.evenPort) !== undefined;
    const relayed = { family, address, port: isEven ? socket.port & ~1 : socket.port };
    const seconds = lifetimeOf(message);
    const now = clock.now();
    const expiresAt = now + seconds * 1000;
    allocation = new Allocation({ ...by, client, relayed, socket, expiresAt }, this.#quotas, now);
    this.#allocations.set(client.key, allocation);
    const { transactionId } = message;
    const bytes = this.#answer(
      client,
      message,
      [
        [ATTRIBUTE.relayedAddress, xorAddress(relayed, transactionId)],
        [ATTRIBUTE.lifetime, uint32(seconds)],
        mapped(client, message),
      ],
      by.key,
    );
    allocation.answer = { transactionId: Buffer.from(transactionId), bytes };
  }

  readonly #handlers: Record<number, Handler> = {
    [METHOD.refresh]: ({ message }, allocation) => {
      const seconds = findUint32(message, ATTRIBUTE.lifetime) === 0 ? 0 : lifetimeOf(message);
      if (seconds === 0) this.#end(allocation);
      allocation.expiresAt = this.#deps.clock.now() + seconds * 1000;
      return [[ATTRIBUTE.lifetime, uint32(seconds)]];
    },
    [METHOD.createPermission]: ({ message }, allocation) => {
      const named = findAll(message, ATTRIBUTE.peerAddress);
      const peers = named.map((value) => readXorAddress(value, message.transactionId));
      if (named.length === 0) return refusal(400);
      const known: Address[] = [];
      for (const peer of peers) {
        const objection = this.#peerObjection(peer, allocation, true);
        if (objection) return objection;
        if (peer) known.push(peer);
      }
      return allocation.permit(known, this.#deps.clock.now()) ? [] : refusal(508);
    },
    [METHOD.channelBind]: ({ message }, allocation) => {
      const number = find(message, ATTRIBUTE.channelNumber);
      const channel = number?.length === 4 ? number.readUInt16BE(0) : 0;
      const peer = readXorAddress(find(message, ATTRIBUTE.peerAddress), message.transactionId);
      if (channel < CHANNEL_MIN || channel > CHANNEL_MAX || !peer) return refusal(400);
      const objection = this.#peerObjection(peer, allocation, false);
      if (objection) return objection;
      const outcome = allocation.bind(channel, peer, this.#deps.clock.now());
      return outcome === 'bound' ? [] : refusal(outcome === 'full' ? 508 : 400);
    },
  };

  /** Permissions are for an address alone (RFC 8656 9), and some clients name no port with it. */
  #peerObjection(peer: Address | undefined, { facts }: Allocation, mayLackPort: boolean): Refusal | undefined {
    if (!peer) return refusal(400);
    if (peer.family !== facts.relayed.family) return refusal(443);
    const isKnown =
      mayLackPort && peer.port === 0
        ? [...this.#peers.values()].some(({ address }) => address === peer.address)
        : this.#peers.has(keyOf(peer));
    return isKnown ? undefined : refusal(403);
  }

  #onSend(client: TurnClient, message: StunMessage): void {
    const allocation = this.#allocations.get(client.key);
    const peer = readXorAddress(find(message, ATTRIBUTE.peerAddress), message.transactionId);
    const data = find(message, ATTRIBUTE.data);
    if (!allocation || !peer || !data || !allocation.isPermitted(peer, this.#deps.clock.now())) return;
    this.#relay(allocation, peer, data);
  }

  #onChannelData(client: TurnClient, bytes: Buffer): void {
    const allocation = this.#allocations.get(client.key);
    const frame = decodeChannelData(bytes);
    if (!allocation || !frame) return;
    const peer = allocation.peerOf(frame.channel, this.#deps.clock.now());
    if (peer) this.#relay(allocation, peer, frame.data);
  }

  /** The one place that anything goes to a peer from. */
  #relay(allocation: Allocation, to: Address, data: Buffer): void {
    const peer = this.#peers.get(keyOf(to));
    if (!peer || data.length === 0 || !allocation.up.take(data.length, this.#deps.clock.now())) return;
    const passwordOf = (ufrag: string): string => {
      allocation.icePassword = this.#deps.icePasswordOf(ufrag);
      return allocation.icePassword;
    };
    allocation.facts.socket.send(peer, rewriteCheck(data, allocation.tieBreaker, passwordOf));
  }

  #onDatagram(allocation: Allocation, peer: MediaPeer, bytes: Buffer): void {
    const now = this.#deps.clock.now();
    if (!allocation.isPermitted(peer, now) || !allocation.down.take(bytes.length, now)) return;
    const { client, relayed } = allocation.facts;
    const data = rewriteAnswer(bytes, relayed, allocation.icePassword);
    const channel = allocation.channelOf(peer, now);
    client.send(channel === undefined ? dataIndication(peer, data) : encodeChannelData(channel, data, client.isStream));
  }

  /** Its connection is closed. */
  forget(client: TurnClient): void {
    const allocation = this.#allocations.get(client.key);
    this.#opening.delete(client.key);
    if (allocation) this.#end(allocation);
  }

  #end({ facts }: Allocation): void {
    const { client, user, socket } = facts;
    if (!this.#allocations.delete(client.key)) return;
    this.#giveBack(user, client);
    socket.close();
  }

  /** Ends what has expired. */
  sweep(): void {
    const now = this.#deps.clock.now();
    for (const allocation of [...this.#allocations.values()]) {
      if (allocation.expiresAt > now) continue;
      this.#end(allocation);
      allocation.facts.client.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const allocation of [...this.#allocations.values()]) this.#end(allocation);
  }
}

const mapped = ({ address }: TurnClient, { transactionId }: StunMessage): NewAttribute => [
  ATTRIBUTE.mappedAddress,
  xorAddress(address, transactionId),
];

const lifetimeOf = (message: StunMessage): number =>
  Math.min(LIFETIME_SECONDS_MAX, Math.max(LIFETIME_SECONDS_MIN, findUint32(message, ATTRIBUTE.lifetime) ?? 0));

function dataIndication(peer: MediaPeer, data: Buffer): Buffer {
  const transactionId = randomBytes(12);
  return encodeStun({ method: METHOD.data, class: 'indication', transactionId }, [
    [ATTRIBUTE.peerAddress, xorAddress(peer, transactionId)],
    [ATTRIBUTE.data, data],
  ]);
}
