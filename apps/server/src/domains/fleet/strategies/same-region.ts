import type { Strategy } from './strategy.ts';

/** The region asked for, if a node there can take the room; region is a preference. */
export const sameRegion: Strategy = (servers, { region }) => {
  const there = region === null ? [] : servers.filter((server) => server.region === region);
  return there.length > 0 ? there : servers;
};
