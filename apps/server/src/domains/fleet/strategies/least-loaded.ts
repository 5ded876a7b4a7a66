import type { ServerWithLoad } from '../server-load.ts';
import type { Strategy } from './strategy.ts';

/** Beyond this a node is taken only when there is no other, however few its participants are. */
const busyCpuPercent = 85;

const participantsOf = ({ activeParticipants, placedParticipants }: ServerWithLoad): number =>
  Math.max(activeParticipants ?? 0, placedParticipants);
const isBusy = ({ cpuPercent }: ServerWithLoad): number => ((cpuPercent ?? 0) >= busyCpuPercent ? 1 : 0);

/** Fewest participants first, then least CPU. */
export const leastLoaded: Strategy = (servers) =>
  [...servers].sort(
    (a, b) =>
      isBusy(a) - isBusy(b) ||
      participantsOf(a) - participantsOf(b) ||
      (a.cpuPercent ?? 0) - (b.cpuPercent ?? 0) ||
      a.placedRooms - b.placedRooms ||
      (a.name < b.name ? -1 : 1),
  );
