import {
  type DeliveryAttempt,
  type DeliveryStatus,
  type Environment,
  onRequestTypes,
  socketFields,
} from '@parley/contract';
import type { Queryable, Tx } from '../../core/db.ts';
import { type DeletedRows, nothingDeleted } from '../../core/delete-in-batches.ts';
import type { DispatchedOnInsert, EventRef, IsAskedFor } from '../../core/event-store.ts';
import { few, json, raw, type Sql, sql } from '../../core/sql.ts';

/** Rows that still have an attempt to come: the condition of the index `deliveries_due`. */
const isOpen = raw(`d.status in ('PENDING', 'RETRYING')`);
const isEnded = raw(`d.status in ('DELIVERED', 'FAILED', 'CANCELLED')`);

/** Endpoints for which new events are queued. */
const listening = (projectId: string, environment: string): Sql =>
  raw(`select from webhooks w where w.project_id = ${projectId} and w.environment = ${environment}
    and w.status in ('ENABLED', 'AUTO_DISABLED')`);

/** No endpoint waits for events here; one that is made later gets what is stored later. */
export const dispatchedOnInsert: DispatchedOnInsert = (projectId, environment) =>
  sql`not exists (${listening(projectId, environment)})`;

export const isAskedFor: IsAskedFor = (type, projectId, environment) =>
  sql`exists (${listening(projectId, environment)} and ${type}::text = any(w.events))`;

/** True when an endpoint with this filter gets events of the type; none is a filter for all but those on request. */
export const takes = (filter: Sql, type: Sql): Sql =>
  sql`(${type} = any(${filter}) or cardinality(${filter}) = 0 and ${type} <> all(${onRequestTypes}::text[]))`;

/**
 * Queues events for every endpoint that wants them and gives the endpoints. The id is made of the event's time and of
 * event and endpoint together, so that the same pair is never queued twice by this way.
 */
export async function insertDeliveries(tx: Tx, events: readonly EventRef[], at: string): Promise<string[]> {
  const column = (read: (event: EventRef) => string) => events.map(read);
  const rows = await tx.query<{ webhookId: string }>(sql`
    with queued as (
      insert into deliveries (webhook_id, id, project_id, event_id, event_type, due_at, created_at)
      select w.id, 'whd_' || substr(e.id, 5, 10) || left(md5(e.id || w.id), 14), w.project_id, e.id, e.type, ${at}, ${at}
      from unnest(${column((event) => event.id)}::text[], ${column((event) => event.projectId)}::uuid[],
                  ${column((event) => event.environment)}::text[], ${column((event) => event.type)}::text[])
             as e (id, project_id, environment, type)
      join webhooks w on w.project_id = e.project_id and w.environment = e.environment
      where w.status in ('ENABLED', 'AUTO_DISABLED') and ${takes(raw('w.events'), raw('e.type'))}
      on conflict do nothing
      returning webhook_id
    )
    select distinct webhook_id as "webhookId" from queued`);
  return rows.map(({ webhookId }) => webhookId);
}

/** True of a row that no attempt holds. */
const isFree = (now: string) => sql`(d.claimed_until is null or d.claimed_until <= ${now})`;

/** True while there is a lane. */
export const isWaiting = sql`exists (select from deliveries d where ${isOpen})`;

/**
 * Enabled endpoints that have open deliveries that are not leased, each with the time of its first. Hops from endpoint to
 * endpoint. What a dead process held shows as soon as its hold has run out.
 */
export function listLanes(db: Queryable, now: string): Promise<{ laneId: string; dueAt: string }[]> {
  return db.query(sql`
    with recursive lane as (
      (select d.webhook_id from deliveries d where ${isOpen} order by d.webhook_id limit 1)
      union all
      select next.webhook_id from lane cross join lateral (
        select d.webhook_id from deliveries d
        where ${isOpen} and d.webhook_id > lane.webhook_id order by d.webhook_id limit 1) next
    )
    select lane.webhook_id as "laneId", first.due_at as "dueAt"
    from lane join webhooks w on w.id = lane.webhook_id and w.status = 'ENABLED'
    cross join lateral (
      select d.due_at from deliveries d
      where d.webhook_id = lane.webhook_id and ${isOpen} and ${isFree(now)} order by d.due_at limit 1) first`);
}

