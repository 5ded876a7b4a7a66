/** Time as a dependency: the only place in the node that reads the system's clocks. */
export interface MediaClock {
  /** Milliseconds with fractions, never going back. */
  now(): number;
  /** Milliseconds since the epoch. */
  wall(): number;
}

export const systemClock: MediaClock = {
  now: () => performance.now(),
  wall: () => Date.now(),
};
