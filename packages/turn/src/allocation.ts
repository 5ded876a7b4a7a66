import { randomBytes } from 'node:crypto';
import { type Address, keyOf } from './addresses.ts';
import type { RelaySocket, TurnClient } from './ports.ts';
import { Budget, type TurnQuotas } from './quotas.ts';

const PERMISSION_MS = 300_000;
const CHANNEL_MS = 600_000;

interface AllocationFacts {
  client: TurnClient;
  username: string;
  user: string;
  /** Signs what this client sends and gets. */
  key: Buffer;
  relayed: Address;
  socket: RelaySocket;
  expiresAt: number;
}

interface Channel {
  number: number;
  peer: Address;
  expiresAt: number;
}

/** What one client may send to and hears from: permissions by IP address, channels by transport address. */
export class Allocation {
  readonly facts: AllocationFacts;
  readonly up: Budget;
  readonly down: Budget;
  /** Of this client's connectivity checks, where it sends none. */
  readonly tieBreaker = randomBytes(8);
  /** Of the media process that it checks, whose answers are signed with it. */
  icePassword = '';
  expiresAt: number;
  /** The answer to Allocate, for the same request once more. */
  answer: { transactionId: Buffer; bytes: Buffer } | undefined;
  readonly #quotas: TurnQuotas;
  readonly #permissions = new Map<string, number>();
  readonly #channels = new Map<number, Channel>();
  readonly #channelOf = new Map<string, Channel>();

  constructor(facts: AllocationFacts, quotas: TurnQuotas, now: number) {
    this.facts = facts;
    this.expiresAt = facts.expiresAt;
    this.#quotas = quotas;
    this.up = new Budget(quotas.bytesPerSecond, now);
    this.down = new Budget(quotas.bytesPerSecond, now);
  }

  /** False when that were more than an allocation may have; then nothing has changed. */
  permit(peers: readonly Address[], now: number): boolean {
    const addresses = new Set(peers.map(({ address }) => address));
    for (const [address, expiresAt] of this.#permissions) if (expiresAt <= now) this.#permissions.delete(address);
    const all = new Set([...this.#permissions.keys(), ...addresses]);
    if (all.size > this.#quotas.permissions) return false;
    for (const address of addresses) this.#permissions.set(address, now + PERMISSION_MS);
    return true;
  }

  isPermitted(peer: Address, now: number): boolean {
    return (this.#permissions.get(peer.address) ?? 0) > now;
  }

  /** A channel stays with its peer, and a peer with its channel, until it expires (RFC 8656 12). */
  bind(number: number, peer: Address, now: number): 'bound' | 'conflict' | 'full' {
    for (const channel of this.#channels.values()) if (channel.expiresAt <= now) this.#unbind(channel);
    const channel = this.#channels.get(number);
    if (channel !== this.#channelOf.get(keyOf(peer))) return 'conflict';
    if (!channel && this.#channels.size === this.#quotas.channels) return 'full';
    if (!this.permit([peer], now)) return 'full';
    const bound = { number, peer, expiresAt: now + CHANNEL_MS };
    this.#channels.set(number, bound);
    this.#channelOf.set(keyOf(peer), bound);
    return 'bound';
  }

  #unbind({ number, peer }: Channel): void {
    this.#channels.delete(number);
    this.#channelOf.delete(keyOf(peer));
  }

  peerOf(channel: number, now: number): Address | undefined {
    const found = this.#channels.get(channel);
    return found && found.expiresAt > now ? found.peer : undefined;
  }

  channelOf(peer: Address, now: number): number | undefined {
    const found = this.#channelOf.get(keyOf(peer));
    return found && found.expiresAt > now ? found.number : undefined;
  }
}
