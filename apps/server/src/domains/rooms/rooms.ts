import {
  type CreateRoom,
  fail,
  type Room,
  type RoomCloseReason,
  roomMetadataBytesMax,
  type UpdateRoom,
} from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import { type Db, isDuplicate, type Reader, type Tx } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import { metadataJson } from '../../core/safe-json.ts';
import type { ParticipantsMax } from './ceiling.ts';
import type { Departures } from './departures.ts';
import { toRoom } from './records.ts';
import type { RoomChange } from './room-change.ts';
import type { RoomNodes } from './room-nodes.ts';
import {
  findOpenRoom,
  findRoom,
  insertRoom,
  listOpenRooms,
  type NewRoom,
  type StoredRoom,
  updateRoom,
  updateRoomClosed,
} from './room-store.ts';
import { updateTokensRevoked } from './rtc-token-store.ts';

interface RoomDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  roomChange: RoomChange;
  departures: Departures;
  roomNodes: Pick<RoomNodes, 'reach'>;
  participantsMax: ParticipantsMax;
}

const idPattern = /^room_[0-9a-z]{24}$/;

export function createRooms({ db, clock, ids, cursors, roomChange, departures, roomNodes, participantsMax }: RoomDeps) {
  const isReachable = async ({ serverName }: StoredRoom): Promise<boolean> =>
    serverName !== null && (await roomNodes.reach(serverName)) !== null;
  const record = async (room: StoredRoom): Promise<Room> => toRoom(room, participantsMax, await isReachable(room));

  /** By id, open or closed, or by the name of an open room. */
  async function find(scope: ProjectScope, reference: string): Promise<StoredRoom> {
    const room = idPattern.test(reference)
      ? await findRoom(db, scope, reference)
      : await findOpenRoom(db, scope, reference);
    return room ?? fail('SVC_ROOM_NOT_FOUND');
  }

  /** Inside a caller's transaction, for a domain that makes a room part of something larger. */
  async function provision(tx: Db | Tx, scope: ProjectScope, room: Omit<NewRoom, 'id'>): Promise<StoredRoom> {
    try {
      const inserted = await insertRoom(tx, scope, { ...room, id: ids.newId('room') }, iso(clock.now()));
      return inserted ?? fail('SVC_PROJECT_ARCHIVED');
    } catch (error) {
      if (isDuplicate(error, 'rooms_open_name')) return fail('SVC_ROOM_NAME_TAKEN');
      throw error;
    }
  }

  async function create(scope: ProjectScope, body: CreateRoom): Promise<Room> {
    assertName(body.name);
    metadataJson(body.metadata ?? {}, roomMetadataBytesMax);
    return record(await provision(db, scope, body));
  }

  async function list(
    scope: ProjectScope,
    {
      limit = pageSizeDefault,
      cursor,
      name = '',
      serverName = '',
    }: { limit?: number; cursor?: string; name?: string; serverName?: string },
    from: Reader = db,
  ): Promise<Answer<Room[]>> {
    const cursorScope = `rooms/${scope.projectId}/${scope.environment}`;
    const after = cursor === undefined ? null : (cursors.read(cursorScope, cursor) as [string, string]);
    const rows = await listOpenRooms(from, scope, { after, name, serverName, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(cursorScope, [last.createdAt, last.id]));
    const servers = [...new Set(items.flatMap(({ serverName }) => serverName ?? []))];
    const hellos = await Promise.all(servers.map((name) => roomNodes.reach(name)));
    const reachable = new Set(servers.filter((_, index) => hellos[index] !== null));
    return page(
      items.map((room) => toRoom(room, participantsMax, reachable.has(room.serverName ?? ''))),
      nextCursor,
    );
  }

  async function update(scope: ProjectScope, reference: string, change: UpdateRoom): Promise<Room> {
    if (change.metadata) metadataJson(change.metadata, roomMetadataBytesMax);
    const { id } = await find(scope, reference);
    const at = iso(clock.now());
    const changed = await roomChange(scope, id, async (tx, { event }) => {
      const room = (await updateRoom(tx, scope, id, change, at)) ?? fail('SVC_ROOM_CLOSED');
      event({ type: 'room.updated', data: { room: toRoom(room, participantsMax, true) } });
      return room;
    });
    return record(changed);
  }

  /** Closing twice is the same as once. No join succeeds after this has answered: both take the room's row. */
  async function close(scope: ProjectScope, reference: string, reason: RoomCloseReason): Promise<Room> {
    const { id } = await find(scope, reference);
    const at = iso(clock.now());
    await roomChange(scope, id, async (tx, changes) => {
      if (!(await updateRoomClosed(tx, scope, id, reason, at))) return;
      await updateTokensRevoked(tx, id, { all: true }, at);
      const why = reason === 'STREAM_ENDED' ? 'STREAM_ENDED' : 'ROOM_CLOSED';
      await departures.end(tx, changes, id, { all: true }, why);
    });
    return record(await find(scope, id));
  }

  return {
    find,
    provision,
    create,
    list,
    update,
    close,
    record,
    isReachable,
    get: async (scope: ProjectScope, reference: string) => record(await find(scope, reference)),
  };
}

/** A name that looks like an id would hide the room behind another's id. */
function assertName(name: string): void {
  if (!idPattern.test(name)) return;
  const message = 'name must not look like a room id.';
  fail('SVC_VALIDATION_FAILED', { message, details: [{ field: 'name', rule: 'reserved', message }] });
}
