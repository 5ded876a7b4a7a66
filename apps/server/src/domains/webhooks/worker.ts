import type { Activity } from '../../core/activity.ts';
import type { Changes } from '../../core/changes.ts';
import { iso } from '../../core/clock.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Bus, Unsubscribe } from '../../core/ports.ts';
import { type AttemptDeps, createAttempt } from './attempt.ts';
import { createClaims } from './claims.ts';
import { createDuePoll } from './due-poll.ts';
import { createLanes } from './lanes.ts';
import { createSaveOutcomes, type OutcomeDeps } from './outcomes.ts';
import { type ClaimedDelivery, listLanes } from './queue-store.ts';
import { createRecorder } from './recorder.ts';

export interface WorkerDeps extends AttemptDeps, OutcomeDeps {
  bus: Bus;
  metrics: Metrics;
  changes: Changes;
  activity: Activity;
}

/** Makes the attempts. Any number of processes may run one on the same queue. */
export interface Worker {
  /** Something may be due for these endpoints. */
  wake(webhookIds: readonly string[]): void;
  start(): Promise<void>;
  /** Resolves when what is in flight has been recorded. */
  stop(): Promise<void>;
  /** Resolves when nothing is due and nothing in flight. */
  settled(): Promise<void>;
}

const topic = 'webhooks/due';
interface DueMessage {
  webhookIds: string[];
}

const announceEveryMs = 100;
const pollEveryMs = 1_000;

/** A delivery is claimed (`claims.ts`), sent (`attempt.ts`) and recorded (`recorder.ts`, `outcomes.ts`). */
export function createWorker(deps: WorkerDeps): Worker {
  const { db, clock, bus, log, metrics, changes, activity, limits } = deps;
  const lanes = createLanes({
    placesMax: limits.WEBHOOK_MAX_CONCURRENCY,
    windowMax: limits.WEBHOOK_MAX_CONCURRENCY_PER_ENDPOINT,
  });
  const recorder = createRecorder({ clock, log, save: createSaveOutcomes(deps) });
  const attempt = createAttempt(deps);
  const claims = createClaims({ db, clock, log, limits, lanes, deliver, onDrained: announceBacklog });
  const duePoll = createDuePoll({ clock, everyMs: pollEveryMs, poll });
  let unsubscribe: Unsubscribe = () => {};
  let announceAt = 0;
  /** At the last poll: how long the delivery that has waited longest had been due. */
  let overdueMs = 0;

  metrics.gauge('parley_webhook_requests_in_flight', 'Webhook requests in flight.', () => lanes.inFlight());
  metrics.gauge('parley_webhook_overdue_seconds', 'Age of the oldest due webhook delivery.', () => overdueMs / 1000);

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { result, outcome } = await attempt(delivery);
    if (outcome.dueAt !== null) duePoll.schedule(Date.parse(outcome.dueAt));
    try {
      await recorder.record(outcome);
    } finally {
      lanes.finished(delivery.webhookId, result);
    }
    changes.note('webhooks', delivery.endpoint);
    activity.count(result.isDelivered ? 'delivered' : 'undelivered', delivery.endpoint);
    metrics.count('parley_webhook_attempts_total', { result: result.isDelivered ? 'delivered' : 'failed' });
    if (!result.isDelivered) return;
    metrics.observe('parley_webhook_delivery_seconds', (clock.now() - Date.parse(delivery.queuedAt)) / 1000);
  }

  /** More is due than this process can take: others need not wait for their next poll. */
  function announceBacklog(): void {
    const webhookIds = lanes.waiting();
    if (webhookIds.length === 0 || clock.elapsed() < announceAt) return;
    announceAt = clock.elapsed() + announceEveryMs;
    bus.publish(topic, { webhookIds } satisfies DueMessage);
  }

  function wake(webhookIds: readonly string[]): void {
    for (const webhookId of webhookIds) lanes.ready(webhookId);
    claims.pump();
  }

  /** Finds what was not announced: retries, resumed endpoints, what other processes left. */
  async function findDue(): Promise<void> {
    const now = clock.now();
    const due = (await listLanes(db, iso(now))).map(({ webhookId, dueAt }) => ({
      webhookId,
      dueMs: Date.parse(dueAt),
    }));
    const next = Math.min(...due.filter(({ dueMs }) => dueMs > now).map(({ dueMs }) => dueMs));
    overdueMs = Math.max(0, ...due.map(({ dueMs }) => now - dueMs));
    wake(due.filter(({ dueMs }) => dueMs <= now).map(({ webhookId }) => webhookId));
    duePoll.schedule(next);
  }

  function poll(): Promise<void> {
    return findDue().catch((error) => log.warn({ error }, 'webhook queue not read; trying again'));
  }

  return {
    wake,
    async start() {
      // Only our own processes publish here.
      unsubscribe = await bus.subscribe(topic, (message) => wake((message as DueMessage).webhookIds));
      duePoll.start();
    },
    async settled() {
      await findDue();
      await claims.settled();
    },
    async stop() {
      claims.stop();
      unsubscribe();
      await duePoll.stop();
      await claims.settled();
    },
  };
}
