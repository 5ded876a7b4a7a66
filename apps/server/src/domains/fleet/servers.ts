import {
  type FleetTotals,
  fail,
  type Heartbeat,
  type RegisteredServer,
  type RegisterServer,
  type RtcServer,
  type RtcServerLoad,
} from '@parley/contract';
import type { SessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { Answer } from '../../core/handlers.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { HostGuard } from './internal-url.ts';
import type { ServerLoad } from './server-load.ts';
import {
  deleteServer,
  findRoomsAt,
  insertNodeSample,
  listNodeLoad,
  updateDraining,
  updateHeartbeat,
  updateLeaving,
  upsertServer,
} from './server-store.ts';
import { statusOf, toRtcServer } from './status.ts';
import { totalsOf } from './totals.ts';

interface ServerDeps {
  db: Db;
  clock: Clock;
  guard: HostGuard;
  load: ServerLoad;
  metrics: Metrics;
  heartbeatTimeoutMs: number;
  silentBefore: () => string | null;
  /** Disconnects all participants on the node. */
  evacuate: (name: string) => Promise<void>;
}

const heartbeatIntervalMax = 10;
const loadMs = 60 * 60 * 1000;
const loadPointsMax = 720;
/** They would hide behind routes of the same name. */
const reservedNames = ['metrics', 'register'];

export function createServers(deps: ServerDeps) {
  const { db, clock, guard, load, metrics, heartbeatTimeoutMs, silentBefore, evacuate } = deps;
  const heartbeatTimeoutSeconds = heartbeatTimeoutMs / 1000;

  const get = async (name: string) => (await load.find(db, name)) ?? fail('SVC_SERVER_NOT_FOUND');

  async function register(body: RegisterServer, observedAddress: string): Promise<Answer<RegisteredServer>> {
    if (reservedNames.includes(body.name)) {
      const message = `name must not be ${body.name}.`;
      fail('SVC_VALIDATION_FAILED', { message, details: [{ field: 'name', rule: 'reserved', message }] });
    }
    guard.check(body.internalUrl);
    const stored = await upsertServer(db, body, iso(clock.now()), silentBefore());
    if (!stored) fail('SVC_SERVER_NAME_TAKEN');
    return new Answer(
      {
        ...toRtcServer(await get(body.name), silentBefore(), true),
        observedAddress,
        heartbeatIntervalSeconds: Math.max(1, Math.min(heartbeatIntervalMax, Math.floor(heartbeatTimeoutSeconds / 3))),
        heartbeatTimeoutSeconds,
      },
      { isRepeat: !stored.isNew },
    );
  }

  async function heartbeat(name: string, reported: Heartbeat, observedAddress: string) {
    const isKnown = await updateHeartbeat(db, name, reported, iso(clock.now()));
    if (!isKnown) fail('SVC_SERVER_NOT_FOUND');
    await insertNodeSample(db, name, reported, iso(clock.now()));
    if (reported.dataDropped) metrics.count('parley_data_dropped_total', {}, reported.dataDropped);
    const server = await get(name);
    return { status: statusOf(server, silentBefore()), draining: server.isDraining, observedAddress, commands: [] };
  }

  /** Who is on the node is moved; then nothing keeps its row but an operator who drained it. */
  async function deregister(name: string): Promise<undefined> {
    if (!(await updateLeaving(db, name, iso(clock.now())))) fail('SVC_SERVER_NOT_FOUND');
    await evacuate(name);
    await db.transaction(async (tx) => {
      const server = await load.lock(tx, name);
      // One that has registered again meanwhile does not leave any more.
      if (server?.isDraining && server.placedRooms === 0 && !server.isDrainedByOperator) await deleteServer(tx, name);
    });
  }

  const read = async (caller: SessionCaller, name: string): Promise<RtcServer> =>
    toRtcServer(await get(name), silentBefore(), caller.isOperator);

  /** How the last hour went, and how far a drain is. */
  async function readLoad(name: string): Promise<RtcServerLoad> {
    const { placedRooms: rooms, drainStartedAt, isDraining } = await get(name);
    const points = await listNodeLoad(db, name, iso(clock.now() - loadMs), loadPointsMax);
    if (!isDraining || drainStartedAt === null) return { points, drain: null };
    const before = await findRoomsAt(db, name, drainStartedAt);
    // More may be left than were reported: a room that was being placed when it began.
    return { points, drain: { startedAt: drainStartedAt, rooms, roomsAtStart: before && Math.max(before, rooms) } };
  }

  async function list(caller: SessionCaller): Promise<RtcServer[]> {
    const servers = await load.list(db);
    return servers.map((server) => toRtcServer(server, silentBefore(), caller.isOperator));
  }

  const totals = async (): Promise<FleetTotals> => totalsOf(await load.list(db), silentBefore(), iso(clock.now()));

  async function setDraining(caller: SessionCaller, name: string, isDraining: boolean): Promise<RtcServer> {
    if (!(await updateDraining(db, name, isDraining, iso(clock.now())))) fail('SVC_SERVER_NOT_FOUND');
    return read(caller, name);
  }

  async function drain(caller: SessionCaller, name: string, isForced: boolean): Promise<RtcServer> {
    await setDraining(caller, name, true);
    if (isForced) await evacuate(name);
    return read(caller, name);
  }

  return {
    register,
    heartbeat,
    deregister,
    read,
    readLoad,
    list,
    totals,
    drain,
    undrain: (caller: SessionCaller, name: string) => setDraining(caller, name, false),
  };
}
