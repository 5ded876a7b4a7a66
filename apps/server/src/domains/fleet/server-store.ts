import type { Heartbeat, RegisterServer, ServerLoadPoint } from '@parley/contract';
import type { Queryable, Tx } from '../../core/db.ts';
import { empty, sql } from '../../core/sql.ts';

/** A media node as it is stored. */
export interface StoredServer {
  name: string;
  region: string;
  publicHost: string;
  internalUrl: string;
  capacity: number | null;
  version: string | null;
  /** It takes no room: an operator drains it, or it is about to end. */
  isDraining: boolean;
  isDrainedByOperator: boolean;
  drainStartedAt: string | null;
  activeRooms: number | null;
  activeParticipants: number | null;
  cpuPercent: number | null;
  memoryPercent: number | null;
  networkInBps: number | null;
  networkOutBps: number | null;
  coreCpuPercents: number[] | null;
  packetsInPerSecond: number | null;
  packetsOutPerSecond: number | null;
  lossInPercent: number | null;
  lossOutPercent: number | null;
  createdAt: string;
  registeredAt: string;
  lastHeartbeatAt: string | null;
  seenAt: string;
  previousSeenAt: string | null;
}

/** What both tables hold of a heartbeat. */
const loadColumns = sql`cpu_percent as "cpuPercent", memory_percent as "memoryPercent",
  network_in_bps as "networkInBps", network_out_bps as "networkOutBps", core_cpu_percents as "coreCpuPercents",
  packets_in_per_second as "packetsInPerSecond", packets_out_per_second as "packetsOutPerSecond",
  loss_in_percent as "lossInPercent", loss_out_percent as "lossOutPercent"`;

const columns = sql`s.name, s.region, s.public_host as "publicHost", s.internal_url as "internalUrl", s.capacity,
  s.version, s.is_draining or s.is_leaving as "isDraining",
  s.is_draining as "isDrainedByOperator", s.drain_started_at as "drainStartedAt", s.active_rooms as "activeRooms",
  s.active_participants as "activeParticipants", ${loadColumns}, s.created_at as "createdAt",
  s.registered_at as "registeredAt", s.last_heartbeat_at as "lastHeartbeatAt", s.seen_at as "seenAt",
  s.previous_seen_at as "previousSeenAt"`;

export async function listServers(db: Queryable): Promise<StoredServer[]> {
  return db.query<StoredServer>(sql`select ${columns} from media_servers s order by s.name`);
}

export async function findServer(db: Queryable, name: string): Promise<StoredServer | undefined> {
  const [row] = await db.query<StoredServer>(sql`select ${columns} from media_servers s where s.name = ${name}`);
  return row;
}

export async function lockServer(tx: Tx, name: string): Promise<StoredServer | undefined> {
  const [row] = await tx.query<StoredServer>(
    sql`select ${columns} from media_servers s where s.name = ${name} for update`,
  );
  return row;
}

/**
 * Inserts the node, or reclaims its row: when the addresses are the same, or when it has been silent since
 * `silentBefore` (null: no node counts as silent now). Undefined when a live node elsewhere holds the name.
 */
export async function upsertServer(
  db: Queryable,
  { name, region, publicHost, internalUrl, capacity, version }: RegisterServer,
  at: string,
  silentBefore: string | null,
): Promise<{ isNew: boolean } | undefined> {
  const [row] = await db.query<{ isNew: boolean }>(sql`
    insert into media_servers as s
      (name, region, public_host, internal_url, capacity, version, created_at, registered_at, seen_at)
    values (${name}, ${region}, ${publicHost}, ${internalUrl}, ${capacity ?? null}, ${version ?? null}, ${at}, ${at}, ${at})
    on conflict (name) do update set
      region = excluded.region, public_host = excluded.public_host, internal_url = excluded.internal_url,
      capacity = excluded.capacity, version = excluded.version, registered_at = excluded.registered_at,
      previous_seen_at = s.seen_at, seen_at = excluded.seen_at, is_leaving = false,
      drain_started_at = case when s.is_draining then s.drain_started_at end,
      active_rooms = null, active_participants = null, cpu_percent = null, memory_percent = null,
      network_in_bps = null, network_out_bps = null, core_cpu_percents = null, packets_in_per_second = null,
      packets_out_per_second = null, loss_in_percent = null, loss_out_percent = null
    where (s.public_host = excluded.public_host and s.internal_url = excluded.internal_url)
       ${silentBefore === null ? empty : sql`or s.seen_at < ${silentBefore}`}
    returning (xmax = 0) as "isNew"`);
  return row;
}

