import type { Strategy } from './strategy.ts';

/** Capacity is a ceiling. What we placed counts too: a node may report less than it holds, by lag or by fault. */
export const underCapacity: Strategy = (servers) =>
  servers.filter(
    ({ capacity, activeRooms, placedRooms }) => capacity === null || Math.max(activeRooms ?? 0, placedRooms) < capacity,
  );
