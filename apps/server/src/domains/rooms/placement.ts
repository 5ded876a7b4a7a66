import { fail, isServiceError } from '@parley/contract';
import type { DataFallback } from '@parley/contract/media-control';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Fleet, NodeHello } from '../fleet/index.ts';
import { MediaRefusal } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import type { RoomChange } from './room-change.ts';
import {
  deleteFurtherNode,
  type FurtherNode,
  findRoom,
  listFurtherNodes,
  listRoomsOn,
  listSharedRooms,
  type RoomTx,
  type StoredRoom,
  updatePlacement,
  upsertFurtherNode,
} from './room-store.ts';
import { type EndMoment, hasJoinedOn } from './session-store.ts';

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

interface PlacementDeps {
  db: Db;
  clock: Clock;
  log: Log;
  fleet: Fleet;
  departures: Departures;
  roomChange: RoomChange;
  dataFallback: DataFallback;
  /** Where the nodes are that are near to this server, and so to who comes by it. */
  serverRegion: string | null;
}

const attemptsMax = 10;
/** Nodes that are asked whether they have time for who joins. */
const furtherMax = 3;
/** A node that is not heard by another one has this long to answer us. */
const answerMs = 1_000;

/** A room stays on its node while it has participants; a dead or restarted node has lost its rooms. */
export function createPlacement(deps: PlacementDeps) {
  const { db, clock, log, fleet, departures, roomChange, dataFallback, serverRegion } = deps;
  const asked = new Map<string, Promise<boolean>>();

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

  /** Ends the sessions of a lost node, and frees the room for another one. */
  async function leaveNode(
    scope: ProjectScope,
    roomId: string,
    name: string,
    exceptInstance: string | null,
    reason: 'MEDIA_FAILURE' | 'NODE_DRAINED',
    moment?: EndMoment,
  ): Promise<void> {
    const left = await roomChange(scope, roomId, async (tx, record, room) => {
      const isLost = (node: { serverName: string | null; serverInstance: string | null }): boolean =>
        node.serverName === name && (exceptInstance === null || node.serverInstance !== exceptInstance);
      const isFurther = (await listFurtherNodes(tx, roomId)).some(isLost);
      if (!isLost(room) && !isFurther) return [];
      await departures.end(tx, record, roomId, { serverName: name, exceptInstance }, reason, moment);
      if (isFurther) await deleteFurtherNode(tx, roomId, name);
      const further = await listFurtherNodes(tx, roomId);
      if (isLost(room)) await promote(tx, roomId, further[0]);
      return [...(isLost(room) || room.serverName === null ? [] : [room.serverName]), ...further.map(nameOf)];
    });
    // Those who stay have nobody of that node any more.
    if (left.length > 0) await fleet.links.link(roomId, left);
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
  ): Promise<{ isBusy: boolean } | null> {
    try {
      return await openOn(placement.serverName, roomId);
    } catch (error) {
      if (!(error instanceof MediaRefusal)) throw error;
      // The node knows better than we do that it is full or draining.
      except.add(placement.serverName);
      if (!(await unclaim(scope, roomId, placement.serverName))) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      return null;
    }
  }

  async function openOn(name: string, roomId: string): Promise<{ isBusy: boolean }> {
    const { busy = false } = await fleet.nodes.command(name, 'room.open', { room: roomId, dataFallback });
    return { isBusy: busy };
  }

  /** Opens the room on a node besides its home; null when that cannot be, has no time either, or is not to be linked. */
  async function goOn(
    scope: ProjectScope,
    roomId: string,
    home: Placement,
    { name, region }: { name: string; region: string | null },
    mayBeBusy: boolean,
  ): Promise<JoinPlacement | null> {
    const hello = await reach(name);
    if (!hello || !(await fleet.links.hasPipes(name))) return null;
    const opened = await openOn(name, roomId).catch(() => null);
    if (!opened || (opened.isBusy && !mayBeBusy)) return null;
    const node = { serverName: name, serverInstance: hello.instanceId };
    const nodes = await roomChange(scope, roomId, async (tx, _record, room) => {
      if (room.serverName !== home.serverName || room.serverInstance !== home.serverInstance) return null;
      const further = (await listFurtherNodes(tx, roomId)).map(nameOf);
      if (!further.includes(name) && !(await fleet.mayTake(tx, name))) return null;
      await upsertFurtherNode(tx, roomId, node, iso(clock.now()));
      return [...new Set([home.serverName, ...further, name])];
    });
    if (!nodes) return null;
    const refused = await fleet.links.link(roomId, nodes);
    if (!refused.some((pair) => pair.node === name || pair.other === name)) return { ...node, region, nodes };
    await roomChange(scope, roomId, (tx) => leaveUnused(tx, roomId, name));
    return null;
  }

  /** Where a participant joins a room that is open at its home: there, unless it has no time or is far away. */
  async function spread(
    scope: ProjectScope,
    roomId: string,
    home: Placement,
    { isBusy, region }: { isBusy: boolean; region: string | null },
  ): Promise<JoinPlacement> {
    const further = await listFurtherNodes(db, roomId);
    const isFar = region !== null && region !== home.region;
    const wanted = isFar ? region : isBusy ? home.region : null;
    const elsewhere = wanted === null ? null : await findElsewhere(scope, roomId, home, further, wanted, isFar);
    if (elsewhere) return elsewhere;
    const nodes = [home.serverName, ...further.map(nameOf)];
    if (nodes.length > 1) await fleet.links.link(roomId, nodes);
    return { ...home, nodes };
  }

  /** Of those that the room is on already first; `isFar`: a busy node there is still nearer than another region. */
  async function findElsewhere(
    scope: ProjectScope,
    roomId: string,
    home: Placement,
    further: readonly FurtherNode[],
    region: string,
    isFar: boolean,
  ): Promise<JoinPlacement | null> {
    if (!(await fleet.links.hasPipes(home.serverName))) return null;
    const tried = new Set([home.serverName]);
    const known = further.filter((node) => node.region === region).map((node) => ({ name: node.serverName, region }));
    for (let attempt = 0; attempt < known.length + furtherMax; attempt++) {
      const server = known[attempt] ?? (await fleet.chooseIn(region, tried));
      if (!server) break;
      tried.add(server.name);
      const placement = await goOn(scope, roomId, home, server, false);
      if (placement) return placement;
    }
    return isFar && known[0] ? goOn(scope, roomId, home, known[0], true) : null;
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
        if (opened) return spread(scope, roomId, placement, { ...opened, region });
        continue;
      }
      const server = await fleet.choose(room.preferredRegion ?? region, except);
      if (!server) fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
      const hello = await reach(server.name);
      if (!hello || !(await claim(scope, roomId, server.name, hello.instanceId))) except.add(server.name);
    }
    return fail('SVC_NO_MEDIA_SERVER', { retryAfterSeconds: 5 });
  }

  /** It greets anew after a process of it has restarted: that one has other pipes. */
  async function relink(name: string): Promise<void> {
    for (const { id, nodes } of await listSharedRooms(db, name)) await fleet.links.link(id, nodes);
  }

  fleet.nodes.onHello((name) => {
    relink(name).catch((error: unknown) => log.warn({ error, server: name }, 'rooms not linked anew yet'));
  });

  fleet.onEvacuate(async (evacuation) => {
    const { server, reason } = evacuation;
    const exceptInstance = reason === 'MEDIA_FAILURE' ? evacuation.exceptInstance : null;
    const moment = reason === 'MEDIA_FAILURE' ? { signs: evacuation.signs } : undefined;
    for (const room of await listRoomsOn(db, server, exceptInstance)) {
      await leaveNode(room, room.id, server, exceptInstance, reason, moment);
    }
  });

  /** Another node does not hear this one: if it does not answer us either, its people are to come back elsewhere. */
  async function onSilent(scope: ProjectScope, roomId: string, name: string): Promise<void> {
    const answer = asked.get(name) ?? fleet.nodes.answers(name, answerMs).finally(() => asked.delete(name));
    asked.set(name, answer);
    if (!(await answer)) await leaveNode(scope, roomId, name, null, 'MEDIA_FAILURE');
  }

  return { place, reach, onSilent };
}

/** Another node that the room is on becomes its home; none when it is on no other. */
async function promote(tx: RoomTx, roomId: string, next: FurtherNode | undefined): Promise<void> {
  await updatePlacement(tx, roomId, next ?? null);
  if (next) await deleteFurtherNode(tx, roomId, next.serverName);
}

/** A node that could not be linked to the others of the room is not of it, unless somebody is there. */
async function leaveUnused(tx: RoomTx, roomId: string, name: string): Promise<void> {
  if (!(await hasJoinedOn(tx, roomId, name))) await deleteFurtherNode(tx, roomId, name);
}

const nameOf = ({ serverName }: { serverName: string }): string => serverName;

export type PlacementService = ReturnType<typeof createPlacement>;
