import type { MessageType, PushKind, PushLevel, QuietHours } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../core/db.ts';
import type { EventRef } from '../../core/event-store.ts';
import { sql } from '../../core/sql.ts';
import { quietHoursOf } from './preference-store.ts';

/** Queues messages of environments that have devices, and gives their lanes. */
export async function insertJobs(tx: Tx, events: readonly EventRef[], at: string): Promise<string[]> {
  const column = (read: (event: EventRef) => string) => events.map(read);
  const rows = await tx.query<{ laneId: string }>(sql`
    with queued as (
      insert into push_jobs (event_id, project_id, environment, due_at)
      select e.id, e.project_id, e.environment, ${at}
      from unnest(${column((event) => event.id)}::text[], ${column((event) => event.projectId)}::uuid[],
                  ${column((event) => event.environment)}::text[]) as e (id, project_id, environment)
      where exists (
        select from push_devices d where d.project_id = e.project_id and d.environment = e.environment)
      on conflict do nothing
      returning project_id, environment)
    select distinct project_id || '/' || environment as "laneId" from queued`);
  return rows.map(({ laneId }) => laneId);
}

/** A message whose members are being looked through. */
export interface ClaimedJob extends ProjectScope {
  laneId: string;
  eventId: string;
  afterUser: string;
  attempt: number;
  lease: string;
}

/** True while there is a lane. */
export const isJobWaiting = sql`exists (select from push_jobs)`;

export function listJobLanes(db: Queryable, now: string): Promise<{ laneId: string; dueAt: string }[]> {
  return db.query(sql`
    select project_id || '/' || environment as "laneId", min(due_at) as "dueAt" from push_jobs
    where claimed_until is null or claimed_until <= ${now} group by project_id, environment`);
}

/** No one else gets them before `lease`. */
export function claimJobs(
  db: Queryable,
  asks: readonly { laneId: string; take: number }[],
  { now, lease }: { now: string; lease: string },
): Promise<ClaimedJob[]> {
  const lanes = asks.map(({ laneId }) => laneId.split('/'));
  return db.query(sql`
    with ask as (
      select * from unnest(${lanes.map(([id]) => id)}::uuid[], ${lanes.map(([, name]) => name)}::text[],
                           ${asks.map(({ take }) => take)}::int[]) as ask (project_id, environment, take)),
    picked as materialized (
      select due.event_id from ask cross join lateral (
        select j.event_id from push_jobs j
        where j.project_id = ask.project_id and j.environment = ask.environment and j.due_at <= ${now}
          and (j.claimed_until is null or j.claimed_until <= ${now})
        order by j.due_at limit ask.take for update skip locked) due)
    update push_jobs j set attempts = j.attempts + 1, claimed_until = ${lease}
    from picked where j.event_id = picked.event_id
    returning j.project_id || '/' || j.environment as "laneId", j.project_id as "projectId", j.environment,
              j.event_id as "eventId", j.after_user as "afterUser", j.attempts as attempt, j.claimed_until as lease`);
}

/** Notes how far a job is, or ends it; false when it is no longer ours. */
export async function advanceJob(
  tx: Queryable,
  { eventId, lease }: ClaimedJob,
  next: { afterUser: string; lease: string } | null,
): Promise<boolean> {
  const ours = sql`event_id = ${eventId} and claimed_until = ${lease}`;
  const moved = await tx.execute(
    next === null
      ? sql`delete from push_jobs where ${ours}`
      : sql`update push_jobs set after_user = ${next.afterUser}, claimed_until = ${next.lease} where ${ours}`,
  );
  return moved > 0;
}

/** What a notification is about. */
export interface PushedMessage {
  conversationId: string;
  publicId: string;
  position: number;
  seq: number;
  senderId: string | null;
  type: MessageType;
}

/** Undefined when it is gone. */
export async function findPushed(db: Queryable, eventId: string): Promise<PushedMessage | undefined> {
  const [message] = await db.query<PushedMessage>(sql`
    select c.id as "conversationId", c.public_id as "publicId", m.position, m.seq, m.sender_id as "senderId", m.type
    from (select project_id, data::json as data from events where id = ${eventId}) e
    join conversations c on c.public_id = e.data ->> 'conversationId' and c.project_id = e.project_id
    join messages m on m.conversation_id = c.id and m.position = (e.data ->> 'change')::bigint
    where c.status <> 'DELETED' and m.deleted_at is null`);
  return message;
}

/** A member with a device who may be told. */
export interface Candidate {
  userId: string;
  deviceId: string;
  isMentioned: boolean;
  quietHours: QuietHours | null;
}

