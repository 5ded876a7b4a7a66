import type { Activity } from '../../core/activity.ts';
import type { Changes } from '../../core/changes.ts';
import { iso } from '../../core/clock.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Bus } from '../../core/ports.ts';
import { createRecorder } from '../../core/queue/recorder.ts';
import { createQueueWorker, type QueueWorker, type Worked } from '../../core/queue/worker.ts';
import { type AttemptDeps, createAttempt } from './attempt.ts';
import { createSaveOutcomes, type OutcomeDeps } from './outcomes.ts';
import { type ClaimedDelivery, claimDeliveries, isWaiting, listLanes } from './queue-store.ts';

interface WorkerDeps extends AttemptDeps, OutcomeDeps {
  bus: Bus;
  metrics: Metrics;
  changes: Changes;
  activity: Activity;
}

/** Between the end of an attempt and the record of its outcome. */
const recordMs = 1_000;

/** Makes the attempts: a delivery is claimed, sent (`attempt.ts`) and recorded (`outcomes.ts`). An endpoint is a lane. */
export function createWorker(deps: WorkerDeps): QueueWorker {
  const { db, clock, log, metrics, changes, activity, limits } = deps;
  const recorder = createRecorder({ clock, log, save: createSaveOutcomes(deps) });
  const attempt = createAttempt(deps);
  const worker = createQueueWorker<ClaimedDelivery>({
    ...deps,
    name: 'webhooks',
    placesMax: limits.WEBHOOK_MAX_CONCURRENCY,
    windowMax: limits.WEBHOOK_MAX_CONCURRENCY_PER_ENDPOINT,
    isWaiting: () => isWaiting,
    listLanes: (now) => listLanes(db, now),
    claim: (asks) =>
      claimDeliveries(
        db,
        asks.map(({ laneId, take }) => ({ webhookId: laneId, take })),
        {
          now: iso(clock.now()),
          holdMs: limits.WEBHOOK_TIMEOUT_MS + recordMs,
          backoffBaseMs: limits.WEBHOOK_BACKOFF_BASE_MS,
          attemptsMax: limits.WEBHOOK_MAX_ATTEMPTS,
        },
      ),
    laneOf: ({ webhookId }) => webhookId,
    work: deliver,
  });

  metrics.gauge('parley_webhook_requests_in_flight', 'Webhook requests in flight.', () => worker.inFlight());
  metrics.gauge(
    'parley_webhook_overdue_seconds',
    'Age of the oldest due webhook delivery.',
    () => worker.overdueMs() / 1000,
  );

  async function deliver(delivery: ClaimedDelivery): Promise<Worked> {
    const { result, outcome } = await attempt(delivery);
    if (outcome.dueAt !== null) worker.schedule(Date.parse(outcome.dueAt));
    await recorder.record(outcome);
    changes.note('webhooks', delivery.endpoint);
    activity.count(result.isDelivered ? 'delivered' : 'undelivered', delivery.endpoint);
    metrics.count('parley_webhook_attempts_total', { result: result.isDelivered ? 'delivered' : 'failed' });
    if (result.isDelivered)
      metrics.observe('parley_webhook_delivery_seconds', (clock.now() - Date.parse(delivery.queuedAt)) / 1000);
    return result;
  }

  return worker;
}
