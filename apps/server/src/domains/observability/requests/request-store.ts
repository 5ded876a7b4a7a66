import type { RequestOutcome } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Reader } from '../../../core/db.ts';
import type { AnsweredRequest } from '../../../core/request-log.ts';
import { empty, json, raw, sql } from '../../../core/sql.ts';

export interface NewRequestRow extends AnsweredRequest {
  at: string;
  skipped: number;
}

export interface RequestRow extends Omit<NewRequestRow, 'projectId' | 'environment' | 'code'> {
  id: string;
  /** Of the release that stored it. */
  code: string | null;
}

export async function insertRequests(db: Db, rows: readonly NewRequestRow[]): Promise<void> {
  await db.execute(sql`
    insert into api_requests
      (project_id, environment, at, request_id, method, route, status, ms, credential, key_id, code, skipped)
    select r."projectId", r.environment, r.at, r."requestId", r.method, r.route, r.status, r.ms, r.credential, r."keyId",
           r.code, r.skipped
    from jsonb_to_recordset(${json(rows)}::jsonb) as r("projectId" uuid, environment text, at timestamptz,
      "requestId" text, method text, route text, status smallint, ms double precision, credential text, "keyId" text,
      code text, skipped integer)`);
}

// Qualified where it orders: the name alone is the text of it.
const columns = sql`id::text, request_id as "requestId", at, method, route, status, ms, credential, key_id as "keyId",
  code, skipped`;

const outcomes: Readonly<Record<RequestOutcome, string>> = {
  OK: 'status < 400',
  FAILED: 'status >= 400',
  CLIENT_ERROR: 'status >= 400 and status < 500',
  SERVER_ERROR: 'status >= 500',
};

interface RequestFilter {
  outcome?: RequestOutcome | undefined;
  method?: string | undefined;
  route?: string | undefined;
  code?: string | undefined;
  keyId?: string | undefined;
  requestId?: string | undefined;
}

/** Newest first. A part of a route is looked for among the routes that are there, then each by its index. */
export async function listRequests(
  db: Reader,
  { projectId, environment }: ProjectScope,
  { route, limit, ...filter }: RequestFilter & { after: string | null; limit: number },
): Promise<RequestRow[]> {
  const ofScope = sql`project_id = ${projectId} and environment = ${environment}`;
  const newest = sql`order by api_requests.id desc limit ${limit}`;
  if (route === undefined)
    return db.query<RequestRow>(
      sql`select ${columns} from api_requests where ${ofScope} ${matching(filter)} ${newest}`,
    );
  return db.query<RequestRow>(sql`
    with recursive known as (
      (select route from api_requests where ${ofScope} order by route limit 1)
      union all
      select (select a.route from api_requests a where ${ofScope} and a.route > k.route order by a.route limit 1)
      from known k where k.route is not null)
    select found.* from known k cross join lateral (
      select ${columns} from api_requests where ${ofScope} and route = k.route ${matching(filter)} ${newest}) found
    where strpos(lower(k.route), lower(${route}::text)) > 0
    order by found.id::bigint desc limit ${limit}`);
}

const matching = ({
  outcome,
  method,
  code,
  keyId,
  requestId,
  after,
}: Omit<RequestFilter, 'route'> & { after: string | null }) => sql`
  ${outcome === undefined ? empty : sql`and ${raw(outcomes[outcome])}`}
  ${method === undefined ? empty : sql`and method = ${method}`}
  ${code === undefined ? empty : sql`and code = ${code}`}
  ${keyId === undefined ? empty : sql`and key_id = ${keyId}`}
  ${requestId === undefined ? empty : sql`and request_id = ${requestId}`}
  ${after === null ? empty : sql`and id < ${after}::bigint`}`;

export const deleteOldRequests = (db: Db, before: string, limit: number): Promise<number> =>
  db.execute(sql`
    delete from api_requests where id = any(array(select id from api_requests where at < ${before} limit ${limit}))`);

interface OverfullLog extends ProjectScope {
  /** The newest row that is one too many. */
  id: string;
}

/**
 * Logs with more than this many rows. Each costs a walk over so many entries of an index: seldom, please. It is bounded
 * by rows, not by equality, or the order by id alone would do and a walk over everybody's rows might look cheaper.
 */
export async function listOverfull(db: Db, rowsMax: number): Promise<OverfullLog[]> {
  return db.query<OverfullLog>(sql`
    with recursive of_project as (
      (select project_id from api_requests order by project_id limit 1)
      union all
      select (select a.project_id from api_requests a where a.project_id > p.project_id order by a.project_id limit 1)
      from of_project p where p.project_id is not null)
    select p.project_id as "projectId", e.environment, over.id::text
    from of_project p
    cross join (values ('DEVELOPMENT'), ('PRODUCTION')) e(environment)
    cross join lateral (
      select id from api_requests a
      where (a.project_id, a.environment) >= (p.project_id, e.environment)
        and (a.project_id, a.environment) <= (p.project_id, e.environment)
      order by a.project_id desc, a.environment desc, a.id desc offset ${rowsMax} limit 1) over`);
}

export const deleteOverfull = (db: Db, { projectId, environment, id }: OverfullLog, limit: number): Promise<number> =>
  db.execute(sql`
    delete from api_requests where id = any(array(
      select id from api_requests
      where project_id = ${projectId} and environment = ${environment} and id <= ${id}::bigint order by id limit ${limit}))`);
