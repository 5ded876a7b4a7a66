import { createBatcher } from '../../core/batcher.ts';
import type { Changes } from '../../core/changes.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { ConnectionAbout, ConnectionFact, ConnectionRecorder } from '../../core/connections.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import { classify } from './classify.ts';
import {
  type ConnectionKey,
  type ConnectionRow,
  insertMissing,
  insertTimeline,
  lockConnections,
  updateConnections,
} from './connection-store.ts';
import { upsertErrors } from './error-store.ts';
import { applyStep, type Counted, type TrackedConnection } from './lifecycle.ts';
import { addToRollups, type RollupRow, startOf } from './rollup-store.ts';

interface RecorderDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  changes: Changes;
}

export interface Recorder extends ConnectionRecorder {
  /** Like `record`, but says whether the step was stored: false when the id belongs to another caller or storing failed. */
  store(fact: ConnectionFact): Promise<boolean>;
  /** Resolves when everything recorded so far is stored or dropped. */
  settled(): Promise<void>;
}

const batchMax = 500;
/** Steps are best effort: beyond this many waiting, new ones are dropped. */
const waitingMax = 20_000;

interface Received {
  fact: ConnectionFact;
  receivedAt: number;
}

const outcomes = new Set(['started', 'succeeded', 'failed', 'ended', 'returned']);

interface Written {
  stored: Set<Received>;
  /** Everything that happened, by metric: unlike rollups, which can be corrected, it only grows. */
  happened: ReadonlyMap<string, number>;
  /** How long each connection that came about just now took to. */
  connectMs: readonly number[];
}

/** One transaction for all steps that came while the one before was written. */
export function createRecorder({ db, clock, ids, log, metrics, changes }: RecorderDeps): Recorder {
  const batcher = createBatcher<Received, boolean>({ batchMax, waitingMax, write });

  async function write(batch: readonly Received[]): Promise<boolean[]> {
    try {
      const { stored, happened, connectMs } = await db.transaction((tx) => writeBatch(tx, batch, ids));
      expose(happened, connectMs);
      for (const { fact } of stored) {
        changes.note('connections', fact);
        if (classify(fact) !== null) changes.note('errors', fact);
      }
      return batch.map((one) => stored.has(one));
    } catch (error) {
      log.warn({ error, steps: batch.length }, 'connection steps were not stored');
      return batch.map(() => false);
    }
  }

  const store = (fact: ConnectionFact): Promise<boolean> =>
    batcher.add({ fact, receivedAt: clock.now() }).catch(() => false);

  /** The same counts for Prometheus, over all projects. */
  function expose(happened: ReadonlyMap<string, number>, connectMs: readonly number[]): void {
    for (const [metric, value] of happened) {
      const [name = '', category] = metric.split(':');
      if (name === 'error') metrics.count('parley_connection_errors_total', { category: category ?? '' }, value);
      else if (outcomes.has(name)) metrics.count('parley_connections_total', { outcome: name }, value);
    }
    for (const ms of connectMs) metrics.observe('parley_connect_seconds', ms / 1000);
  }

  return {
    store,
    record: (fact) => void store(fact),
    settled: () => batcher.flush(),
  };
}

const keyOf = ({ projectId, environment, connectionId }: ConnectionKey): string =>
  `${projectId}/${environment}/${connectionId}`;

async function writeBatch(tx: Tx, batch: readonly Received[], ids: Ids): Promise<Written> {
  const firsts = new Map(batch.toReversed().map((one) => [keyOf(one.fact), one]));
  const made = await insertMissing(
    tx,
    [...firsts.values()].map(({ fact, receivedAt }) => ({
      ...bare(fact),
      id: ids.newUuid(),
      startedAt: iso(receivedAt),
    })),
  );
  const rows = new Map(
    (
      await lockConnections(
        tx,
        [...firsts.values()].map(({ fact }) => bare(fact)),
      )
    ).map((row) => [keyOf(row), row]),
  );
  const outcome = replay(batch, rows, made, ids);
  if (outcome.rows.length > 0) {
    await updateConnections(tx, outcome.rows);
    await insertTimeline(tx, outcome.timeline);
  }
  if (outcome.errors.length > 0) await upsertErrors(tx, outcome.errors);
  if (outcome.rollups.length > 0) await addToRollups(tx, outcome.rollups);
  return outcome;
}