/** An event's data as webhooks carry it. */
export const payload = sql`(e.data::jsonb - ${socketFields}::text[])::text`;

const interrupted = 'The attempt was interrupted on our side; what came of it is not known.';
const isoFormat = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';

/** One attempt to make, with everything it needs. */
export interface ClaimedDelivery {
  webhookId: string;
  id: string;
  /** Where the row lies while it is held: the outcome is written there without a search. */
  place: string;
  /** Until when the row is held if no outcome is recorded. */
  lease: string;
  /** Number of this attempt, from 1. Every claim counts one, so it is also the proof that the claim is still ours. */
  attempt: number;
  queuedAt: string;
  eventId: string;
  eventType: string;
  /** Of a made-up event, which brings its whole body. */
  testBody: string | null;
  event: EventToSend;
  endpoint: EndpointToServe;
}

/** What deliveries of one event share. */
interface EventToSend {
  createdAt: string;
  /** Null for a made-up event. */
  data: string | null;
}

/** What deliveries to one endpoint share. */
interface EndpointToServe {
  projectId: string;
  environment: Environment;
  url: string;
  headersSealed: string | null;
  secretSealed: string;
  previousSecretSealed: string | null;
  previousSecretExpiresAt: string | null;
}

interface ClaimTerms {
  now: string;
  /** Longest an attempt may take. */
  holdMs: number;
  backoffBaseMs: number;
  attemptsMax: number;
}

/** A claimed row as the database gives it. What rows share comes once, with the first of them. */
interface ClaimedRow extends Omit<ClaimedDelivery, 'event' | 'endpoint'> {
  shared: { events: Record<string, EventToSend> | null; endpoints: Record<string, EndpointToServe> } | null;
}

/**
 * Takes up to `take` due deliveries of each endpoint and counts the attempt that is about to be made. No one else gets
 * them before the attempt after that would be due. `picked` is sorted so that it is complete before the first row is
 * changed: dead index entries met on the way can then be marked, and the next claim does not visit them again. An
 * attempt that was counted and left no entry died with its process: it is logged now, and if it was the last one the
 * delivery ends here.
 */
export async function claimDeliveries(
  db: Queryable,
  asks: readonly { webhookId: string; take: number }[],
  { now, holdMs, backoffBaseMs, attemptsMax }: ClaimTerms,
): Promise<ClaimedDelivery[]> {
  const waitMs = (power: string) =>
    sql`(${holdMs}::float8 + ${backoffBaseMs}::float8 * 2 ^ ${raw(power)}) * interval '1 ms'`;
  const rows = await db.query<ClaimedRow>(sql`
    with ask as (
      select * from unnest(${asks.map((ask) => ask.webhookId)}::text[], ${asks.map((ask) => ask.take)}::int[])
        as ask (webhook_id, take)
    ),
    picked as materialized (
      select due.row
      from ask join webhooks w on w.id = ask.webhook_id and w.status = 'ENABLED'
      cross join lateral (
        select d.ctid as row from deliveries d
        where d.webhook_id = ask.webhook_id and ${isOpen} and d.due_at <= ${now} and ${isFree(now)}
        order by d.due_at limit ask.take
        for update skip locked) due
      order by due.row
    ),
    claimed as (
      update deliveries d
      set attempts = least(d.attempts + 1, ${attemptsMax}), claimed_until = ${now}::timestamptz + ${waitMs('d.attempts')},
          status = case when d.attempts < ${attemptsMax} then d.status else 'FAILED' end,
          failed_at = case when d.attempts < ${attemptsMax} then null else ${now}::timestamptz end,
          attempt_log = case when cardinality(d.attempt_log) >= d.attempts then d.attempt_log
            else d.attempt_log || json_build_object('number', d.attempts, 'statusCode', null, 'error', ${interrupted}::text,
              'at', to_char(d.claimed_until - ${waitMs('(d.attempts - 1)')}, ${isoFormat}), 'durationMs', 0, 'responseExcerpt', null)::text
            end
      from picked where d.ctid = picked.row
      returning d.webhook_id, d.id, d.ctid, d.claimed_until, d.attempts, d.status, d.created_at, d.event_id, d.event_type, d.test_body
    )
    select c.webhook_id as "webhookId", c.id, c.ctid::text as place, c.claimed_until as lease, c.attempts as attempt,
           c.created_at as "queuedAt", c.event_id as "eventId", c.event_type as "eventType", c.test_body as "testBody",
           case when row_number() over () = 1 then json_build_object(
             'events', (
               select json_object_agg(e.id, json_build_object('createdAt', to_char(e.created_at, ${isoFormat}), 'data', ${payload}))
               from (select distinct event_id from claimed) of
               cross join lateral (select * from events where id = of.event_id limit 1) e),
             'endpoints', (
               select json_object_agg(w.id, json_build_object('projectId', w.project_id, 'environment', w.environment,
                 'url', w.url, 'headersSealed', w.headers_sealed, 'secretSealed', w.secret_sealed,
                 'previousSecretSealed', w.previous_secret_sealed, 'previousSecretExpiresAt', w.previous_secret_expires_at))
               from webhooks w where w.id = any(${asks.map((ask) => ask.webhookId)}))) end as shared
    from claimed c where c.status <> 'FAILED'`);
  return withShared(rows);
}

