import { fail, type Participant, type RoomDetail, type RoomSession } from '@parley/contract';
import type { MediaParticipantSnapshot, MediaRoomSnapshot } from '@parley/contract/media-control';
import type { ProjectScope } from '../../core/caller.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import { asServiceError, MediaRefusal, type Nodes } from '../fleet/index.ts';
import { toParticipant, toRoomSession } from './records.ts';
import { countJoinedViewers, listFurtherNodes, type StoredRoom } from './room-store.ts';
import type { createRooms } from './rooms.ts';
import { listJoined, listSessions } from './session-store.ts';

interface ParticipantListDeps {
  db: Db;
  cursors: Cursors;
  nodes: Nodes;
  rooms: ReturnType<typeof createRooms>;
}

/** Who is in a room and who was, as its store and its nodes know together. */
export function createParticipantLists({ db, cursors, nodes, rooms }: ParticipantListDeps) {
  /** What the node holds of a room; fails when it cannot be asked. */
  async function snapshot(room: StoredRoom): Promise<Map<string, MediaParticipantSnapshot>> {
    const asked = (await nodesOf(room)).map((name) =>
      nodes.command(name, 'snapshot', { room: room.id }).catch(asEmptySnapshot),
    );
    const held = (await Promise.all(asked)).flatMap(({ rooms: all }) => all).filter(({ room: id }) => id === room.id);
    return new Map(held.flatMap(({ participants: there }) => there).map((one) => [one.participant, one]));
  }

  /** All that the room is on, its home first. */
  async function nodesOf({ id, serverName }: StoredRoom): Promise<string[]> {
    if (serverName === null) return [];
    return [serverName, ...(await listFurtherNodes(db, id)).map((node) => node.serverName)];
  }

  /** Live: in the store and on the node. A participant unknown to the node is not there. */
  async function live(room: StoredRoom): Promise<Participant[]> {
    const [media, joined] = await Promise.all([snapshot(room), listJoined(db, room.id)]);
    return joined.flatMap((session) => {
      const known = media.get(session.id);
      return known ? [toParticipant(session, known)] : [];
    });
  }

  async function list(scope: ProjectScope, reference: string): Promise<Participant[]> {
    const room = await rooms.find(scope, reference);
    return room.status === 'ACTIVE' ? live(room) : fail('SVC_ROOM_CLOSED');
  }

  /** How many of a stream's audience have joined; null while the node of the room cannot be reached. */
  async function countViewers(scope: ProjectScope, roomId: string): Promise<number | null> {
    const room = await rooms.find(scope, roomId);
    const isKnown = room.serverName === null || (await rooms.isReachable(room));
    return isKnown ? countJoinedViewers(db, room.id) : null;
  }

  async function detail(scope: ProjectScope, reference: string): Promise<RoomDetail> {
    const room = await rooms.find(scope, reference);
    const participants = await live(room).catch(() => null);
    return { ...(await rooms.record(room)), participants };
  }

  async function listPast(
    scope: ProjectScope,
    reference: string,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<Answer<RoomSession[]>> {
    const room = await rooms.find(scope, reference);
    const cursorScope = `room-sessions/${room.id}`;
    const after = cursor === undefined ? null : (cursors.read(cursorScope, cursor) as [string, string]);
    const rows = await listSessions(db, room.id, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(cursorScope, [last.createdAt, last.id]));
    return page(items.map(toRoomSession), nextCursor);
  }

  return { snapshot, nodesOf, countViewers, list, detail, listPast };
}

/** A node that does not know the room has no participants of it. */
function asEmptySnapshot(error: unknown): { rooms: MediaRoomSnapshot[] } {
  if (error instanceof MediaRefusal && error.code === 'NOT_FOUND') return { rooms: [] };
  throw asServiceError(error, 'SVC_FORBIDDEN');
}