const bare = ({ projectId, environment, connectionId, roomId, identity, tokenId }: ConnectionFact) => ({
  projectId,
  environment,
  connectionId,
  roomId,
  identity,
  tokenId,
});

/** Runs the steps over their connections in order and gathers everything there is to write. */
function replay(
  batch: readonly Received[],
  rows: Map<string, ConnectionRow & ConnectionKey>,
  made: ReadonlySet<string>,
  ids: Ids,
) {
  const touched = new Map<string, ConnectionRow & { lastEventAt: string }>();
  const timeline: Parameters<typeof insertTimeline>[1][number][] = [];
  const errors = new Map<string, Parameters<typeof upsertErrors>[1][number]>();
  const counts = new Map<string, RollupRow>();
  const stored = new Set<Received>();
  const happened = new Map<string, number>();
  const connectMs: number[] = [];
  for (const one of batch) {
    const { fact, receivedAt } = one;
    const row = rows.get(keyOf(fact));
    // The id belongs to its first user: reports of others are dropped without an answer that says why.
    if (!row || row.roomId !== fact.roomId || row.identity !== fact.identity) continue;
    const isFirst = made.has(row.id) && !touched.has(row.id);
    const { next, counted, error } = applyStep(tracked(row), fact, receivedAt);
    const updated = {
      ...row,
      ...untracked(next),
      ...aboutChanges(row, fact),
      tokenId: fact.tokenId,
      lastEventAt: iso(receivedAt),
    };
    rows.set(keyOf(fact), updated);
    touched.set(row.id, updated);
    stored.add(one);
    if (row.connectedAt === null && next.connectedAt !== null) connectMs.push(next.connectedAt - next.startedAt);
    timeline.push({
      id: ids.newUuid(),
      connection: row.id,
      type: fact.type,
      source: fact.source,
      timestamp: iso(fact.at),
      receivedAt: iso(receivedAt),
      data: fact.data ?? {},
    });
    const first: Counted[] = isFirst ? [{ at: receivedAt, counts: { started: 1 } }] : [];
    for (const added of [...first, ...counted]) {
      countInto(counts, fact, added);
      for (const [metric, n] of Object.entries(added.counts))
        if (n > 0) happened.set(metric, (happened.get(metric) ?? 0) + n);
    }
    if (error) {
      const known = errors.get(`${row.id}/${error.code}`);
      errors.set(`${row.id}/${error.code}`, {
        id: known?.id ?? ids.newId('error'),
        projectId: fact.projectId,
        environment: fact.environment,
        connection: row.id,
        ...error,
        at: iso(receivedAt),
        count: (known?.count ?? 0) + 1,
        context: { event: fact.type, source: fact.source, ...fact.data },
      });
    }
  }
  return {
    rows: [...touched.values()],
    timeline,
    errors: [...errors.values()],
    rollups: [...counts.values()],
    stored,
    happened,
    connectMs,
  };
}

/** What a step changes in the connection: a client's report only fills in what the server has not seen. */
function aboutChanges(row: ConnectionRow, { about = {}, source }: ConnectionFact): ConnectionAbout {
  if (source === 'SERVER') return about;
  const names = Object.keys(about) as (keyof ConnectionAbout)[];
  return Object.fromEntries(names.filter((name) => row[name] === null).map((name) => [name, about[name]]));
}

function countInto(counts: Map<string, RollupRow>, { projectId, environment }: ConnectionFact, added: Counted): void {
  for (const grain of ['minute', 'hour'] as const) {
    const at = iso(startOf(grain, added.at));
    for (const [metric, value] of Object.entries(added.counts)) {
      const key = `${projectId}/${environment}/${grain}/${at}/${metric}`;
      const row = counts.get(key);
      counts.set(key, { projectId, environment, grain, at, metric, value: (row?.value ?? 0) + value });
    }
  }
}

const epoch = (text: string | null): number | null => (text === null ? null : Date.parse(text));
const text = (ms: number | null): string | null => (ms === null ? null : iso(ms));

const tracked = (row: ConnectionRow): TrackedConnection => ({
  ...row,
  // The column holds only what `untracked` wrote.
  state: row.state as TrackedConnection['state'],
  startedAt: Date.parse(row.startedAt),
  connectedAt: epoch(row.connectedAt),
  endedAt: epoch(row.endedAt),
});

function untracked(connection: TrackedConnection) {
  const { startedAt: _, connectedAt, endedAt, ...rest } = connection;
  return { ...rest, connectedAt: text(connectedAt), endedAt: text(endedAt) };
}
