import type { MessageType } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { few, raw, sql } from '../../core/sql.ts';
import type { PushAddress } from './device-store.ts';

const isFree = (now: string) => sql`(q.claimed_until is null or q.claimed_until <= ${now})`;

/** True while there is a lane. */
export const isWaiting = sql`exists (select from push_deliveries)`;

/** Lanes with something to send, each with the time of its first. Hops from lane to lane. */
export function listLanes(db: Queryable, now: string): Promise<{ laneId: string; dueAt: string }[]> {
  return db.query(sql`
    with recursive lane as (
      (select q.lane from push_deliveries q order by q.lane limit 1)
      union all
      select next.lane from lane cross join lateral (
        select q.lane from push_deliveries q where q.lane > lane.lane order by q.lane limit 1) next)
    select lane.lane as "laneId", first.due_at as "dueAt" from lane cross join lateral (
      select q.due_at from push_deliveries q where q.lane = lane.lane and ${isFree(now)} order by q.due_at limit 1) first`);
}

/** One notification to send, with everything it needs. */
export interface ClaimedPush extends ProjectScope {
  laneId: string;
  deviceId: string;
  /** When the device was last registered. */
  registeredAt: string;
  address: PushAddress;
  conversationUuid: string;
  version: number;
  /** Number of this attempt, from 1. */
  attempt: number;
  lease: string;
  isMentioned: boolean;
  /** False: the message was read or deleted meanwhile, or its reader left. */
  isWanted: boolean;
  message: NotifiedMessage;
}

interface NotifiedMessage {
  id: string;
  type: MessageType;
  text: string | null;
  createdAt: string;
  senderId: string | null;
  senderName: string | null;
  conversationId: string;
  conversationName: string;
  conversationType: string;
}

/** Takes up to `take` due notifications of each lane and counts the attempt. No one else gets them before `lease`. */
export function claimPushes(
  db: Queryable,
  asks: readonly { laneId: string; take: number }[],
  { now, lease }: { now: string; lease: string },
): Promise<ClaimedPush[]> {
  return db.query(sql`
    with ask as (
      select * from unnest(${asks.map(({ laneId }) => laneId)}::text[], ${asks.map(({ take }) => take)}::int[])
        as ask (lane, take)),
    picked as materialized (
      select due.row from ask cross join lateral (
        select q.ctid as row from push_deliveries q
        where q.lane = ask.lane and q.due_at <= ${now} and ${isFree(now)}
        order by q.due_at limit ask.take for update skip locked) due
      order by due.row),
    claimed as (
      update push_deliveries q set attempts = q.attempts + 1, claimed_until = ${lease}
      from picked where q.ctid = picked.row returning q.*)
    select q.lane as "laneId", d.project_id as "projectId", d.environment, d.id as "deviceId",
           d.updated_at as "registeredAt", d.address, q.conversation_id as "conversationUuid", q.version,
           q.attempts as attempt, q.claimed_until as lease, q.mentioned as "isMentioned",
           coalesce(m.deleted_at is null and p.active and p.last_read_seq < m.seq, false) as "isWanted",
           json_build_object('id', m.id, 'type', m.type, 'text', m.text, 'createdAt', m.created_at,
             'senderId', m.sender_id, 'senderName', s.name, 'conversationId', c.public_id, 'conversationName', c.name,
             'conversationType', c.type) as message
    from claimed q join push_devices d on d.id = q.device_id
    left join conversations c on c.id = q.conversation_id and c.status <> 'DELETED'
    left join messages m on m.conversation_id = c.id and m.position = q.position
    left join conversation_members p on p.conversation_id = q.conversation_id and p.user_id = d.user_id
    left join chat_users s on s.project_id = d.project_id and s.environment = d.environment and s.user_id = m.sender_id`);
}

/** What became of one attempt. */
export interface PushOutcome {
  deviceId: string;
  registeredAt: string;
  conversationUuid: string;
  version: number;
  lease: string;
  /** GONE: the push service does not know the device any more. */
  result: 'DONE' | 'RETRY' | 'GONE';
  dueAt: string;
}

/**
 * Records a batch of attempts in one statement. One whose claim has run out changes nothing. A message that came during
 * the attempt is due now, and a device that was registered anew meanwhile stays.
 */
export async function recordOutcomes(db: Queryable, outcomes: readonly PushOutcome[]): Promise<void> {
  const column = (name: keyof PushOutcome) => outcomes.map((one) => one[name]);
  const given = sql`
    unnest(${column('deviceId')}::text[], ${column('registeredAt')}::timestamptz[], ${column('conversationUuid')}::uuid[],
           ${column('version')}::int[], ${column('lease')}::timestamptz[], ${column('result')}::text[],
           ${column('dueAt')}::timestamptz[])
      as o (device_id, registered_at, conversation_id, version, lease, result, due_at)`;
  await db.execute(sql`
    with o as materialized (select * from ${few(given, outcomes.length)} o),
    gone as (
      delete from push_devices d using o
      where o.result = 'GONE' and d.id = o.device_id and d.updated_at = o.registered_at returning d.id),
    done as (
      delete from push_deliveries q using o
      where o.result = 'DONE' and ${ofOutcome} and q.version = o.version)
    update push_deliveries q
    set claimed_until = null, due_at = o.due_at from o
    where ${ofOutcome} and (o.result <> 'DONE' or q.version <> o.version)
      and not exists (select from gone where gone.id = q.device_id)`);
}

const ofOutcome = raw(
  'q.device_id = o.device_id and q.conversation_id = o.conversation_id and q.claimed_until = o.lease',
);
