import type { PipeEnd } from './seal.ts';

/** What the control plane hands to both ends of a pipe. */
export interface PipeSettings {
  /** Our number of it, which datagrams to us carry, and the one of the other end. */
  id: number;
  peerId: number;
  host: string;
  port: number;
  /** Hexadecimal; the keys of both directions are derived from it. */
  secret: string;
  end: PipeEnd;
  /** The largest datagram that the path carries whole. */
  datagramBytes: number;
  /** To another node; the secrets are those that it may use beside ours, while the fleet's is rotated. */
  betweenNodes?: { otherSecrets: readonly string[] };
}
