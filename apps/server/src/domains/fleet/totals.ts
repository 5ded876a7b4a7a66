import type { FleetTotals, RtcServerStatus } from '@parley/contract';
import type { ServerWithLoad } from './server-load.ts';
import { statusOf } from './status.ts';

type Sums = FleetTotals['byRegion'][number];

/** Sums over the fleet. What an offline node last said of itself is no load, and its rooms are no capacity. */
export function totalsOf(servers: readonly ServerWithLoad[], silentBefore: string | null, asOf: string): FleetTotals {
  const serversByStatus: Record<RtcServerStatus, number> = { ACTIVE: 0, DRAINING: 0, DRAINED: 0, OFFLINE: 0 };
  for (const server of servers) serversByStatus[statusOf(server, silentBefore)] += 1;
  const regions = Map.groupBy(servers, ({ region }) => region);
  return {
    ...sum(servers, silentBefore),
    serversByStatus,
    byRegion: [...regions].map(([region, own]) => ({ region, ...sum(own, silentBefore) })),
    asOf,
  };
}

function sum(servers: readonly ServerWithLoad[], silentBefore: string | null): Omit<Sums, 'region'> {
  const online = servers.filter((server) => statusOf(server, silentBefore) !== 'OFFLINE');
  const pool = online.filter(({ isDraining }) => !isDraining);
  const activeRooms = add(online.map((server) => server.activeRooms)) ?? 0;
  // One node without a ceiling means that the pool has none.
  const isBounded = pool.length > 0 && pool.every(({ capacity }) => capacity !== null);
  const capacityRooms = isBounded ? add(pool.map(({ capacity }) => capacity)) : null;
  return {
    servers: servers.length,
    activeRooms,
    activeParticipants: add(online.map((server) => server.activeParticipants)) ?? 0,
    capacityRooms,
    utilizationPercent: capacityRooms === null ? null : Math.round((activeRooms / capacityRooms) * 10_000) / 100,
    networkInBps: add(online.map((server) => server.networkInBps)),
    networkOutBps: add(online.map((server) => server.networkOutBps)),
  };
}

/** The sum of what is known; null when nothing is. */
function add(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