/** Gives each delivery its event and its endpoint. One whose event is no longer kept cannot be made. */
function withShared(rows: readonly ClaimedRow[]): ClaimedDelivery[] {
  const shared = rows[0]?.shared;
  if (!shared) return [];
  return rows.flatMap((row) => {
    const event = shared.events?.[row.eventId] ?? (row.testBody !== null && { createdAt: row.queuedAt, data: null });
    const endpoint = shared.endpoints[row.webhookId];
    return event && endpoint ? Object.assign(row, { event, endpoint }) : [];
  });
}

/** What became of one claimed delivery. */
export interface DeliveryOutcome {
  webhookId: string;
  id: string;
  place: string;
  lease: string;
  status: DeliveryStatus;
  /** Null: there is no next attempt. */
  dueAt: string | null;
  at: string;
  entry: DeliveryAttempt;
}

/** How the attempts of one batch went for one endpoint, in their order. */
export interface EndpointTally {
  webhookId: string;
  at: string;
  /** Failures before the first success; all of them when there was none. */
  lead: number;
  /** Most failures in a row after a success. */
  run: number;
  /** Failures since the last success. */
  tail: number;
  hasSuccess: boolean;
  lastError: string | null;
}

export interface TrippedEndpoint {
  webhookId: string;
  projectId: string;
  environment: Environment;
  url: string;
  consecutiveFailures: number;
  lastError: string | null;
  disabledAt: string;
}

/**
 * Records a batch of attempts and counts their endpoints' failures, in one statement. An attempt whose claim has run
 * out no longer changes its delivery. Endpoints are locked in one order, so that two batches cannot block each other.
 * Gives the endpoints that this very batch disabled.
 */
