import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { ownTrace, type Tracer } from '../../core/tracing.ts';
import type { OrderOf } from './order.ts';
import type { ClaimedDelivery, DeliveryOutcome } from './queue-store.ts';
import type { Sender, SendResult } from './sender.ts';

export interface AttemptDeps {
  clock: Clock;
  log: Log;
  tracer: Tracer;
  limits: Limits;
  sender: Sender;
  orderOf: OrderOf;
}

/** Sends a claimed delivery once; the outcome says whether and when it is retried. */
type Attempt = (delivery: ClaimedDelivery) => Promise<{ result: SendResult; outcome: DeliveryOutcome }>;

export function createAttempt({ clock, log, tracer, limits, sender, orderOf }: AttemptDeps): Attempt {
  /** The trace goes with the request, so that the receiver's own work can join it. */
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
      return {
        isDelivered: false,
        statusCode: null,
        error: explanation,
        durationMs: 0,
        responseExcerpt: null,
        retryAfter: null,
      };
    }
  }

  const backoffMs = (attempt: number): number => limits.WEBHOOK_BACKOFF_BASE_MS * 2 ** (attempt - 1);

  function outcomeOf(delivery: ClaimedDelivery, result: SendResult, startedMs: number): DeliveryOutcome {
    const { webhookId, id, place, lease, attempt: number } = delivery;
    const { isDelivered, statusCode, error, durationMs, responseExcerpt } = result;
    const isLast = number >= limits.WEBHOOK_MAX_ATTEMPTS;
    const now = clock.now();
    return {
      webhookId,
      id,
      place,
      lease,
      at: iso(now),
      status: isDelivered ? 'DELIVERED' : isLast ? 'FAILED' : 'RETRYING',
      dueAt: isDelivered || isLast ? null : iso(now + backoffMs(number)),
      entry: { number, at: iso(startedMs), statusCode, error, durationMs, responseExcerpt },
    };
  }

  return async (delivery) => {
    const startedMs = clock.now();
    const result = await send(delivery, startedMs);
    return { result, outcome: outcomeOf(delivery, result, startedMs) };
  };
}
