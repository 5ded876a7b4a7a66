import type { ConnectionEventSource, ConnectionEventType } from '@parley/contract';
import type { MediaEvents } from '@parley/contract/media-control';
import type { ProjectScope } from './caller.ts';

/** One step of a connection, as the server saw it or the client reported it. */
export interface ConnectionFact extends ProjectScope {
  /** Made by the client; bound to the room and identity that used it first. */
  connectionId: string;
  roomId: string;
  identity: string;
  tokenId: string;
  type: ConnectionEventType;
  source: ConnectionEventSource;
  /** When it happened, epoch milliseconds; the client's own clock for what the client reported. */
  at: number;
  data?: Record<string, unknown>;
  /** What is known of the connection with this step; set once known. */
  about?: ConnectionAbout;
}

export interface ConnectionAbout {
  roomName?: string | null;
  serverName?: string | null;
  region?: string | null;
  clientIp?: string | null;
  userAgent?: string | null;
  sdkName?: string | null;
  sdkVersion?: string | null;
  transport?: string | null;
}

/** What a media node counted of the tracks of a connection, a value for each sample. */
interface NodeSamples extends ProjectScope {
  connectionId: string;
  roomId: string;
  identity: string;
  everyMs: number;
  count: number;
  tracks: MediaEvents['track.samples']['tracks'];
}

/** Best effort by nature, as steps are. */
export type TakeNodeSamples = (samples: NodeSamples) => void;

/** Where steps are written down. Best effort by nature: it never fails or delays a call. */
export interface ConnectionRecorder {
  record(fact: ConnectionFact): void;
}
