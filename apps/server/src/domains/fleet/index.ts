import type { FleetTotals, fleetRoutes, MediaReach } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import { type Turn as ChoreTurn, deleteInBatches, sampleDays } from '../../core/delete-in-batches.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Domain } from '../../core/part.ts';
import { chooseServer, mayTakeRoom } from './allocator.ts';
import { createHostGuard } from './internal-url.ts';
import { createNodeLinks, type NodeLinks } from './node-links.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { type CountPlaced, createServerLoad, type ServerWithLoad } from './server-load.ts';
import { deleteOldNodeSamples, findServer, listNodeSamples, listServers, type StoredServer } from './server-store.ts';
import { createServers } from './servers.ts';
import { isOffline as isOfflineSince } from './status.ts';
import { createTurn, isOutside, type Turn } from './turn.ts';
import { beatEveryMs, createWatch, type Watch } from './watch.ts';

export { MediaRefusal, type NodeHello } from './control-link.ts';
export { asServiceError, type Nodes } from './nodes.ts';
export type { PlacedLoad } from './server-load.ts';
export type { Turn } from './turn.ts';
export type { Watch } from './watch.ts';

/** Why the rooms of a node have to move. */
type Evacuation =
  | { server: string; reason: 'NODE_DRAINED' }
  /** Offline or restarted: what was there ended when it was last seen. */
  | { server: string; reason: 'MEDIA_FAILURE'; signs: SignsOfLife; exceptInstance: string | null };

/** When a node was last seen, in this life of it and in the one before its latest registration. */
export type SignsOfLife = Pick<StoredServer, 'registeredAt' | 'seenAt' | 'previousSeenAt'>;

interface FleetDeps {
  db: Db;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** New at each start of this process. */
  processId: string;
  sfuSecrets: readonly string[];
  sfuAllowedHosts: readonly string[];
  heartbeatTimeoutMs: number;
  countPlaced: CountPlaced;
  /** Where a server ends TLS itself and passes TURN on; null when none does. */
  turnFrontDoor: { host: string; port: number } | null;
  /** TURN and STUN servers beside those of the nodes (RTC_TURN_URLS). */
  outsideRelays: readonly string[];
  isProduction: boolean;
}

