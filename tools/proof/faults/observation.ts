import type { LogEntry, Sighting } from '../../../apps/server/testkit/chat/history-checker.ts';

/** What a process is asked again and again while something fails. */
export type Kind = 'send' | 'read' | 'mint' | 'join' | 'presence' | 'typing' | 'healthz' | 'readyz';

/** One question and how it was answered. Times are milliseconds of one steady clock. */
export interface Answer {
  kind: Kind;
  process: number;
  at: number;
  ms: number;
  /** 0 when the connection was refused, -1 when nothing was answered in time. */
  status: number;
  code: string | null;
  hasRetryAfter: boolean;
}

/** Packets of a call that arrived so far. */
export interface MediaSample {
  call: string;
  at: number;
  packets: number;
}

/** What became of every event at every endpoint. */
export interface WebhookTally {
  delivered: number;
  failed: number;
  lost: number;
  early: number;
  mistold: number;
  badSignatures: number;
  /** Acknowledged messages without exactly one event. */
  unstable: number;
}

/** Everything observed during one fault: the input of the invariants. */
export interface Observation {
  log: readonly LogEntry[];
  history: readonly { key: string; seq: number }[];
  sightings: readonly Sighting[];
  /** Subscribers that never became complete, or got something twice or out of order. */
  followerFaults: readonly string[];
  answers: readonly Answer[];
  /** While it lasted. */
  fault: { from: number; to: number };
  /** From its end until every subscriber had everything that was acknowledged by then. */
  completeMs: number;
  /** Sockets that were closed from its beginning until all was complete and quiet again. */
  closedSockets: readonly string[];
  /** Processes that exited unexpectedly. */
  exits: readonly string[];
  media: readonly MediaSample[];
  webhooks: WebhookTally;
  /** What only this scenario measures. */
  facts: Readonly<Record<string, number>>;
}
