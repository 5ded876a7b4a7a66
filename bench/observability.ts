import { sql } from '../apps/server/src/core/sql.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startService, type TestService } from '../apps/server/testkit/kit/service.ts';
import {
  evaluatedAlerts,
  evaluateMeanwhile,
  fillAlerts,
  fillCalls,
  fillOpenedCall,
  fillRequests,
  openedCall,
} from './observability-fill.ts';
import { percentile, type Row } from './ratio.ts';
import { type StallDetector, startStallDetector, type Timed } from './stall-detector.ts';

const eventsTotal = Number(process.env['BENCH_CONNECTION_EVENTS'] ?? 1_000_000);
const eventsPerConnection = 10;
const roomCount = 500;
const chunk = 10_000;
const calls = Number(process.env['BENCH_CALLS'] ?? 500);

process.env['PARLEY_TEST_DATABASE_URL'] ??= 'postgres://postgres@127.0.0.1:5432/test';

/** In development every answer is also checked against its schema, a cost that production does not have. */
const asInProduction = {
  NODE_ENV: 'production',
  SECRET_KEY: 'a key that only this benchmark ever uses',
  SFU_REGISTRATION_SECRET: 'a secret that only this benchmark uses',
  AUTH_REQUIRE_VERIFIED_EMAIL: 'false',
  SFU_EMBEDDED: 'false',
};

/** What the console asks for, over a million connection events on PostgreSQL, by HTTP. */
export async function rows(): Promise<Row[]> {
  const service = await startService({ env: asInProduction });
  const stallDetector = startStallDetector();
  try {
    const project = await service.newProject();
    await fill(service, project);
    const asking = { service, stallDetector };
    const byKey = (paths: readonly string[]) => slowestOf({ ...asking, bearer: project.apiKey, paths });
    const bySession = (paths: readonly string[]) =>
      slowestOf({
        ...asking,
        bearer: project.owner.accessToken,
        paths: paths.map((path) => `/v1/projects/${project.id}${path}`),
      });
    const metrics = await byKey(['/v1/metrics']);
    const reads = await eventReads(service);
    if (reads > 0) throw new Error(`metrics read connection_events ${reads} times: series must come from rollups`);
    const lists = await byKey(listPaths);
    const evaluations = evaluateMeanwhile(service, project);
    const calls = await bySession(callPaths);
    const opened = await bySession([`/calls/${openedCall}`]);
    const requests = await bySession(requestPaths);
    const rounds = await evaluations.stop();
    const evaluated = await evaluatedAlerts(service);
    if (evaluated === 0) throw new Error('no alert was evaluated meanwhile');
    return [
      rowOf(`lists and one timeline over ${eventsTotal / 1e6} M connection events, p99 in ms`, 'lists', lists),
      rowOf(
        'metrics with both series, p99 in ms',
        'metrics',
        metrics,
        'from rollups: connection_events was not read once',
      ),
      rowOf('calls, newest and worst first, with samples stored, p99 in ms', 'calls', calls),
      rowOf('one call of five for five minutes, with its samples, p99 in ms', 'a call', opened),
      rowOf(
        'the request log of 200 k requests by each of its filters, p99 in ms',
        'requests',
        requests,
        `${evaluated} alerts were evaluated ${rounds} times meanwhile`,
      ),
    ];
  } finally {
    await stallDetector.stop();
    await service.stop();
  }
}

function rowOf(question: string, side: string, slowest: Slowest, note?: string): Row {
  const { p50, p99, counted } = slowest;
  const path = slowest.path.replace(/\/projects\/[^/]+/, '/projects/{projectId}');
  const detail = [`slowest of the kinds: ${path}`, `p50 ${p50.toFixed(1)} ms`, counted, note]
    .filter(Boolean)
    .join('; ');
  return {
    question,
    floor: { atMost: 50 },
    ratio: p99,
    bars: { unit: 'ms', sides: { [`${side}, p99`]: p99 } },
    detail,
  };
}

const roomOf = (index: number): string => `room_${String(index).padStart(24, '0')}`;

const listPaths = [
  '/v1/connections',
  '/v1/connections?limit=200',
  '/v1/connections?state=FAILED&limit=200',
  `/v1/connections?roomId=${roomOf(7)}`,
  '/v1/errors?limit=200',
  '/v1/errors?category=ICE&limit=200',
  `/v1/connections/c-${Math.floor(eventsTotal / eventsPerConnection / 2)}`,
];
const callPaths = ['/calls?limit=200', '/calls?sort=worst&limit=200', `/calls?sort=worst&roomId=${roomOf(7)}`];
/** The last ones match few of all rows. */
const requestPaths = [
  '/requests?limit=200',
  '/requests?outcome=FAILED&limit=200',
  '/requests?method=POST&limit=200',
  '/requests?code=SVC_ROOM_NOT_FOUND&limit=200',
  '/requests?keyId=key_7&limit=200',
  '/requests?route=seldom&limit=200',
];

