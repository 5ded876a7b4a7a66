import type { ServerWithLoad } from '../server-load.ts';

export interface PlacementRequest {
  /** Preferred, never required. */
  region: string | null;
  /** Nodes that were tried and could not be reached. */
  except: ReadonlySet<string>;
  /** Nodes last seen before this are offline; null while that cannot be known. */
  silentBefore: string | null;
}

/** Narrows or orders the nodes that may take a room; the best first. */
export type Strategy = (servers: readonly ServerWithLoad[], request: PlacementRequest) => readonly ServerWithLoad[];
