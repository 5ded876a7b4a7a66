/** What is served apart from the rest (an endpoint, a provider), as this process sees it while it has work for it. */
interface Lane {
  inFlight: number;
  /** How many requests may be in flight: grows with quick successes, halves with each failure. */
  window: number;
  isReady: boolean;
  /** Counts calls of `ready`, so that work announced during a claim is not forgotten after it. */
  calls: number;
  isFailing: boolean;
}

export interface Ask {
  laneId: string;
  take: number;
  calls: number;
}

/** Shares the process's requests among lanes, so that a slow or dead one costs the others nothing. */
export interface Lanes {
  /** The lane has, or may have, something due. */
  ready(laneId: string): void;
  /** What to claim now: as even a share of the free places as the windows allow. */
  asks(): Ask[];
  /** What the claim of an ask brought. Fewer than asked for: nothing more is due. */
  claimed(ask: Ask, count: number): void;
  finished(laneId: string, result: { isDelivered: boolean; durationMs: number }): void;
  inFlight(): number;
  /** Lanes with more to do than there are places for. */
  waiting(): string[];
}

const windowStart = 4;
/** A lane that takes longer keeps its places but gets no more. */
const quickMs = 1_000;
const askMax = 200;

export function createLanes({ placesMax, windowMax }: { placesMax: number; windowMax: number }): Lanes {
  const lanes = new Map<string, Lane>();
  let total = 0;
  let failing = 0;

  function laneOf(laneId: string): Lane {
    const known = lanes.get(laneId);
    if (known) return known;
    const window = Math.min(windowStart, windowMax);
    const made: Lane = { inFlight: 0, window, isReady: false, calls: 0, isFailing: false };
    lanes.set(laneId, made);
    return made;
  }

  /** Places for this lane. Those that fail share at most half of all: however many hang, the rest get through. */
  function room(lane: Lane): number {
    const ofFailing = lane.isFailing ? Math.max(0, Math.floor(placesMax / 2) - failing) : placesMax;
    return Math.min(lane.window - lane.inFlight, ofFailing);
  }

  function drop(laneId: string, lane: Lane): void {
    if (!lane.isReady && lane.inFlight === 0) lanes.delete(laneId);
  }

  function setFailing(lane: Lane, isFailing: boolean): void {
    if (lane.isFailing === isFailing) return;
    failing += isFailing ? lane.inFlight : -lane.inFlight;
    lane.isFailing = isFailing;
  }

  return {
    ready(laneId) {
      const lane = laneOf(laneId);
      lane.isReady = true;
      lane.calls++;
    },

    asks() {
      let free = Math.min(askMax, placesMax - total);
      const open = [...lanes]
        .map(([laneId, lane]) => ({ laneId, lane, room: lane.isReady ? room(lane) : 0 }))
        .filter((entry) => entry.room > 0)
        .sort((a, b) => a.lane.inFlight - b.lane.inFlight);
      return open.flatMap(({ laneId, lane, room: most }, index): Ask[] => {
        const take = Math.min(most, Math.ceil(free / (open.length - index)));
        free -= take;
        return take > 0 ? [{ laneId, take, calls: lane.calls }] : [];
      });
    },

    claimed({ laneId, take, calls }, count) {
      const lane = laneOf(laneId);
      total += count;
      lane.inFlight += count;
      if (lane.isFailing) failing += count;
      if (count < take && lane.calls === calls) lane.isReady = false;
      drop(laneId, lane);
    },

    finished(laneId, { isDelivered, durationMs }) {
      const lane = laneOf(laneId);
      total--;
      if (lane.isFailing) failing--;
      lane.inFlight--;
      setFailing(lane, !isDelivered);
      if (!isDelivered) lane.window = Math.max(1, lane.window >> 1);
      else if (durationMs < quickMs) lane.window = Math.min(windowMax, lane.window + 1);
      drop(laneId, lane);
    },

    inFlight: () => total,
    waiting: () => [...lanes].filter(([, lane]) => lane.isReady).map(([laneId]) => laneId),
  };
}