interface CandidatePage {
  /** Of all members looked at; null when there was none. */
  lastUser: string | null;
  total: number;
  candidates: Candidate[];
}

interface PageTerms {
  scope: ProjectScope;
  message: PushedMessage;
  afterUser: string;
  limit: number;
  now: string;
  levelDefault: PushLevel;
  kinds: readonly PushKind[];
}

/**
 * The next members in the order of their ids, and of those the devices that may be told: not the sender, not who has
 * blocked them, read it, muted the conversation, chosen otherwise or was shut out since the device was registered.
 */
export async function listCandidates(db: Db, terms: PageTerms): Promise<CandidatePage> {
  const { scope, message, afterUser, limit, now, levelDefault, kinds } = terms;
  const { conversationId, publicId, position, seq, senderId } = message;
  const [page] = await db.query<CandidatePage>(sql`
    with page as materialized (
      select m.user_id, m.last_read_seq, m.muted_at, m.muted_until from conversation_members m
      where m.conversation_id = ${conversationId} and m.active and m.user_id > ${afterUser}
      order by m.user_id limit ${limit}),
    mentioned as materialized (
      select user_id from message_mentions
      where conversation_id = ${conversationId} and position = ${position}
        and (user_id = '' or user_id in (select user_id from page))),
    able as (
      select m.user_id, d.id, ${quietHoursOf} as quiet_hours, coalesce(p.level, ${levelDefault}) as level,
             exists (select from mentioned n where n.user_id in (m.user_id, '')) as is_mentioned
      from page m
      join push_devices d on d.project_id = ${scope.projectId} and d.environment = ${scope.environment}
        and d.user_id = m.user_id
      left join push_preferences p on p.project_id = d.project_id and p.environment = d.environment
        and p.user_id = d.user_id
      left join end_users u on u.project_id = d.project_id and u.environment = d.environment and u.user_id = d.user_id
      where m.user_id is distinct from ${senderId} and m.last_read_seq < ${seq}
        and (m.muted_at is null or m.muted_until <= ${now})
        and not exists (
          select from chat_blocks b where b.project_id = d.project_id and b.environment = d.environment
            and b.user_id = m.user_id and b.blocked_id = ${senderId})
        and d.kind = any(${kinds}::text[]) and (d.conversations is null or ${publicId} = any(d.conversations))
        and not exists (
          select from chat_sanctions s where s.project_id = d.project_id and s.environment = d.environment and s.place = ''
            and s.kind = 'BAN' and s.user_id = d.user_id and coalesce(s.until > ${now}, true))
        and (u.user_id is null or (u.revoked_at < d.updated_at and coalesce(u.banned_until <= ${now}, true))))
    select (select max(user_id) from page) as "lastUser", (select count(*)::int from page) as total,
           coalesce((select json_agg(json_build_object('userId', a.user_id, 'deviceId', a.id,
                                                       'isMentioned', a.is_mentioned, 'quietHours', a.quiet_hours))
                     from able a where a.level = 'ALL' or (a.level = 'MENTIONS' and a.is_mentioned)), '[]'
           ) as candidates`);
  return page ?? { lastUser: null, total: 0, candidates: [] };
}

/**
 * Queues a message for devices and gives their lanes. A row that waits gets the newer message and keeps its time: a
 * service that asked us to wait is not asked again sooner.
 */
export async function upsertDeliveries(
  tx: Tx,
  { conversationId, position }: PushedMessage,
  chosen: readonly Candidate[],
  at: string,
): Promise<string[]> {
  if (chosen.length === 0) return [];
  const rows = await tx.query<{ laneId: string }>(sql`
    with chosen as (
      select * from unnest(${chosen.map(({ deviceId }) => deviceId)}::text[],
                           ${chosen.map(({ isMentioned }) => isMentioned)}::boolean[]) as c (device_id, mentioned)),
    queued as (
      insert into push_deliveries as q (device_id, conversation_id, lane, position, mentioned, due_at)
      select d.id, ${conversationId}::uuid,
             d.project_id || '/' || d.environment || '/' || case d.kind when 'WEB_PUSH' then d.hint else d.kind end,
             ${position}::bigint, c.mentioned, ${at}::timestamptz
      from push_devices d join chosen c on c.device_id = d.id
      order by d.id for key share of d
      on conflict (device_id, conversation_id) do update
      set position = excluded.position, mentioned = excluded.mentioned, attempts = 0, version = q.version + 1,
          lane = excluded.lane
      where excluded.position > q.position
      returning lane)
    select distinct lane as "laneId" from queued`);
  return rows.map(({ laneId }) => laneId);
}