/** A day of calls: each with its timeline, one in twenty failed, two in a hundred still there. */
async function fill(service: TestService, project: TestProject): Promise<void> {
  await fillConnections(service, project);
  await fillCalls(service, project, eventsTotal / eventsPerConnection);
  await fillOpenedCall(service, project);
  await fillRequests(service, project);
  await fillAlerts(service, project);
  await service.adapters.db.execute(sql`analyze`);
}

async function fillConnections({ adapters: { db } }: TestService, { id: projectId }: TestProject): Promise<void> {
  const connections = eventsTotal / eventsPerConnection;
  for (let from = 0; from < connections; from += chunk) {
    const numbers = sql`generate_series(${from}::int, ${Math.min(from + chunk, connections) - 1}::int) n`;
    await db.execute(sql`
      insert into connections (id, project_id, environment, connection_id, room_id, room_name, participant_identity,
        token_id, state, started_at, connected_at, ended_at, rtt_ms, error_count, is_server_seen, last_event_at)
      select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${projectId}, 'DEVELOPMENT', 'c-' || n,
        'room_' || lpad((n % ${roomCount})::text, 24, '0'), 'talk', 'user-' || n, 'rtk_' || n,
        case when n % 20 = 0 then 'FAILED' when n % 50 = 1 then 'CONNECTED' else 'DISCONNECTED' end,
        at, case when n % 20 = 0 then null else at + interval '200 ms' end,
        case when n % 50 = 1 and n % 20 <> 0 then null else at + interval '5 minutes' end, 30, (n % 20 = 0)::int, true, at
      from ${numbers}, lateral (select now() - (n * 86400.0 / ${connections}) * interval '1 second' as at) t`);
    await db.execute(sql`
      insert into connection_events (id, connection, type, source, timestamp, received_at, data)
      select n || '-' || e, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        (array['signaling.connected','join.requested','join.succeeded','ice.connected','track.published',
               'track.subscribed','stats.report','stats.report','stats.report','left'])[e + 1],
        case when e % 2 = 0 then 'SERVER' else 'CLIENT' end, now(), now(), '{"rttMs": 30}'
      from ${numbers}, generate_series(0, ${eventsPerConnection - 1}::int) e`);
    await db.execute(sql`
      insert into classified_errors (id, project_id, environment, connection, category, code, occurred_at, created_at)
      select 'err_' || n, ${projectId}, 'DEVELOPMENT', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        (array['ICE','NETWORK','DEVICE','SERVER'])[n / 20 % 4 + 1], 'ICE_FAILED', now(), now()
      from ${numbers} where n % 20 = 0`);
  }
  await db.execute(sql`
    insert into connection_rollups (project_id, environment, grain, at, metric, value)
    select ${projectId}, 'DEVELOPMENT', grain, at, metric, 5
    from (values ('minute', interval '1 minute', 120), ('hour', interval '1 hour', 48)) g (grain, step, count),
      lateral generate_series(0, g.count - 1) k, lateral (select date_trunc(grain, now()) - k * step as at) t,
      lateral (
        select unnest(array['started', 'succeeded', 'failed', 'ended', 'durationMs', 'error:ICE', 'error:NETWORK', 'rttMs:sum', 'rttMs:n']) as metric
        union all select 'connect:' || b from generate_series(100, 160) b
        union all select 'duration:' || b from generate_series(200, 320) b) m`);
}

interface Asking {
  service: TestService;
  bearer: string;
  stallDetector: StallDetector;
  paths: readonly string[];
}

interface Slowest {
  path: string;
  p50: number;
  p99: number;
  counted: string;
}

async function slowestOf({ service: { url }, bearer, stallDetector, paths }: Asking): Promise<Slowest> {
  const kinds: Slowest[] = [];
  for (const path of paths) {
    const took: Timed[] = [];
    for (let call = -20; call < calls; call++) {
      const [at, begun] = [Date.now(), performance.now()];
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } });
      const body = await response.json();
      if (call >= 0) took.push({ at, ms: performance.now() - begun });
      const isEmpty = Array.isArray(body) && body.length === 0;
      if (response.status !== 200 || isEmpty) throw new Error(`${path} answered ${response.status}, empty: ${isEmpty}`);
    }
    const unstalled = stallDetector.unstalled(took);
    if (unstalled.length * 2 < took.length) throw new Error('the machine stalled most of the time: try again');
    const counted = `${unstalled.length} of ${took.length} calls, the rest while the machine stalled`;
    kinds.push({ path, p50: percentile(unstalled, 0.5), p99: percentile(unstalled, 0.99), counted });
  }
  const [worst] = kinds.sort((a, b) => b.p99 - a.p99);
  if (!worst) throw new Error('nothing was asked');
  return worst;
}

/** How often the table of events was ever read; an idle session flushes its statistics after ten seconds. */
async function eventReads({ adapters: { db } }: TestService): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const [row] = await db.query<{ reads: number }>(sql`
    select seq_scan + coalesce(idx_scan, 0) as reads from pg_stat_user_tables where relname = 'connection_events'`);
  return row?.reads ?? 0;
}
