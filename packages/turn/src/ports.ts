import type { Address } from './addresses.ts';

/** The sockets around the relay, which itself has none. */

/** Who talks to the relay: a UDP address, or a TCP or TLS connection. */
export interface TurnClient {
  /** Its 5-tuple: no two clients share it. */
  readonly key: string;
  readonly address: Address;
  /** TCP or TLS. */
  readonly isStream: boolean;
  send(bytes: Buffer): void;
  /** Its allocation is over. */
  close(): void;
}

/** The only kind of peer there is: a media socket of this node, by the address that clients know it by. */
export type MediaPeer = Address;

/** One UDP socket toward the media sockets, of one allocation. */
export interface RelaySocket {
  readonly port: number;
  send(peer: MediaPeer, bytes: Buffer): void;
  close(): void;
}

export interface TurnClock {
  /** Milliseconds that never go back. */
  now(): number;
  wall(): number;
}
