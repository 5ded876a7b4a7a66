import type { observabilityRoutes } from '@parley/contract';
import type { Activity } from '../../core/activity.ts';
import type { ProjectScope } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import type { ConnectionRecorder, TakeNodeSamples } from '../../core/connections.ts';
import { deleteInBatches, sampleDays, type Turn } from '../../core/delete-in-batches.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Domain } from '../../core/part.ts';
import { type PersonalData, untilNone } from '../../core/personal-data.ts';
import type { NoteRequest } from '../../core/request-log.ts';
import type { UsageCounts } from '../../core/usage-counts.ts';
import { type CallLinkDeps, createCallLinks } from './calls/call-link.ts';
import { deleteOldCalls, deleteOldSamples } from './calls/call-store.ts';
import { type CallsDeps, createCalls } from './calls/calls.ts';
import { createSampleWriter } from './calls/writer.ts';
import { type ChangeStreamDeps, createChangeStream } from './change-stream.ts';
import {
  type ConnectionKey,
  type ConnectionRow,
  deleteOldConnections,
  listAbandoned,
  listStranded,
} from './connection-store.ts';
import { type Check, createDiagnostics } from './diagnostics.ts';
import { createMetricsReader } from './metrics.ts';
import { deleteConnectionsOf, listConnectionsOf, listTelemetryOf } from './personal-store.ts';
import { createReads } from './reads.ts';
import { createRecorder } from './recorder.ts';
import { createRequests, type RequestsDeps } from './requests/requests.ts';
import { addToRollups, deleteOldRollups, grainMs, sampleActive, startOf, sumJoins } from './rollup-store.ts';
import { createTelemetry } from './telemetry.ts';

export type { Check } from './diagnostics.ts';

interface ObservabilityDeps extends ChangeStreamDeps, CallLinkDeps, CallsDeps, RequestsDeps {
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** A look at each dependency, the database first. */
  checks: Readonly<Record<string, Check>>;
  retentionDays: number;
  /** What the other parts count. */
  activity: Activity;
  /** What is received of calls counts as sent. */
  usageCounts: UsageCounts;
}

interface Observability extends Domain<typeof observabilityRoutes> {
  recorder: ConnectionRecorder;
  noteRequest: NoteRequest;
  takeNodeSamples: TakeNodeSamples;
  /** How the joins of a project and environment went, from a time on. */
  joinsSince(scope: ProjectScope, from: string): Promise<{ succeeded: number; failed: number }>;
  personalData: PersonalData;
}

const dayMs = 24 * 60 * 60 * 1000;
const abandonedAfterMs = 2 * 60 * 1000;

