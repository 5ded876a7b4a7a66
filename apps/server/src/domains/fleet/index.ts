import type { FleetTotals, fleetRoutes } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Handlers } from '../../core/handlers.ts';
import type { Log } from '../../core/log.ts';
import { chooseServer, mayTakeRoom } from './allocator.ts';
import { createHostGuard } from './internal-url.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { findServer, listServers, lockServer, type StoredServer } from './server-store.ts';
import { createServers } from './servers.ts';
import { statusOf } from './status.ts';
import { beatEveryMs, createWatch, type Watch } from './watch.ts';

export { MediaRefusal, type NodeHello } from './control-link.ts';
export { asServiceError, type Nodes } from './nodes.ts';
export type { StoredServer } from './server-store.ts';
export type { Watch } from './watch.ts';

/** Why the rooms of a node have to move. */
export type Evacuation =
  | { server: string; reason: 'NODE_DRAINED' }
  /** Dead, or started anew: what was there ended when it was last seen. */
  | { server: string; reason: 'MEDIA_FAILURE'; signs: SignsOfLife; exceptInstance: string | null };

/** When a node was last seen, in this life of it and in the one before its latest registration. */
export type SignsOfLife = Pick<StoredServer, 'registeredAt' | 'seenAt' | 'previousSeenAt'>;

export interface FleetDeps {
  db: Db;
  clock: Clock;
  log: Log;
  /** New at each start of this process. */
  processId: string;
  sfuSecrets: readonly string[];
  sfuAllowedHosts: readonly string[];
  heartbeatTimeoutMs: number;
}

export interface Fleet {
  handlers: Handlers<typeof fleetRoutes>;
  nodes: Nodes;
  watch: Watch;
  /** The best node for a room, or undefined. */
  choose(region: string | null, except: ReadonlySet<string>): Promise<StoredServer | undefined>;
  find(name: string): Promise<StoredServer | undefined>;
  isOffline(server: StoredServer): boolean;
  /** Holds the node's row and says whether it may take one more room: true until the transaction ends. */
  mayTake(tx: Tx, name: string): Promise<StoredServer | null>;
  onEvacuate(listener: (evacuation: Evacuation) => Promise<void>): void;
  totals(): Promise<FleetTotals>;
  readonly beatEveryMs: number;
  /** Our own sign of life, the silent connections and the silent nodes. */
  beat(): Promise<void>;
  start(): Promise<void>;
  stop(): void;
}

export function createFleet({
  db,
  clock,
  log,
  processId,
  sfuSecrets,
  sfuAllowedHosts,
  heartbeatTimeoutMs,
}: FleetDeps): Fleet {
  const watch = createWatch({ db, clock, processId });
  const guard = createHostGuard(sfuAllowedHosts);
  const silentBefore = () => watch.silentBefore(heartbeatTimeoutMs);
  const isOffline = (server: StoredServer): boolean => statusOf(server, silentBefore()) === 'OFFLINE';
  const evacuations: ((evacuation: Evacuation) => Promise<void>)[] = [];

  async function evacuate(evacuation: Evacuation): Promise<void> {
    for (const listener of evacuations) await listener(evacuation);
  }

  const nodes = createNodes({
    clock,
    log,
    guard,
    secrets: sfuSecrets,
    processId,
    async findLive(name) {
      const server = await findServer(db, name);
      return server && !isOffline(server) ? server : undefined;
    },
  });

  nodes.onHello((name, { instanceId }) => {
    void endFormerLife(name, instanceId).catch((error) => log.warn({ error, server: name }, 'rooms not moved yet'));
  });

  /** A node that started anew has none of the rooms that its former self had. */
  async function endFormerLife(name: string, instanceId: string): Promise<void> {
    const server = await findServer(db, name);
    if (!server) return;
    await evacuate({ server: name, reason: 'MEDIA_FAILURE', signs: server, exceptInstance: instanceId });
  }

  async function buryTheDead(): Promise<void> {
    for (const server of await listServers(db)) {
      if (server.placedRooms === 0 || !isOffline(server)) continue;
      await evacuate({ server: server.name, reason: 'MEDIA_FAILURE', signs: server, exceptInstance: null });
    }
  }

  const servers = createServers({
    db,
    clock,
    guard,
    heartbeatTimeoutMs,
    silentBefore,
    evacuate: (name) => evacuate({ server: name, reason: 'NODE_DRAINED' }),
  });

  return {
    nodes,
    watch,
    isOffline,
    beatEveryMs,
    choose: async (region, except) =>
      chooseServer(await listServers(db), { region, except, silentBefore: silentBefore() }),
    find: (name) => findServer(db, name),
    totals: servers.totals,
    async mayTake(tx, name) {
      const server = await lockServer(tx, name);
      return server && mayTakeRoom(server, silentBefore()) ? server : null;
    },
    onEvacuate: (listener) => void evacuations.push(listener),
    async beat() {
      await watch.beat();
      nodes.tick();
      await buryTheDead();
    },
    start: () => watch.beat(),
    stop: () => nodes.close(),
    handlers: {
      listServers: ({ caller }) => servers.list(caller),
      getFleetTotals: () => servers.totals(),
      getServer: ({ caller, params }) => servers.read(caller, params.name),
      drainServer: ({ caller, params, body }) => servers.drain(caller, params.name, body.force ?? false),
      undrainServer: ({ caller, params }) => servers.undrain(caller, params.name),
      registerServer: ({ body }) => servers.register(body),
      heartbeatServer: ({ params, body }) => servers.heartbeat(params.name, body),
    },
  };
}
