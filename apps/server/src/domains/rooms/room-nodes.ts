import { isServiceError } from '@parley/contract';
import type { DataFallback } from '@parley/contract/media-control';
import type { Fleet, NodeHello } from '../fleet/index.ts';

/** Where a room is: a node, and which life of it. */
export interface Placement {
  serverName: string;
  serverInstance: string;
  region: string | null;
}

/** A participant's node, and all that the room is on. */
export interface JoinPlacement extends Placement {
  nodes: readonly string[];
}

interface RoomNodesDeps {
  fleet: Pick<Fleet, 'nodes'>;
  dataFallback: DataFallback;
}

export type RoomNodes = ReturnType<typeof createRoomNodes>;

/** What a room asks of a node, whichever of its nodes that is. */
export function createRoomNodes({ fleet, dataFallback }: RoomNodesDeps) {
  /** Null when the node cannot be reached just now. */
  async function reach(name: string): Promise<NodeHello | null> {
    try {
      return await fleet.nodes.reach(name);
    } catch (error) {
      if (isServiceError(error, 'SVC_MEDIA_UNAVAILABLE')) return null;
      throw error;
    }
  }

  async function open(name: string, roomId: string): Promise<{ isBusy: boolean }> {
    const { busy = false } = await fleet.nodes.command(name, 'room.open', { room: roomId, dataFallback });
    return { isBusy: busy };
  }

  return { reach, open };
}

export const nameOf = ({ serverName }: { serverName: string }): string => serverName;
