import { trackMeasures } from '@parley/contract';
import { sql } from '../apps/server/src/core/sql.ts';
import { pack, readBatch } from '../apps/server/src/domains/observability/calls/samples.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import type { TestService } from '../apps/server/testkit/kit/service.ts';

/** What is stored beside the events of connections: samples of calls, the log of requests, and alerts that are on. */
const connectionsPerCall = 5;
const batchesPerConnection = 2;
/** The call that is opened has all of its samples: five minutes in batches of 20 seconds. */
const openedBatches = 15;
export const openedCall = 'call-0';
/** As many as a project keeps (OBSERVABILITY_MAX_REQUESTS, ALERTS_MAX_RULES). */
const requestsTotal = 200_000;
const alertsTotal = 100;
const chunk = 20_000;

const connectionId = sql`lateral (select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id) c`;

/** Twenty seconds of three tracks, as the SDK sends them. */
function packedSamples(): string {
  const four = (value: number): number[] => [value, value * 1.1, value * 0.9, value];
  const measures = Object.fromEntries(trackMeasures.map((name, index) => [name, four(20 + index)]));
  const trackOf = (id: string, way: string, kind: string) => ({ id, way, kind, ...measures });
  const tracks = [trackOf('camera', 'out', 'video'), trackOf('other', 'in', 'video'), trackOf('voice', 'in', 'audio')];
  const batch = readBatch({ everyMs: 5_000, count: 4, bandwidth: four(900), tracks });
  if (!batch || batch.tracks.length !== tracks.length) throw new Error('these samples are refused');
  return pack(batch).toString('base64');
}

/** Calls of the connections that are there, each with its scores and the last of its samples. */
export async function fillCalls({ adapters: { db } }: TestService, project: TestProject, connections: number) {
  await db.execute(sql`
    insert into calls (id, project_id, environment, room_id, room_name, started_at, last_at, participant_count, score,
      worst_score)
    select 'call-' || n, ${project.id}, 'DEVELOPMENT', 'room_' || lpad((n % 500)::text, 24, '0'), 'talk', at,
      at + interval '5 minutes', ${connectionsPerCall}::int, 3 + (n * 7 % 200) / 100.0, 1 + (n * 13 % 400) / 100.0
    from generate_series(0, ${connections / connectionsPerCall - 1}::int) n,
      lateral (select now() - n * interval '20 seconds' as at) t`);
  const packed = packedSamples();
  for (let from = 0; from < connections; from += chunk) {
    const numbers = sql`generate_series(${from}::int, ${Math.min(from + chunk, connections) - 1}::int) n`;
    await db.execute(sql`
      insert into call_scores (connection, call_id, picture_sum, picture_count, sampled_until, score)
      select c.id, 'call-' || n / ${connectionsPerCall}::int, 40, 10, now(), 4 from ${numbers}, ${connectionId}`);
    await db.execute(sql`
      insert into call_samples (connection, at, packed)
      select c.id, now() - b * interval '20 seconds', decode(${packed}, 'base64')
      from ${numbers}, generate_series(1, ${batchesPerConnection}::int) b, ${connectionId}`);
  }
}

/** One of them is whole: its room, its participants, and every sample of its five minutes. */
export async function fillOpenedCall({ adapters: { db } }: TestService, project: TestProject): Promise<void> {
  const room = await project.api.call('createRoom', { body: { name: 'opened' } });
  const numbers = sql`generate_series(0, ${connectionsPerCall - 1}::int) n`;
  await db.execute(sql`update calls set room_id = ${room.id} where id = ${openedCall}`);
  await db.execute(sql`
    update connections set room_id = ${room.id} from ${numbers}, ${connectionId} where connections.id = c.id`);
  await db.execute(sql`
    insert into participant_sessions (id, project_id, environment, room_id, room_session_id, identity, kind, token_id,
      connection_id, permissions, process_id, resume_hash, created_at, joined_at, left_at, ended_at)
    select 'ses-' || n, ${project.id}, 'DEVELOPMENT', ${room.id}, ${openedCall}, 'user-' || n, 'MEMBER', 'rtk_' || n,
      'c-' || n, '{}', 'bench', '', now(), now(), now(), now() from ${numbers}`);
  await db.execute(sql`
    insert into call_samples (connection, at, packed)
    select c.id, now() - (b + 1) * interval '20 seconds' - interval '1 second', decode(${packedSamples()}, 'base64')
    from ${numbers}, generate_series(1, ${openedBatches}::int) b, ${connectionId}`);
}

/** A full log: one in fifty failed, and one key and one route that are seldom. */
export async function fillRequests({ adapters: { db } }: TestService, { id }: TestProject): Promise<void> {
  for (let from = 0; from < requestsTotal; from += chunk) {
    await db.execute(sql`
      insert into api_requests (project_id, environment, at, request_id, method, route, status, ms, credential, key_id, code)
      select ${id}, 'DEVELOPMENT', now() - (${requestsTotal}::int - n) * interval '3 seconds', 'req_' || lpad(to_hex(n), 24, '0'),
        case when n % 3 = 0 then 'POST' else 'GET' end,
        case when n % 10000 = 0 then '/v1/seldom' else '/v1/rooms/{id}' end,
        case when n % 50 = 0 then 404 else 200 end, 3.2, 'apiKey', 'key_' || n % 20,
        case when n % 50 = 0 then 'SVC_ROOM_NOT_FOUND' end
      from generate_series(${from}::int, ${from + chunk - 1}::int) n`);
  }
}

/** As many as there may be; they are evaluated each minute, also while the rest is measured. */
export async function fillAlerts({ adapters: { db } }: TestService, { id, api }: TestProject): Promise<void> {
  await api.call('createAlert', { body: { name: 'Joins fail', kind: 'JOIN_SUCCESS_BELOW', webhook: false } });
  await db.execute(sql`
    insert into alerts (id, project_id, environment, name, kind, bound, window_minutes, webhook, since, created_at, updated_at)
    select 'alr_' || n, ${id}, 'DEVELOPMENT', 'Joins fail', 'JOIN_SUCCESS_BELOW', 95, 15, false, at, at, at
    from generate_series(2, ${alertsTotal}::int) n, lateral (select date_trunc('milliseconds', now()) as at) t`);
}

/** Every five seconds, where a service does it every minute: a short run has to meet it. */
export function evaluateMeanwhile({ service, clock }: TestService, { id: projectId }: TestProject) {
  const over = new AbortController();
  let rounds = 0;
  const running = (async () => {
    while (!over.signal.aborted) {
      await service.alerts.evaluate(undefined, { projectId, at: clock.now() + ++rounds * 60_000 });
      await clock.sleep(5_000, over.signal);
    }
  })();
  return {
    async stop(): Promise<number> {
      over.abort();
      await running;
      return rounds;
    },
  };
}

/** How many of them have been evaluated. */
export async function evaluatedAlerts({ adapters: { db } }: TestService): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    sql`select count(*)::int as count from alerts where evaluated_at is not null`,
  );
  return row?.count ?? 0;
}
