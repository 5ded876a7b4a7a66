import type { RoomEventType } from '@parley/contract';
import type { Queryable } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';
import type { RoomTx } from './room-store.ts';

/** Something that happened in a room; `seq` is dense a room. */
export interface RoomEvent {
  seq: number;
  type: RoomEventType;
  data: Record<string, unknown>;
}

/** Numbers and keeps events. The room's row makes the order of numbers the order of commits. */
export async function insertRoomEvents(
  tx: RoomTx,
  roomId: string,
  events: readonly Omit<RoomEvent, 'seq'>[],
  at: string,
): Promise<RoomEvent[]> {
  if (events.length === 0) return [];
  const [row] = await tx.query<{ last: number }>(sql`
    update rooms set event_seq = event_seq + ${events.length} where id = ${roomId} returning event_seq as last`);
  const first = (row?.last ?? 0) - events.length + 1;
  const numbered = events.map((event, index) => ({ seq: first + index, ...event }));
  await tx.execute(sql`
    insert into room_events (room_id, seq, type, data, created_at)
    select ${roomId}, (e->>'seq')::bigint, e->>'type', e->'data', ${at}::timestamptz
    from jsonb_array_elements(${json(numbered)}::jsonb) e`);
  return numbered;
}

export async function listRoomEvents(db: Queryable, roomId: string, after: number): Promise<RoomEvent[]> {
  return db.query<RoomEvent>(sql`
    select seq, type, data from room_events where room_id = ${roomId} and seq > ${after} order by seq`);
}

/** The number of each room's last event. */
export async function listLastSeqs(
  db: Queryable,
  roomIds: readonly string[],
): Promise<{ roomId: string; seq: number }[]> {
  return db.query(sql`select id as "roomId", event_seq as seq from rooms where id = any(${roomIds})`);
}

export async function deleteRoomEvents(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from room_events where ctid = any(array(
      select ctid from room_events where created_at < ${before} order by created_at limit ${limit}))`);
}