export function recordOutcomes(
  db: Queryable,
  outcomes: readonly DeliveryOutcome[],
  tallies: readonly EndpointTally[],
  disableAfter: number,
): Promise<TrippedEndpoint[]> {
  const column = (name: 'place' | 'id' | 'status') => outcomes.map((each) => each[name]);
  const ofTally = (name: keyof EndpointTally) => tallies.map((each) => each[name]);
  const given = sql`
    unnest(${column('place')}::tid[], ${column('id')}::text[], ${outcomes.map(({ entry }) => entry.number)}::int2[],
           ${column('status')}::text[], ${outcomes.map(({ dueAt, at }) => dueAt ?? at)}::timestamptz[],
           ${outcomes.map(({ entry }) => json(entry))}::text[]) as o (place, id, attempt, status, at, entry)`;
  return db.query(sql`
    with saved as (
      update deliveries d
      set status = o.status, due_at = case when o.status = 'RETRYING' then o.at else d.due_at end, claimed_until = null,
          attempt_log = d.attempt_log || o.entry,
          delivered_at = case when o.status = 'DELIVERED' then o.at end,
          failed_at = case when o.status = 'FAILED' then o.at end
      from ${few(given, outcomes.length)} o
      where d.ctid = o.place and d.id = o.id and d.attempts = o.attempt and d.claimed_until is not null and not ${isEnded}
    ),
    t as (
      select * from unnest(${ofTally('webhookId')}::text[], ${ofTally('at')}::timestamptz[], ${ofTally('lead')}::int[],
                           ${ofTally('run')}::int[], ${ofTally('tail')}::int[], ${ofTally('hasSuccess')}::boolean[],
                           ${ofTally('lastError')}::text[]) as t (webhook_id, at, lead, run, tail, has_success, last_error)
    ),
    -- A success changes the endpoint only when there is something to reset, or its time of last delivery is a second old.
    locked as (
      select w.id, w.status, w.consecutive_failures as failures
      from webhooks w join t on t.webhook_id = w.id
      where t.lead + t.run > 0 or w.consecutive_failures > 0 or w.last_delivery_at is null
         or w.last_delivery_at < t.at - interval '1 second'
      order by w.id for update of w
    ),
    judged as (
      select l.id, t.at, t.last_error, t.has_success,
             l.status = 'ENABLED' and (l.failures + t.lead >= ${disableAfter} or t.run >= ${disableAfter}) as trips,
             case when l.status <> 'ENABLED' then l.failures
                  when l.failures + t.lead >= ${disableAfter} then l.failures + t.lead
                  when t.run >= ${disableAfter} then t.run
                  when t.has_success then t.tail
                  else l.failures + t.lead end as failures
      from locked l join t on t.webhook_id = l.id
    ),
    counted as (
      update webhooks w
      set consecutive_failures = j.failures, last_error = j.last_error,
          last_delivery_at = case when j.has_success then j.at else w.last_delivery_at end,
          status = case when j.trips then 'AUTO_DISABLED' else w.status end,
          disabled_at = case when j.trips then j.at else w.disabled_at end
      from judged j where w.id = j.id
      returning j.trips, w.id as "webhookId", w.project_id as "projectId", w.environment, w.url,
                w.consecutive_failures as "consecutiveFailures", w.last_error as "lastError",
                w.disabled_at as "disabledAt"
    )
    select * from counted where trips`);
}

/** Endpoints that have deliveries, or had: hops from one to the next. */
export async function listDeliveredTo(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    with recursive lane as (
      (select webhook_id as id from deliveries order by webhook_id limit 1)
      union all
      select next.id from lane cross join lateral (
        select webhook_id as id from deliveries where webhook_id > lane.id order by webhook_id limit 1) next)
    select id from lane`);
  return rows.map(({ id }) => id);
}

/**
 * Deletes some of the deliveries of these endpoints past their retention, behind an id; up to `last` nothing is left. Ids
 * begin with their time, so the oldest of an endpoint come first in its part of the primary key: where the first is young
 * the others are not looked at, and no further index is written with each delivery. Endpoints take equal shares: what was
 * stored at one time lies together.
 */
export async function deleteOldDeliveries(
  db: Queryable,
  webhookIds: readonly string[],
  before: string,
  limit: number,
  after: string,
): Promise<DeletedRows> {
  const [row] = await db.query<DeletedRows>(sql`
    with overdue as materialized (
      select lane.id from unnest(${webhookIds}::text[]) as lane (id) cross join lateral (
        select created_at from deliveries where webhook_id = lane.id and id > ${after} order by id limit 1) first
      where first.created_at < ${before}),
    share as materialized (
      select count(*) <= ${limit} as is_for_all, greatest(1, ${limit}::bigint / nullif(count(*), 0)) as rows from overdue),
    gone as (
      delete from deliveries where ctid = any(array(
        select oldest.place from overdue cross join lateral (
          select ctid as place, created_at from deliveries where webhook_id = overdue.id and id > ${after}
          order by id limit (select rows from share)) oldest
        where oldest.created_at < ${before} limit ${limit}))
      returning webhook_id, id),
    ends as (select max(id) as id, count(*) as rows from gone group by webhook_id)
    select coalesce(sum(rows), 0)::int as count,
           case when (select is_for_all from share) then min(id) end as last from ends`);
  return row ?? nothingDeleted;
}

/** The same for events behind an id: only the oldest are looked at. */
export async function deleteOldEvents(
  db: Queryable,
  before: string,
  limit: number,
  after: string,
): Promise<DeletedRows> {
  const [row] = await db.query<DeletedRows>(sql`
    with gone as (
      delete from events where ctid = any(array(
        select oldest.place from (
          select ctid as place, created_at from events where dispatched_at is not null and id > ${after}
          order by id limit ${limit}) oldest
        where oldest.created_at < ${before}))
      returning id)
    select count(*) as count, max(id) as last from gone`);
  return row ?? nothingDeleted;
}
