import { fail } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db } from '../../core/db.ts';
import { type Fleet, MediaRefusal } from '../fleet/index.ts';
import type { FurtherNodes } from './further-nodes.ts';
import type { LostNodes } from './lost-nodes.ts';
import type { RoomChange } from './room-change.ts';
import type { JoinPlacement, Placement, RoomNodes } from './room-nodes.ts';
import { deleteFurtherNode, findRoom, type StoredRoom, updatePlacement } from './room-store.ts';
import { hasJoinedOn } from './session-store.ts';

interface PlacementDeps {
  db: Db;
  fleet: Fleet;
  roomChange: RoomChange;
  roomNodes: RoomNodes;
  furtherNodes: FurtherNodes;
  lostNodes: LostNodes;
  /** Where the nodes are that are near to this server, and so to who comes by it. */
  serverRegion: string | null;
}

const attemptsMax = 10;

/** A room's home: it stays on its node while it has participants; a dead or restarted node has lost its rooms. */
export function createPlacement(deps: PlacementDeps) {
  const { db, fleet, roomChange, roomNodes, furtherNodes, lostNodes, serverRegion } = deps;

  /** Puts the room on the node unless another process has placed it, or the node is full. */
  async function claim(scope: ProjectScope, roomId: string, name: string, serverInstance: string): Promise<boolean> {
    return roomChange(scope, roomId, async (tx, _record, room) => {
      if (room.serverName !== null) return true;
      if (!(await fleet.mayTake(tx, name))) return false;
      await updatePlacement(tx, roomId, { serverName: name, serverInstance });
      await deleteFurtherNode(tx, roomId, name);
      return true;
    });
  }

  /** Takes the room off a node unless it has participants there; false when it has. */
  async function unclaim(scope: ProjectScope, roomId: string, name: string): Promise<boolean> {
    return roomChange(scope, roomId, async (tx, _record, room) => {
      if (room.serverName !== name) return true;
      if (await hasJoinedOn(tx, roomId, name)) return false;
      await updatePlacement(tx, roomId, null);
      return true;
    });
  }

  /** The placed room's node, when it can be used; otherwise sees to it that the next attempt finds another. */
  async function use(room: StoredRoom & { serverName: string }, except: Set<string>): Promise<Placement | null> {
    const { id, serverName, serverInstance, region } = room;
    const hello = await roomNodes.reach(serverName);
    if (hello && hello.instanceId === serverInstance) return { serverName, serverInstance, region };
    const server = await fleet.find(serverName);
    if (hello || !server || fleet.isOffline(server)) {
      const signs = server && { signs: server };
      await lostNodes.leave(room, id, serverName, hello?.instanceId ?? null, 'MEDIA_FAILURE', signs);
      return null;
    }
    except.add(serverName);
    if (!(await unclaim(room, id, serverName))) fail('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 5 });
    return null;
  }

  async function open(
    scope: ProjectScope,
    roomId: string,
    placement: Placement,
    except: Set<string>,
  ): Promise<{ isBusy: boolean } | null> {
    try {
      return await roomNodes.open(placement.serverName, roomId);
    } catch (error) {
      if (!(error instanceof MediaRefusal)) throw error;
      // The node knows better than we do that it is full or draining.
      except.add(placement.serverName);
      if (!(await unclaim(scope, roomId, placement.serverName))) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      return null;
    }
  }

  /** The node for who joins a room, chosen now if it has none, with the room open on it. */
  async function place(scope: ProjectScope, roomId: string, wanted: string | null): Promise<JoinPlacement> {
    const region = wanted ?? serverRegion;
    const except = new Set<string>();
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const room = (await findRoom(db, scope, roomId)) ?? fail('SVC_ROOM_NOT_FOUND');
      if (room.serverName !== null) {
        const placement = await use({ ...room, serverName: room.serverName }, except);
        const opened = placement && (await open(scope, roomId, placement, except));
        if (opened) return furtherNodes.spread(scope, roomId, placement, { ...opened, region });
        continue;
      }
      const server = await fleet.choose(room.preferredRegion ?? region, except);
      if (!server) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      const hello = await roomNodes.reach(server.name);
      if (!hello || !(await claim(scope, roomId, server.name, hello.instanceId))) except.add(server.name);
    }
    return fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
  }

  return { place, onSilent: lostNodes.onSilent };
}
