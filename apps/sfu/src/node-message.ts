/** What a node tells the process that started it with a channel. */
export type NodeMessage =
  /** It listens: for commands here, for media on these ports. */
  | { kind: 'started'; internalUrl: string; udpPorts: readonly number[] }
  /** It ends without having started; the sentence says why when a person can mend it. */
  | { kind: 'failed'; problem: string | null }
  /** The control plane took it, or did not: then why. */
  | { kind: 'registration'; problem: string | null };

/** An argument of a node: it is loaded now, and begins when the process that started it says where the server is. */
export const waitsForServer = '--wait-for-server';

export interface ServerMessage {
  controlUrl: string;
}
