import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Fleet } from '../fleet/index.ts';
import type { RoomChange } from './room-change.ts';
import { type JoinPlacement, nameOf, type Placement, type RoomNodes } from './room-nodes.ts';
import {
  deleteFurtherNode,
  type FurtherNode,
  listFurtherNodes,
  listNodes,
  listSharedRooms,
  type RoomTx,
  upsertFurtherNode,
} from './room-store.ts';
import { hasJoinedOn } from './session-store.ts';

interface FurtherNodesDeps {
  db: Db;
  clock: Clock;
  log: Log;
  fleet: Fleet;
  roomChange: RoomChange;
  roomNodes: RoomNodes;
}

export type FurtherNodes = ReturnType<typeof createFurtherNodes>;

/** Nodes that are asked whether they have time for who joins. */
const furtherMax = 3;

/** Nodes besides a room's home, linked to it by pipes: where the home has no time, or is far away. */
export function createFurtherNodes({ db, clock, log, fleet, roomChange, roomNodes }: FurtherNodesDeps) {
  /** Opens the room on a node besides its home; null when that cannot be, has no time either, or is not to be linked. */
  async function openOn(
    scope: ProjectScope,
    roomId: string,
    home: Placement,
    { name, region }: { name: string; region: string | null },
    mayBeBusy: boolean,
  ): Promise<JoinPlacement | null> {
    const hello = await roomNodes.reach(name);
    if (!hello || !(await fleet.links.hasPipes(name))) return null;
    const opened = await roomNodes.open(name, roomId).catch(() => null);
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
      const placement = await openOn(scope, roomId, home, server, false);
      if (placement) return placement;
    }
    return isFar && known[0] ? openOn(scope, roomId, home, known[0], true) : null;
  }

  /** It greets anew after a process of it has restarted: that one has other pipes. */
  async function relink(name: string): Promise<void> {
    for (const { id, nodes } of await listSharedRooms(db, name)) await fleet.links.link(id, nodes);
  }

  fleet.nodes.onHello((name) => {
    relink(name).catch((error: unknown) => log.warn({ error, server: name }, 'rooms not linked anew yet'));
  });

  /** Another process has taken the room to a further node: from now on all of its nodes tell this one of it, too. */
  async function follow(roomId: string): Promise<readonly string[]> {
    const nodes = await listNodes(db, roomId);
    if (nodes.length > 1) await fleet.links.link(roomId, nodes);
    return nodes;
  }

  return { spread, follow };
}

/** A node that could not be linked to the others of the room is not of it, unless somebody is there. */
async function leaveUnused(tx: RoomTx, roomId: string, name: string): Promise<void> {
  if (!(await hasJoinedOn(tx, roomId, name))) await deleteFurtherNode(tx, roomId, name);
}