/** Notes a heartbeat; false when there is no such node. A late one never takes back what a newer one said. */
export async function updateHeartbeat(db: Queryable, name: string, load: Heartbeat, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update media_servers set
      active_rooms = ${load.activeRooms}, active_participants = ${load.activeParticipants},
      cpu_percent = ${load.cpuPercent ?? null}, memory_percent = ${load.memoryPercent ?? null},
      network_in_bps = ${load.networkInBps ?? null}, network_out_bps = ${load.networkOutBps ?? null},
      core_cpu_percents = ${load.coreCpuPercents ?? null},
      packets_in_per_second = ${load.packetsInPerSecond ?? null},
      packets_out_per_second = ${load.packetsOutPerSecond ?? null},
      loss_in_percent = ${load.lossInPercent ?? null}, loss_out_percent = ${load.lossOutPercent ?? null},
      is_leaving = is_leaving or ${load.leaving ?? false}, public_host = coalesce(${load.publicHost ?? null}, public_host),
      last_heartbeat_at = greatest(last_heartbeat_at, ${at}), seen_at = greatest(seen_at, ${at})
    where name = ${name}`);
  return touched > 0;
}

/** What a node said of itself, kept for those who ask later why a call was bad. */
export const insertNodeSample = (db: Queryable, name: string, reported: Heartbeat, at: string): Promise<number> => {
  const { cpuPercent, memoryPercent, networkInBps, networkOutBps, activeRooms, activeParticipants } = reported;
  const { coreCpuPercents, packetsInPerSecond, packetsOutPerSecond, lossInPercent, lossOutPercent } = reported;
  return db.execute(sql`
    insert into node_samples (server_name, at, cpu_percent, memory_percent, network_in_bps, network_out_bps,
      active_rooms, active_participants, core_cpu_percents, packets_in_per_second, packets_out_per_second,
      loss_in_percent, loss_out_percent)
    values (${name}, ${at}, ${cpuPercent ?? null}, ${memoryPercent ?? null}, ${networkInBps ?? null},
      ${networkOutBps ?? null}, ${activeRooms ?? null}, ${activeParticipants ?? null}, ${coreCpuPercents ?? null},
      ${packetsInPerSecond ?? null}, ${packetsOutPerSecond ?? null}, ${lossInPercent ?? null},
      ${lossOutPercent ?? null})
    on conflict (server_name, at) do nothing`);
};

/** Oldest first. */
export const listNodeLoad = (db: Queryable, name: string, from: string, limit: number): Promise<ServerLoadPoint[]> =>
  db.query(sql`
    select * from (
      select at, ${loadColumns}, active_rooms as "activeRooms", active_participants as "activeParticipants"
      from node_samples where server_name = ${name} and at >= ${from} order by at desc limit ${limit}) newest
    order by at`);

/** How many rooms a node said it had at a time, by its last heartbeat before. */
export async function findRoomsAt(db: Queryable, name: string, at: string): Promise<number | null> {
  const [row] = await db.query<{ rooms: number | null }>(sql`
    select active_rooms as rooms from node_samples
    where server_name = ${name} and at <= ${at} order by at desc limit 1`);
  return row?.rooms ?? null;
}

export const listNodeSamples = (
  db: Queryable,
  name: string,
  from: string,
  until: string,
): Promise<{ at: string; cpuPercent: number | null }[]> =>
  db.query(sql`
    select at, cpu_percent as "cpuPercent" from node_samples
    where server_name = ${name} and at between ${from} and ${until} order by at limit 10000`);

/** Removes a part of what is too old; gives how much. */
export const deleteOldNodeSamples = (db: Queryable, before: string, limit: number): Promise<number> =>
  db.execute(sql`
    delete from node_samples where (server_name, at) in (
      select server_name, at from node_samples where at < ${before} limit ${limit})`);

/** Returns once no room can be placed there: placing locks the same row. */
export async function updateDraining(db: Queryable, name: string, isDraining: boolean, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update media_servers set is_draining = ${isDraining},
      drain_started_at = case when ${isDraining} then coalesce(drain_started_at, ${at}) end
    where name = ${name}`);
  return touched > 0;
}

/** The same for a node that is about to end. */
export async function updateLeaving(db: Queryable, name: string, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update media_servers set is_leaving = true, drain_started_at = coalesce(drain_started_at, ${at})
    where name = ${name}`);
  return touched > 0;
}

export async function deleteServer(tx: Tx, name: string): Promise<void> {
  await tx.execute(sql`delete from media_servers where name = ${name}`);
}
