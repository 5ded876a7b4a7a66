import type { ProjectScope } from '../../core/caller.ts';
import type { Db } from '../../core/db.ts';
import type { Fleet } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import type { RoomChange } from './room-change.ts';
import { nameOf } from './room-nodes.ts';
import {
  deleteFurtherNode,
  type FurtherNode,
  listFurtherNodes,
  listRoomsOn,
  type RoomTx,
  updatePlacement,
} from './room-store.ts';
import type { EndMoment } from './session-store.ts';

interface LostNodesDeps {
  db: Db;
  fleet: Fleet;
  departures: Departures;
  roomChange: RoomChange;
}

export type LostNodes = ReturnType<typeof createLostNodes>;

/** A node that is not heard by another one has this long to answer us. */
const answerMs = 1_000;

/** Nodes that a room cannot stay on: dead, restarted, drained, or not heard by the others. */
export function createLostNodes({ db, fleet, departures, roomChange }: LostNodesDeps) {
  const asked = new Map<string, Promise<boolean>>();

  /** Ends the sessions of a lost node, and frees the room for another one. */
  async function leave(
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

  fleet.onEvacuate(async (evacuation) => {
    const { server, reason } = evacuation;
    const exceptInstance = reason === 'MEDIA_FAILURE' ? evacuation.exceptInstance : null;
    const moment = reason === 'MEDIA_FAILURE' ? { signs: evacuation.signs } : undefined;
    for (const room of await listRoomsOn(db, server, exceptInstance)) {
      await leave(room, room.id, server, exceptInstance, reason, moment);
    }
  });

  /** Another node does not hear this one: if it does not answer us either, its people are to come back elsewhere. */
  async function onSilent(scope: ProjectScope, roomId: string, name: string): Promise<void> {
    const answer = asked.get(name) ?? fleet.nodes.answers(name, answerMs).finally(() => asked.delete(name));
    asked.set(name, answer);
    if (!(await answer)) await leave(scope, roomId, name, null, 'MEDIA_FAILURE');
  }

  return { leave, onSilent };
}

/** Another node that the room is on becomes its home; none when it is on no other. */
async function promote(tx: RoomTx, roomId: string, next: FurtherNode | undefined): Promise<void> {
  await updatePlacement(tx, roomId, next ?? null);
  if (next) await deleteFurtherNode(tx, roomId, next.serverName);
}
