import type { LiveStreamHost, LiveStreamHostRole } from '@parley/contract';
import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

const columns = sql`identity, role, registered_at as "registeredAt", removed_at as "removedAt"`;

/** Registers a host, or takes a removed one back. */
export async function upsertHost(
  tx: Tx,
  streamId: string,
  host: { identity: string; role: LiveStreamHostRole; at: string },
): Promise<LiveStreamHost> {
  const [row] = await tx.query<LiveStreamHost>(sql`
    insert into live_stream_hosts as h (stream_id, identity, role, registered_at)
    values (${streamId}, ${host.identity}, ${host.role}, ${host.at})
    on conflict (stream_id, identity) do update
      set removed_at = null, registered_at = case when h.removed_at is null then h.registered_at else excluded.registered_at end
    returning ${columns}`);
  return row as LiveStreamHost;
}

export async function findHost(db: Queryable, streamId: string, identity: string): Promise<LiveStreamHost | undefined> {
  const [row] = await db.query<LiveStreamHost>(sql`
    select ${columns} from live_stream_hosts where stream_id = ${streamId} and identity = ${identity}`);
  return row;
}

/** Removes a co-host who is there; undefined when there is none. */
export async function removeHost(
  tx: Tx,
  streamId: string,
  identity: string,
  at: string,
): Promise<LiveStreamHost | undefined> {
  const [row] = await tx.query<LiveStreamHost>(sql`
    update live_stream_hosts set removed_at = ${at}
    where stream_id = ${streamId} and identity = ${identity} and removed_at is null and role = 'CO_HOST'
    returning ${columns}`);
  return row;
}

export async function listHosts(db: Queryable, streamId: string): Promise<LiveStreamHost[]> {
  return db.query<LiveStreamHost>(sql`
    select ${columns} from live_stream_hosts where stream_id = ${streamId} order by registered_at, identity`);
}
