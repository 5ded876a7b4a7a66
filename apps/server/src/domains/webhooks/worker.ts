import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { StoredEvent } from '../../core/event-store.ts';
import { insertEvents } from '../../core/event-store.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Bus, Unsubscribe } from '../../core/ports.ts';
import { ownTrace, type Tracer } from '../../core/tracing.ts';
import { createLanes } from './lanes.ts';
import type { OrderOf } from './order.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryOutcome,
  type EndpointTally,
  listLanes,
  recordOutcomes,
  type TrippedEndpoint,
} from './queue-store.ts';
import { createRecorder } from './recorder.ts';
import type { Sender, SendResult } from './sender.ts';

export interface WorkerDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  bus: Bus;
  log: Log;
  metrics: Metrics;
  tracer: Tracer;
  limits: Limits;
  sender: Sender;
  orderOf: OrderOf;
  /** Dispatches the events that the worker itself records. */
  onCommitted: (events: readonly StoredEvent[]) => void;
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
interface CallForHelp {
  webhookIds: string[];
}

const helpEveryMs = 100;
const lookEveryMs = 1_000;
/** Between the end of an attempt and the record of its outcome. */
const recordMs = 1_000;

export function createWorker(deps: WorkerDeps): Worker {
  const { db, clock, ids, bus, log, metrics, tracer, limits, sender, orderOf, onCommitted } = deps;
  const lanes = createLanes({
    placesMax: limits.WEBHOOK_MAX_CONCURRENCY,
    windowMax: limits.WEBHOOK_MAX_CONCURRENCY_PER_ENDPOINT,
  });
  const recorder = createRecorder({ clock, log, save });
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let pumping: Promise<void> | null = null;
  let looking: Promise<void> = Promise.resolve();
  let unsubscribe: Unsubscribe = () => {};
  let helpAt = 0;
  /** At the last look: how long the delivery that has waited longest had been due. */
  let overdueMs = 0;
  let alarm = new AbortController();
  let alarmAt = Number.POSITIVE_INFINITY;

  metrics.gauge('parley_webhook_requests_in_flight', 'Webhook requests in flight.', () => lanes.inFlight());

  metrics.gauge('parley_webhook_overdue_seconds', 'Age of the oldest due webhook delivery.', () => overdueMs / 1000);

  const backoffMs = (attempt: number): number => limits.WEBHOOK_BACKOFF_BASE_MS * 2 ** (attempt - 1);

  /** One statement; a transaction only where an endpoint might be disabled, which is an event too. */
  async function save(outcomes: readonly DeliveryOutcome[], tallies: readonly EndpointTally[]): Promise<void> {
    const disableAfter = limits.WEBHOOK_DISABLE_AFTER_FAILURES;
    if (tallies.every((tally) => tally.lead + tally.run === 0)) {
      await recordOutcomes(db, outcomes, tallies, disableAfter);
      return;
    }
    const events = await db.transaction(async (tx) => {
      const tripped = await recordOutcomes(tx, outcomes, tallies, disableAfter);
      const made = tripped.map(disabledEvent);
      await insertEvents(tx, made);
      return made;
    });
    if (events.length > 0) onCommitted(events);
  }

  function disabledEvent({ projectId, environment, ...endpoint }: TrippedEndpoint): StoredEvent {
    const { webhookId, url, consecutiveFailures, lastError, disabledAt } = endpoint;
    log.warn({ webhookId, projectId, consecutiveFailures }, 'webhook disabled after failures in a row');
    return {
      id: ids.newId('event'),
      projectId,
      environment,
      type: 'webhook.disabled',
      topic: null,
      data: { webhookId, url, consecutiveFailures, lastError, disabledAt },
      createdAt: iso(clock.now()),
    };
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const startedMs = clock.now();
    const result = await send(delivery, startedMs);
    try {
      await recorder.record(outcomeOf(delivery, result, startedMs));
    } finally {
      lanes.finished(delivery.webhookId, result);
    }
    metrics.count('parley_webhook_attempts_total', { result: result.isDelivered ? 'delivered' : 'failed' });
    if (!result.isDelivered) return;
    metrics.observe('parley_webhook_delivery_seconds', (clock.now() - Date.parse(delivery.queuedAt)) / 1000);
  }

  /** The receiver gets the trace, so that its own work can join it. */
  function send(delivery: ClaimedDelivery, nowMs: number): Promise<SendResult> {
    const attributes = {
      'parley.project_id': delivery.endpoint.projectId,
      'parley.event_id': delivery.eventId,
      'parley.event_type': delivery.eventType,
      'parley.delivery_id': delivery.id,
      'parley.attempt': delivery.attempt,
    };
    return tracer.trace('webhook attempt', { kind: 'client', parent: ownTrace, attributes }, async (span) => {
      const result = await post(delivery, nowMs, span?.traceparent);
      span?.set({ 'http.response.status_code': result.statusCode, 'error.message': result.error });
      span?.end({ isFailed: !result.isDelivered });
      return result;
    });
  }

  async function post(delivery: ClaimedDelivery, nowMs: number, traceparent?: string): Promise<SendResult> {
    try {
      const order = orderOf(delivery, nowMs);
      return await sender.send(traceparent ? { ...order, headers: { ...order.headers, traceparent } } : order);
    } catch (error) {
      // The secret was sealed under another SECRET_KEY: the endpoint cannot be served, which its owner must see.
      log.error({ error, webhookId: delivery.webhookId }, 'webhook request could not be made');
      const explanation = 'The delivery could not be signed on our side.';
      return { isDelivered: false, statusCode: null, error: explanation, durationMs: 0, responseExcerpt: null };
    }
  }

  function outcomeOf(delivery: ClaimedDelivery, result: SendResult, startedMs: number): DeliveryOutcome {
    const { webhookId, id, place, lease, attempt: number } = delivery;
    const { isDelivered, statusCode, error, durationMs, responseExcerpt } = result;
    const isLast = number >= limits.WEBHOOK_MAX_ATTEMPTS;
    const dueAtMs = clock.now() + backoffMs(number);
    if (!isDelivered && !isLast) ring(dueAtMs);
    return {
      webhookId,
      id,
      place,
      lease,
      at: iso(clock.now()),
      status: isDelivered ? 'DELIVERED' : isLast ? 'FAILED' : 'RETRYING',
      dueAt: isDelivered || isLast ? null : iso(dueAtMs),
      entry: { number, at: iso(startedMs), statusCode, error, durationMs, responseExcerpt },
    };
  }

  /** Claims as long as endpoints have work and places are free. Never more than can be started at once. */
  async function pump(): Promise<void> {
    for (let asks = lanes.asks(); asks.length > 0 && !stopping.signal.aborted; asks = lanes.asks()) {
      const claimed = await claimDeliveries(db, asks, {
        now: iso(clock.now()),
        holdMs: limits.WEBHOOK_TIMEOUT_MS + recordMs,
        backoffBaseMs: limits.WEBHOOK_BACKOFF_BASE_MS,
        attemptsMax: limits.WEBHOOK_MAX_ATTEMPTS,
      });
      const perLane = Map.groupBy(claimed, ({ webhookId }) => webhookId);
      for (const ask of asks) lanes.claimed(ask, perLane.get(ask.webhookId)?.length ?? 0);
      for (const delivery of claimed) run(attempt(delivery));
    }
  }

  function run(work: Promise<void>): void {
    const tracked = work
      .catch((error) => log.error({ error }, 'webhook attempt failed in our own code'))
      .finally(() => {
        running.delete(tracked);
        keepPumping();
      });
    running.add(tracked);
  }

  function keepPumping(): void {
    if (pumping || stopping.signal.aborted || lanes.asks().length === 0) return;
    pumping = pump().then(
      () => {
        pumping = null;
        callForHelp();
        // A place may have become free after the last claim and before this line.
        keepPumping();
      },
      (error) => {
        pumping = null;
        log.warn({ error }, 'webhook deliveries not claimed; trying again');
      },
    );
  }

  /** More is due than this process can take: others need not wait for their next look. */
  function callForHelp(): void {
    const waiting = lanes.waiting();
    if (waiting.length === 0 || clock.elapsed() < helpAt) return;
    helpAt = clock.elapsed() + helpEveryMs;
    bus.publish(topic, { webhookIds: waiting } satisfies CallForHelp);
  }

  function wake(webhookIds: readonly string[]): void {
    for (const webhookId of webhookIds) lanes.ready(webhookId);
    keepPumping();
  }

  /** Finds what nobody told us of: retries, resumed endpoints, what other processes left. */
  async function look(): Promise<void> {
    const now = clock.now();
    const due = (await listLanes(db, iso(now))).map(({ webhookId, dueAt }) => ({
      webhookId,
      dueMs: Date.parse(dueAt),
    }));
    const next = Math.min(...due.filter(({ dueMs }) => dueMs > now).map(({ dueMs }) => dueMs));
    overdueMs = Math.max(0, ...due.map(({ dueMs }) => now - dueMs));
    wake(due.filter(({ dueMs }) => dueMs <= now).map(({ webhookId }) => webhookId));
    ring(next);
  }

  /** Brings the next look forward to this time. */
  function ring(atMs: number): void {
    if (atMs >= alarmAt) return;
    alarmAt = atMs;
    alarm.abort();
  }

  async function lookUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const now = clock.now();
      if (alarmAt > now) {
        alarm = new AbortController();
        const wait = Math.min(lookEveryMs, alarmAt - now);
        await clock.sleep(wait, alarm.signal);
        if (alarm.signal.aborted) continue;
      }
      alarmAt = Number.POSITIVE_INFINITY;
      await look().catch((error) => log.warn({ error }, 'webhook queue not read; trying again'));
    }
  }

  return {
    wake,
    async start() {
      // Only our own processes publish here.
      unsubscribe = await bus.subscribe(topic, (message) => wake((message as CallForHelp).webhookIds));
      looking = lookUntilStopped();
    },
    async settled() {
      await look();
      while (pumping || running.size > 0) await Promise.all([pumping, ...running]);
    },
    async stop() {
      stopping.abort();
      alarm.abort();
      unsubscribe();
      await looking;
      while (pumping || running.size > 0) await Promise.all([pumping, ...running]);
    },
  };
}
