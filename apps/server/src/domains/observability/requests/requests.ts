import { type ApiRequest, errors, fail, isErrorCode, type Limits, type RequestsQuery, roleMay } from '@parley/contract';
import { adviceOn } from '@parley/contract/error-advice';
import { createBatcher } from '../../../core/batcher.ts';
import type { ProjectSessionCaller } from '../../../core/caller.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import { type Answer, page } from '../../../core/handlers.ts';
import type { Log } from '../../../core/log.ts';
import type { Metrics } from '../../../core/metrics.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import type { AnsweredRequest } from '../../../core/request-log.ts';
import {
  deleteOldRequests,
  deleteOverfull,
  insertRequests,
  listOverfull,
  listRequests,
  type NewRequestRow,
  type RequestRow,
} from './request-store.ts';
import { createSampler } from './sampler.ts';

export interface RequestsDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  cursors: Cursors;
  changes: Changes;
  metrics: Metrics;
  log: Log;
  limits: Limits;
}

const batchMax = 500;
const waitingMax = 2_000;
/** One write for what a process answers in this time. */
const gatherMs = 500;
const pageSize = 50;
const keptMs = 7 * 24 * 60 * 60 * 1000;
/** To see which logs are overfull is expensive, and the rate bounds what is too many meanwhile. */
const overfullEveryMs = 60 * 60 * 1000;

/** The log of API requests: best effort, at a bounded rate, and never waited for. */
export function createRequests({ db, replicated, clock, cursors, changes, metrics, log, limits }: RequestsDeps) {
  const perSecond = limits.OBSERVABILITY_REQUESTS_PER_SECOND;
  const sampler = createSampler({ clock, perSecond });
  const batcher = createBatcher<NewRequestRow, void>({ batchMax, waitingMax, gatherMs, write });
  let lookAt = 0;
  const drop = (reason: 'rate' | 'queue' | 'store', by = 1): void =>
    metrics.count('parley_request_log_dropped_total', { reason }, by);

  async function write(rows: readonly NewRequestRow[]): Promise<undefined> {
    try {
      await insertRequests(db, rows);
      for (const row of rows) changes.note('requests', row);
    } catch (error) {
      drop('store', rows.length);
      log.warn({ error, requests: rows.length }, 'requests were not logged');
    }
  }

  function note(request: AnsweredRequest): void {
    if (perSecond === 0) return;
    // Failed ones have a share of their own: they are what is looked for, and a busy API must not crowd them out.
    const kind = request.status < 400 ? 'ok' : 'failed';
    const passed = sampler.take(`${request.projectId}/${request.environment}/${kind}`);
    if (passed === null) drop('rate');
    else batcher.add({ ...request, at: iso(clock.now()), ...passed }).catch(() => drop('queue'));
  }

  async function list(caller: ProjectSessionCaller, query: RequestsQuery): Promise<Answer<ApiRequest[]>> {
    const { limit = pageSize, cursor, ...filter } = query;
    const seesKeys = roleMay(caller.role, 'api_key:read', caller.environment);
    if (filter.keyId !== undefined && !seesKeys) fail('SVC_PERMISSION_DENIED', { permission: 'api_key:read' });
    const scope = `requests/${caller.projectId}/${caller.environment}`;
    const after = cursor === undefined ? null : String(cursors.read(scope, cursor)[0]);
    const rows = await listRequests(replicated.current, caller, { ...filter, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, ({ id }) => cursors.write(scope, [id]));
    return page(
      items.map((row) => toRequest(row, seesKeys)),
      nextCursor,
    );
  }

  async function deleteOld(turn: Turn): Promise<number> {
    const now = clock.now();
    const isTime = now >= lookAt;
    const overfull = isTime ? await listOverfull(db, limits.OBSERVABILITY_MAX_REQUESTS) : [];
    const deleted = await deleteInBatches(
      { turn },
      (limit) => deleteOldRequests(db, iso(now - keptMs), limit),
      ...overfull.map((one) => (limit: number) => deleteOverfull(db, one, limit)),
    );
    // What was not finished goes on with the next turn.
    if (isTime && !turn.isOver()) lookAt = now + overfullEveryMs;
    return deleted;
  }

  return {
    note,
    list,
    async get(caller: ProjectSessionCaller, requestId: string): Promise<ApiRequest> {
      const { body } = await list(caller, { requestId, limit: 1 });
      return body[0] ?? fail('SVC_REQUEST_NOT_FOUND');
    },
    deleteOld,
    settled: () => batcher.flush(),
  };
}

function toRequest({ code, ...row }: RequestRow, seesKeys: boolean): ApiRequest {
  // A code of another release has no words here.
  const known = code !== null && isErrorCode(code) ? { message: errors[code].message, fix: adviceOn(code) } : null;
  const error = code === null ? null : { code, message: known?.message ?? code, fix: known?.fix ?? '' };
  return { ...row, keyId: seesKeys ? row.keyId : null, error };
}
