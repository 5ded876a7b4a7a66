import { fail, isServiceError } from '@parley/contract';
import type { DataFallback } from '@parley/contract/media-control';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db } from '../../core/db.ts';
import type { Fleet, NodeHello } from '../fleet/index.ts';
import { MediaRefusal } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import type { RoomChange } from './room-change.ts';
import { findRoom, listRoomsOn, type StoredRoom, updatePlacement } from './room-store.ts';
import { type EndMoment, hasJoinedOn } from './session-store.ts';

/** Where a room is: a node, and which life of it. */
export interface Placement {
  serverName: string;
  serverInstance: string;
  region: string | null;
}

interface PlacementDeps {
  db: Db;
  fleet: Fleet;
  departures: Departures;
  roomChange: RoomChange;
  dataFallback: DataFallback;
}

const attemptsMax = 10;

/** A room stays on its node while it has participants; a dead or restarted node has lost its rooms. */
export function createPlacement({ db, fleet, departures, roomChange, dataFallback }: PlacementDeps) {
  /** Null when the node cannot be reached just now. */
  async function reach(name: string): Promise<NodeHello | null> {
    try {
      return await fleet.nodes.reach(name);
    } catch (error) {
      if (isServiceError(error, 'SVC_MEDIA_UNAVAILABLE')) return null;
      throw error;
    }
  }

  /** Puts the room on the node unless another process has placed it, or the node is full. */
  async function claim(scope: ProjectScope, roomId: string, name: string, serverInstance: string): Promise<boolean> {
    return roomChange(scope, roomId, async (tx, _record, room) => {
      if (room.serverName !== null) return true;
      if (!(await fleet.mayTake(tx, name))) return false;
      await updatePlacement(tx, roomId, { serverName: name, serverInstance });
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

  /** Ends the sessions of a lost node, and frees the room for another one. */
  async function leaveNode(
    scope: ProjectScope,
    roomId: string,
    name: string,
    exceptInstance: string | null,
    reason: 'MEDIA_FAILURE' | 'NODE_DRAINED',
    moment?: EndMoment,
  ): Promise<void> {
    await roomChange(scope, roomId, async (tx, record, room) => {
      const isOther = room.serverName !== name || (exceptInstance !== null && room.serverInstance === exceptInstance);
      if (isOther) return;
      await departures.end(tx, record, roomId, { serverName: name, exceptInstance }, reason, moment);
      await updatePlacement(tx, roomId, null);
    });
  }

  /** The placed room's node, when it can be used; otherwise sees to it that the next attempt finds another. */
  async function use(room: StoredRoom & { serverName: string }, except: Set<string>): Promise<Placement | null> {
    const { id, serverName, serverInstance, region } = room;
    const hello = await reach(serverName);
    if (hello && hello.instanceId === serverInstance) return { serverName, serverInstance, region };
    const server = await fleet.find(serverName);
    if (hello || !server || fleet.isOffline(server)) {
      const signs = server && { signs: server };
      await leaveNode(room, id, serverName, hello?.instanceId ?? null, 'MEDIA_FAILURE', signs);
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
  ): Promise<boolean> {
    try {
      await fleet.nodes.command(placement.serverName, 'room.open', { room: roomId, dataFallback });
      return true;
    } catch (error) {
      if (!(error instanceof MediaRefusal)) throw error;
      // The node knows better than we do that it is full or draining.
      except.add(placement.serverName);
      if (!(await unclaim(scope, roomId, placement.serverName))) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      return false;
    }
  }

  /** The node of a room, chosen now if it has none, with the room open on it. */
  async function place(scope: ProjectScope, roomId: string): Promise<Placement> {
    const except = new Set<string>();
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const room = (await findRoom(db, scope, roomId)) ?? fail('SVC_ROOM_NOT_FOUND');
      if (room.serverName !== null) {
        const placement = await use({ ...room, serverName: room.serverName }, except);
        if (placement && (await open(scope, roomId, placement, except))) return placement;
        continue;
      }
      const server = await fleet.choose(room.preferredRegion, except);
      if (!server) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      const hello = await reach(server.name);
      if (!hello || !(await claim(scope, roomId, server.name, hello.instanceId))) except.add(server.name);
    }
    return fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
  }

  fleet.onEvacuate(async (evacuation) => {
    const { server, reason } = evacuation;
    const exceptInstance = reason === 'MEDIA_FAILURE' ? evacuation.exceptInstance : null;
    const moment = reason === 'MEDIA_FAILURE' ? { signs: evacuation.signs } : undefined;
    for (const room of await listRoomsOn(db, server, exceptInstance)) {
      await leaveNode(room, room.id, server, exceptInstance, reason, moment);
    }
  });

  return { place, reach };
}

export type PlacementService = ReturnType<typeof createPlacement>;
