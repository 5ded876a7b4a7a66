import type { Log } from '../log.ts';
import type { Ask, Lanes } from './lanes.ts';

interface ClaimDeps<Item> {
  log: Log;
  lanes: Lanes;
  /** Takes due items, at most what is asked for of each lane. */
  claim(asks: readonly Ask[]): Promise<Item[]>;
  laneOf(item: Item): string;
  /** Does the work of a claimed item and records its outcome. */
  work(item: Item): Promise<void>;
  /** Everything that could be claimed was. */
  onDrained(): void;
}

interface Claims {
  /** Claims while lanes have work and places are free. */
  pump(): void;
  /** Claims nothing more. */
  stop(): void;
  /** Resolves when nothing is being claimed or worked on. */
  settled(): Promise<void>;
}

export function createClaims<Item>({ log, lanes, claim, laneOf, work, onDrained }: ClaimDeps<Item>): Claims {
  const inFlight = new Set<Promise<void>>();
  let pumping: Promise<void> | null = null;
  let isStopped = false;

  /** Never more than can be worked on at once. */
  async function claimAll(): Promise<void> {
    for (let asks = lanes.asks(); asks.length > 0 && !isStopped; asks = lanes.asks()) {
      const claimed = await claim(asks);
      const perLane = Map.groupBy(claimed, laneOf);
      for (const ask of asks) lanes.claimed(ask, perLane.get(ask.laneId)?.length ?? 0);
      for (const item of claimed) track(work(item));
    }
  }

  function track(item: Promise<void>): void {
    const tracked = item
      .catch((error) => log.error({ error }, 'queued work failed in our own code'))
      .finally(() => {
        inFlight.delete(tracked);
        pump();
      });
    inFlight.add(tracked);
  }

  function pump(): void {
    if (pumping || isStopped || lanes.asks().length === 0) return;
    pumping = claimAll().then(
      () => {
        pumping = null;
        onDrained();
        // A place may have become free after the last claim and before this line.
        pump();
      },
      (error) => {
        pumping = null;
        log.warn({ error }, 'queued work not claimed; trying again');
      },
    );
  }

  return {
    pump,
    stop() {
      isStopped = true;
    },
    async settled() {
      while (pumping || inFlight.size > 0) await Promise.all([pumping, ...inFlight]);
    },
  };
}
