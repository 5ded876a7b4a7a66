import type { LiveStream, LiveStreamStatus } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable, Reader, Tx } from '../../core/db.ts';
import { empty, json, raw, sql } from '../../core/sql.ts';

/** A stream without what only the media node knows. */
export type StoredStream = Omit<LiveStream, 'viewerCount' | 'publicId' | 'streamId' | 'durationMs'> & {
  conversationUuid: string;
};

const columns = sql`id, title, description, thumbnail_url as "thumbnailUrl", category, tags, language, visibility, status,
  metadata, host_identity as "hostIdentity", room_id as "roomId", room_name as "roomName",
  conversation_id as "conversationId", conversation_uuid as "conversationUuid", peak_viewer_count as "peakViewerCount", scheduled_at as "scheduledAt",
  started_at as "startedAt", ended_at as "endedAt", created_at as "createdAt", updated_at as "updatedAt"`;

type NewStream = Omit<StoredStream, 'status' | 'peakViewerCount' | 'startedAt' | 'endedAt' | 'updatedAt'>;

export async function insertStream(tx: Tx, scope: ProjectScope, stream: NewStream): Promise<StoredStream> {
  const [row] = await tx.query<StoredStream>(sql`
    insert into live_streams (id, project_id, environment, title, description, thumbnail_url, category, tags, language,
      visibility, metadata, host_identity, room_id, room_name, conversation_id, conversation_uuid, scheduled_at, created_at, updated_at)
    values (${stream.id}, ${scope.projectId}, ${scope.environment}, ${stream.title}, ${stream.description},
      ${stream.thumbnailUrl}, ${stream.category}, ${json(stream.tags)}::jsonb, ${stream.language}, ${stream.visibility},
      ${json(stream.metadata)}::jsonb, ${stream.hostIdentity}, ${stream.roomId}, ${stream.roomName},
      ${stream.conversationId}, ${stream.conversationUuid}, ${stream.scheduledAt}, ${stream.createdAt}, ${stream.createdAt})
    returning ${columns}`);
  return row as StoredStream;
}

export async function findStream(db: Queryable, scope: ProjectScope, id: string): Promise<StoredStream | undefined> {
  const [row] = await db.query<StoredStream>(sql`
    select ${columns} from live_streams
    where id = ${id} and project_id = ${scope.projectId} and environment = ${scope.environment}`);
  return row;
}

/** Locks the stream until the transaction ends: an identity becomes host or viewer under the lock. */
export async function lockStream(tx: Tx, scope: ProjectScope, id: string): Promise<StoredStream | undefined> {
  const [row] = await tx.query<StoredStream>(sql`
    select ${columns} from live_streams
    where id = ${id} and project_id = ${scope.projectId} and environment = ${scope.environment} for update`);
  return row;
}

export interface StreamFilter {
  /** A part of the title, in whatever case. */
  title?: string;
  status?: LiveStreamStatus;
}

/** Newest first, from after a position. */
export async function listStreams(
  db: Reader,
  scope: ProjectScope,
  { title = '', status }: StreamFilter,
  after: readonly [string, string] | null,
  limit: number,
): Promise<StoredStream[]> {
  return db.query<StoredStream>(sql`
    select ${columns} from live_streams
    where project_id = ${scope.projectId} and environment = ${scope.environment}
      ${title === '' ? empty : sql`and strpos(lower(title), lower(${title})) > 0`}
      ${status === undefined ? empty : sql`and status = ${status}`}
      ${after === null ? empty : sql`and (created_at, id) < (${after[0]}, ${after[1]})`}
    order by created_at desc, id desc limit ${limit}`);
}

/** Moves a stream between states; undefined when it has left `from`: exactly one caller wins. */
export async function moveStream(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  from: LiveStreamStatus,
  to: LiveStreamStatus,
  at: string,
): Promise<StoredStream | undefined> {
  const [row] = await tx.query<StoredStream>(sql`
    update live_streams set status = ${to}, updated_at = ${at}
      ${to === 'LIVE' ? sql`, started_at = ${at}` : sql`, ended_at = ${at}`}
    where id = ${id} and project_id = ${scope.projectId} and environment = ${scope.environment} and status = ${from}
    returning ${columns}`);
  return row;
}

type StreamChange = Partial<
  Pick<
    StoredStream,
    'title' | 'description' | 'thumbnailUrl' | 'category' | 'tags' | 'language' | 'visibility' | 'metadata'
  >
>;

export async function updateStream(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  change: StreamChange,
  at: string,
): Promise<StoredStream | undefined> {
  const { title, description, thumbnailUrl, category, tags, language, visibility, metadata } = change;
  const [row] = await tx.query<StoredStream>(sql`
    update live_streams set updated_at = ${at}
      ${title === undefined ? empty : sql`, title = ${title}`}
      ${description === undefined ? empty : sql`, description = ${description}`}
      ${thumbnailUrl === undefined ? empty : sql`, thumbnail_url = ${thumbnailUrl}`}
      ${category === undefined ? empty : sql`, category = ${category}`}
      ${tags === undefined ? empty : sql`, tags = ${json(tags)}::jsonb`}
      ${language === undefined ? empty : sql`, language = ${language}`}
      ${visibility === undefined ? empty : sql`, visibility = ${visibility}`}
      ${metadata === undefined ? empty : sql`, metadata = ${json(metadata)}::jsonb`}
    where id = ${id} and project_id = ${scope.projectId} and environment = ${scope.environment}
    returning ${columns}`);
  return row;
}

const unfinalized = raw(`status = 'ENDED' and not is_wound_up`);

/** True while a stream is to have a higher peak or is to be finalized. */
export const isSweepDue = sql`(exists (
    select from live_streams s where s.status <> 'ENDED'
      and s.peak_viewer_count < (select r.viewer_count from rooms r where r.id = s.room_id))
   or exists (select from live_streams where ${unfinalized}))`;

/** Keeps the highest number of viewers that held a place, for every stream that has not ended. */
export async function raisePeaks(db: Queryable): Promise<void> {
  await db.execute(sql`
    update live_streams s set peak_viewer_count = r.viewer_count from rooms r
    where r.id = s.room_id and s.status <> 'ENDED' and r.viewer_count > s.peak_viewer_count`);
}

export async function raisePeak(db: Queryable, id: string, viewers: number): Promise<void> {
  await db.execute(
    sql`update live_streams set peak_viewer_count = ${viewers} where id = ${id} and peak_viewer_count < ${viewers}`,
  );
}

export async function listUnfinalized(
  db: Queryable,
  limit: number,
): Promise<(ProjectScope & Pick<StoredStream, 'id' | 'roomId' | 'conversationUuid'>)[]> {
  return db.query(sql`
    select id, project_id as "projectId", environment, room_id as "roomId", conversation_uuid as "conversationUuid"
    from live_streams where ${unfinalized} order by ended_at limit ${limit}`);
}

export async function markFinalized(db: Queryable, scope: ProjectScope, id: string): Promise<void> {
  await db.execute(sql`
    update live_streams set is_wound_up = true
    where id = ${id} and project_id = ${scope.projectId} and environment = ${scope.environment}`);
}