export interface Fleet extends Domain<typeof fleetRoutes> {
  nodes: Nodes;
  links: NodeLinks;
  turn: Turn;
  watch: Watch;
  /** The best node for a room, or undefined. */
  choose(region: string | null, except: ReadonlySet<string>): Promise<ServerWithLoad | undefined>;
  /** The best node of a region, or undefined. */
  chooseIn(region: string, except: ReadonlySet<string>): Promise<ServerWithLoad | undefined>;
  find(name: string): Promise<StoredServer | undefined>;
  isOffline(server: StoredServer): boolean;
  /** Names of nodes that should be there and are not; null while this process cannot know. */
  offlineNodes(): Promise<string[] | null>;
  /** Holds the node's row and says whether it may take one more room: true until the transaction ends. */
  mayTake(tx: Tx, name: string): Promise<boolean>;
  /** Whether any node, but the one with this name, is alive and in the pool. */
  takesRooms(options?: { except: string | null }): Promise<boolean>;
  onEvacuate(listener: (evacuation: Evacuation) => Promise<void>): void;
  totals(): Promise<FleetTotals>;
  /** What a node said of its load in a time. */
  loadOf(name: string, from: string, until: string): Promise<{ at: string; cpuPercent: number | null }[]>;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Anybody may ask for it, as often as they like. */
const reachTtlMs = 5_000;

export function createFleet(deps: FleetDeps): Fleet {
  const { db, clock, log, metrics, processId, sfuSecrets, sfuAllowedHosts, heartbeatTimeoutMs, countPlaced } = deps;
  const load = createServerLoad(countPlaced);
  const reach = createCache<MediaReach>({ clock, ttlMs: reachTtlMs, sizeMax: 1 });
  const watch = createWatch({ db, clock, processId });
  const guard = createHostGuard(sfuAllowedHosts);
  const silentBefore = () => watch.silentBefore(heartbeatTimeoutMs);
  const isOffline = (server: StoredServer): boolean => isOfflineSince(server, silentBefore());
  /** One that is drained, or said that it ends, may go. */
  const isMissed = (server: StoredServer): boolean => isOffline(server) && !server.isDraining;
  const evacuations: ((evacuation: Evacuation) => Promise<void>)[] = [];

  async function evacuate(evacuation: Evacuation): Promise<void> {
    for (const listener of evacuations) await listener(evacuation);
  }

  const nodes = createNodes({
    clock,
    log,
    metrics,
    guard,
    secrets: sfuSecrets,
    processId,
    async findLive(name) {
      const server = await findServer(db, name);
      return server && !isOffline(server) ? server : undefined;
    },
  });

  const links = createNodeLinks({ log, nodes, guard });

  const turn = createTurn({
    clock,
    guard,
    nodes,
    secrets: sfuSecrets,
    frontDoor: deps.turnFrontDoor,
    listLive: async () => (await listServers(db)).filter((server) => !isOffline(server)),
  });

  nodes.onHello((name, { instanceId }) => {
    void evacuateFormerInstance(name, instanceId).catch((error) =>
      log.warn({ error, server: name }, 'rooms not moved yet'),
    );
  });

  /** A node that restarted has none of the rooms it had before. */
  async function evacuateFormerInstance(name: string, instanceId: string): Promise<void> {
    const server = await findServer(db, name);
    if (!server) return;
    await evacuate({ server: name, reason: 'MEDIA_FAILURE', signs: server, exceptInstance: instanceId });
  }

  async function evacuateOfflineNodes(): Promise<void> {
    // Most of the time none is: then nobody asks what was placed on them.
    if (!(await listServers(db)).some(isOffline)) return;
    for (const server of await load.list(db)) {
      if (server.placedRooms === 0 || !isOffline(server)) continue;
      await evacuate({ server: server.name, reason: 'MEDIA_FAILURE', signs: server, exceptInstance: null });
    }
  }

  const servers = createServers({
    db,
    clock,
    guard,
    load,
    metrics,
    heartbeatTimeoutMs,
    silentBefore,
    evacuate: (name) => evacuate({ server: name, reason: 'NODE_DRAINED' }),
  });

  /** Our own sign of life, the silent connections and the silent nodes. */
  async function beat(): Promise<void> {
    await watch.beat();
    nodes.tick();
    await evacuateOfflineNodes();
  }

  const choose: Fleet['choose'] = async (region, except) =>
    chooseServer(await load.list(db), { region, except, silentBefore: silentBefore() });

  /** In parts: what a part leaves is taken by the next. */
  function deleteOldSamples(turn: ChoreTurn): Promise<number> {
    const before = iso(clock.now() - sampleDays * dayMs);
    return deleteInBatches({ turn }, (limit) => deleteOldNodeSamples(db, before, limit));
  }

  /** Of one node, as a client would hear of one: strangers do not get a list of the fleet. */
  async function mediaReach(): Promise<MediaReach> {
    const node = await choose(null, new Set());
    const relays = [...(node ? await turn.urls(node.name) : []), ...deps.outsideRelays];
    return { relays: deps.isProduction ? relays.filter(isOutside) : relays };
  }

  return {
    nodes,
    links,
    turn,
    watch,
    isOffline,
    chores: [
      { name: 'fleet', everyMs: beatEveryMs, run: beat, onEveryProcess: true },
      { name: 'old-processes', everyMs: 60_000, run: watch.forgetProcesses, onDatabaseAlone: true },
      { name: 'node-samples', everyMs: 60_000, run: deleteOldSamples, onDatabaseAlone: true },
    ],
    loadOf: (name, from, until) => listNodeSamples(db, name, from, until),
    choose,
    async chooseIn(region, except) {
      const there = (await load.list(db)).filter((server) => server.region === region);
      return chooseServer(there, { region, except, silentBefore: silentBefore() });
    },
    find: (name) => findServer(db, name),
    offlineNodes: async () =>
      silentBefore() === null ? null : (await listServers(db)).filter(isMissed).map(({ name }) => name),
    totals: servers.totals,
    async mayTake(tx, name) {
      const server = await load.lock(tx, name);
      return server !== undefined && mayTakeRoom(server, silentBefore());
    },
    onEvacuate: (listener) => void evacuations.push(listener),
    takesRooms: async ({ except } = { except: null }) =>
      (await listServers(db)).some((server) => server.name !== except && !server.isDraining && !isOffline(server)),
    start: () => watch.beat(),
    stop: () => nodes.close(),
    handlers: {
      getMediaReach: () => reach.get('', mediaReach),
      listServers: ({ caller }) => servers.list(caller),
      getFleetTotals: () => servers.totals(),
      getServer: ({ caller, params }) => servers.read(caller, params.name),
      getServerLoad: ({ params }) => servers.readLoad(params.name),
      drainServer: ({ caller, params, body }) => servers.drain(caller, params.name, body.force ?? false),
      undrainServer: ({ caller, params }) => servers.undrain(caller, params.name),
      registerServer: ({ body, request }) => servers.register(body, request.ip),
      heartbeatServer: ({ params, body, request }) => servers.heartbeat(params.name, body, request.ip),
      deregisterServer: ({ params }) => servers.deregister(params.name),
    },
  };
}