export function createObservability(deps: ObservabilityDeps): Observability {
  const { db, replicated, clock, changes, checks, retentionDays, activity } = deps;
  const recorder = createRecorder(deps);
  const lists = replicated.current;
  const reads = createReads({ ...deps, db: lists });
  const metrics = createMetricsReader({ db: lists, clock });
  const diagnose = createDiagnostics({ clock, checks });
  const samples = createSampleWriter(deps);
  const calls = createCalls({ ...deps, links: createCallLinks(deps) });
  const requests = createRequests(deps);
  const telemetry = createTelemetry({ recorder, samples, clock });
  const streamChanges = createChangeStream(deps);

  /** Ends connections that no process will report: attempts that timed out, and stays whose server died. */
  async function endAbandoned(): Promise<void> {
    const now = clock.now();
    const end = (
      row: ConnectionRow & ConnectionKey,
      type: 'join.failed' | 'left',
      at: number,
      reason: string,
    ): void => {
      const { projectId, environment, connectionId, roomId, identity, tokenId } = row;
      const fact = { projectId, environment, connectionId, roomId, identity, tokenId: tokenId ?? '', type, at };
      recorder.record({ ...fact, source: 'SERVER', data: { reason } });
    };
    for (const row of await listAbandoned(db, iso(now - abandonedAfterMs), 500)) {
      if (row.connectedAt === null) end(row, 'join.failed', now, 'JOIN_FAILURE');
      else end(row, 'left', now, 'CONNECTION_TIMEOUT');
    }
    for (const row of await listStranded(db, 500))
      end(row, 'left', Date.parse(row.leftAt), row.leftReason ?? 'UNKNOWN');
    await recorder.settled();
  }

  /** After the ends, so that nobody is counted who is gone. */
  async function sample(): Promise<void> {
    const now = clock.now();
    const active = await sampleActive(db, iso(startOf('minute', now)), iso(startOf('hour', now)));
    // Figures that grow while people are connected: minutes, samples.
    for (const scope of active) changes.note('connections', scope);
  }

  /** Adds what this process counted; what a store that is away does not take is lost, as these are rates. */
  async function storeActivity(): Promise<void> {
    const counted = activity.take();
    if (counted.length === 0) return;
    const grains = Object.keys(grainMs) as (keyof typeof grainMs)[];
    const rows = counted.flatMap(({ at, ...row }) =>
      grains.map((grain) => ({ ...row, grain, at: iso(startOf(grain, at)) })),
    );
    await db.transaction((tx) => addToRollups(tx, rows));
    for (const scope of counted) changes.note('activity', scope);
  }

  /** Ends attempts that came to nothing, and counts who is left. */
  async function sweep(): Promise<void> {
    await endAbandoned();
    await sample();
  }

  const before = (days: number): string => iso(clock.now() - days * dayMs);

  function deleteOld(turn: Turn): Promise<number> {
    return deleteInBatches(
      { turn },
      // Each takes its timeline with it.
      (limit) => deleteOldConnections(db, before(retentionDays), Math.ceil(limit / 10)),
      (limit) => deleteOldRollups(db, 'minute', before(2), limit),
      (limit) => deleteOldRollups(db, 'hour', before(90), limit),
    );
  }

  function deleteOldOfCalls(turn: Turn): Promise<number> {
    return deleteInBatches(
      { turn },
      (limit) => deleteOldSamples(db, before(sampleDays), limit),
      (limit) => deleteOldCalls(db, before(retentionDays), limit),
    );
  }

  return {
    recorder,
    noteRequest: requests.note,
    takeNodeSamples: ({ everyMs, count, tracks, ...from }) => void samples.takeOfNode(from, { everyMs, count, tracks }),
    joinsSince: (scope, from) => sumJoins(db, scope, from),
    personalData: {
      exports: [
        { kind: 'room_connection', page: (person, place, limit) => listConnectionsOf(db, person, place, limit) },
        { kind: 'telemetry', page: (person, place, limit) => listTelemetryOf(db, person, place, limit) },
      ],
      // Few at a time: each takes its timeline with it.
      erasures: [untilNone('room connections', (erasure) => deleteConnectionsOf(db, erasure, 100))],
    },
    // Each its own, so that none stops another when it fails.
    chores: [
      { name: 'observability', everyMs: 15_000, run: sweep, onDatabaseAlone: true },
      { name: 'activity', everyMs: 5_000, run: storeActivity, onEveryProcess: true },
      { name: 'observability-retention', everyMs: 60_000, run: deleteOld, onDatabaseAlone: true },
      { name: 'call-retention', everyMs: 60_000, run: deleteOldOfCalls, onDatabaseAlone: true },
      { name: 'request-retention', everyMs: 60_000, run: requests.deleteOld, onDatabaseAlone: true },
    ],
    async stop() {
      await requests.settled();
      await storeActivity();
      await samples.settled();
      await recorder.settled();
    },
    handlers: {
      listConnections: ({ caller, query }) => reads.connections(caller, query),
      getConnection: ({ caller, params }) => reads.connection(caller, params.connectionId),
      listErrors: ({ caller, query }) => reads.errors(caller, query),
      getError: ({ caller, params }) => reads.error(caller, params.errorId),
      getMetrics: ({ caller }) => metrics(caller.projectId, caller.environment),
      getDiagnostics: () => diagnose(),
      listProjectConnections: ({ caller, query }) => reads.connections(caller, query),
      getProjectConnection: ({ caller, params }) => reads.connection(caller, params.connectionId),
      listProjectErrors: ({ caller, query }) => reads.errors(caller, query),
      getProjectError: ({ caller, params }) => reads.error(caller, params.errorId),
      getProjectMetrics: ({ caller }) => metrics(caller.projectId, caller.environment),
      getProjectDiagnostics: () => diagnose(),
      listProjectCalls: ({ caller, query }) => calls.list(caller, query),
      getProjectCall: ({ caller, params }) => calls.get(caller, params.callId),
      shareCall: ({ caller, params, body }) => calls.share(caller, params.callId, body.withoutNames ?? false),
      readSharedCall: ({ body }) => calls.readShared(body.token),
      listProjectRequests: ({ caller, query }) => requests.list(caller, query),
      getProjectRequest: ({ caller, params }) => requests.get(caller, params.requestId),
      streamProjectChanges: ({ caller, request }) => streamChanges(caller, request.bearer),
      sendTelemetry: ({ caller, body, request }) => telemetry(caller, body, request),
    },
  };
}
