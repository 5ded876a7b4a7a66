import type { ServerWithLoad } from './server-load.ts';
import { eligible } from './strategies/eligible.ts';
import { leastLoaded } from './strategies/least-loaded.ts';
import { sameRegion } from './strategies/same-region.ts';
import type { PlacementRequest, Strategy } from './strategies/strategy.ts';
import { underCapacity } from './strategies/under-capacity.ts';

const strategies: readonly Strategy[] = [eligible, underCapacity, sameRegion, leastLoaded];

/** The node for a new room, or undefined when none can take it. */
export const chooseServer = (
  servers: readonly ServerWithLoad[],
  request: PlacementRequest,
): ServerWithLoad | undefined => strategies.reduce((left, strategy) => strategy(left, request), servers)[0];

/** Whether this node may still take a room: asked again while its row is held. */
export const mayTakeRoom = (server: ServerWithLoad, silentBefore: string | null): boolean =>
  chooseServer([server], { region: null, except: new Set(), silentBefore }) !== undefined;
