import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Lanes } from './lanes.ts';
import { type ClaimedDelivery, claimDeliveries } from './queue-store.ts';

interface ClaimDeps {
  db: Db;
  clock: Clock;
  log: Log;
  limits: Limits;
  lanes: Lanes;
  /** Sends a claimed delivery and records its outcome. */
  deliver(delivery: ClaimedDelivery): Promise<void>;
  /** Everything that could be claimed was. */
  onDrained(): void;
}

export interface Claims {
  /** Claims while endpoints have work and places are free. */
  pump(): void;
  /** Claims nothing more. */
  stop(): void;
  /** Resolves when nothing is being claimed or delivered. */
  settled(): Promise<void>;
}

/** Between the end of an attempt and the record of its outcome. */
const recordMs = 1_000;

export function createClaims({ db, clock, log, limits, lanes, deliver, onDrained }: ClaimDeps): Claims {
  const inFlight = new Set<Promise<void>>();
  let pumping: Promise<void> | null = null;
  let isStopped = false;

  /** Never more than can be sent at once. */
  async function claimAll(): Promise<void> {
    for (let asks = lanes.asks(); asks.length > 0 && !isStopped; asks = lanes.asks()) {
      const claimed = await claimDeliveries(db, asks, {
        now: iso(clock.now()),
        holdMs: limits.WEBHOOK_TIMEOUT_MS + recordMs,
        backoffBaseMs: limits.WEBHOOK_BACKOFF_BASE_MS,
        attemptsMax: limits.WEBHOOK_MAX_ATTEMPTS,
      });
      const perLane = Map.groupBy(claimed, ({ webhookId }) => webhookId);
      for (const ask of asks) lanes.claimed(ask, perLane.get(ask.webhookId)?.length ?? 0);
      for (const delivery of claimed) track(deliver(delivery));
    }
  }

  function track(delivery: Promise<void>): void {
    const tracked = delivery
      .catch((error) => log.error({ error }, 'webhook attempt failed in our own code'))
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
        log.warn({ error }, 'webhook deliveries not claimed; trying again');
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
