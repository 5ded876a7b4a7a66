import type { Limits } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Bus } from '../../core/ports.ts';
import { createRecorder } from '../../core/queue/recorder.ts';
import { createQueueWorker, type QueueWorker, type Worked } from '../../core/queue/worker.ts';
import type { PushAddress } from './device-store.ts';
import { notificationOf } from './notification.ts';
import {
  type ClaimedPush,
  claimPushes,
  isWaiting,
  listLanes,
  type PushOutcome,
  recordOutcomes,
} from './queue-store.ts';
import type { Settings } from './settings.ts';
import type { SettingsRow } from './settings-store.ts';
import type { PushAnswer, Transport } from './transport.ts';

type Transports = { [Kind in PushAddress['kind']]: Transport<Kind> };

interface SendingDeps {
  db: Db;
  clock: Clock;
  log: Log;
  bus: Bus;
  metrics: Metrics;
  limits: Limits;
  settings: Pick<Settings, 'load'>;
  transports: Transports;
}

/** Between the end of an attempt and the record of its outcome. */
const recordMs = 5_000;
const pollEveryMs = 2_000;
/** Longer than this nobody need be told that there was a message. */
const waitMaxMs = 3_600_000;

/** Sends what is queued: a notification is claimed, sent and recorded. A push service of an environment is a lane. */
export function createSending(deps: SendingDeps): QueueWorker {
  const { db, clock, log, metrics, limits, settings, transports } = deps;
  const recorder = createRecorder<PushOutcome>({ clock, log, save: (outcomes) => recordOutcomes(db, outcomes) });
  /** A burst to many devices reads the keys once. */
  const rows = createCache<SettingsRow>({ clock, ttlMs: 1_000, sizeMax: 1_000 });
  const worker = createQueueWorker<ClaimedPush>({
    ...deps,
    name: 'push',
    placesMax: limits.PUSH_MAX_CONCURRENCY,
    // An instance may have one environment and one service: it is not to wait for places that nobody else wants.
    windowMax: Math.ceil(limits.PUSH_MAX_CONCURRENCY / 2),
    pollEveryMs,
    isWaiting: () => isWaiting,
    listLanes: (now) => listLanes(db, now),
    claim(asks) {
      const now = clock.now();
      return claimPushes(db, asks, { now: iso(now), lease: iso(now + limits.PUSH_TIMEOUT_MS + recordMs) });
    },
    laneOf: ({ laneId }) => laneId,
    work: deliver,
  });

  metrics.gauge('parley_push_requests_in_flight', 'Notification requests in flight.', () => worker.inFlight());
  metrics.gauge('parley_push_overdue_seconds', 'Age of the oldest due notification.', () => worker.overdueMs() / 1000);

  async function deliver(push: ClaimedPush): Promise<Worked> {
    const startedMs = clock.elapsed();
    const answer = isDue(push) ? await send(push) : null;
    const outcome = outcomeOf(push, answer);
    if (outcome.result === 'RETRY') worker.schedule(Date.parse(outcome.dueAt));
    await recorder.record(outcome);
    if (answer) metrics.count('parley_push_attempts_total', { result: answer.is.toLowerCase() });
    const isDelivered = answer === null || answer.is === 'SENT' || answer.is === 'GONE';
    return { isDelivered, durationMs: clock.elapsed() - startedMs };
  }

  /** What a killed process began counts too. */
  const isDue = ({ isWanted, attempt }: ClaimedPush): boolean => isWanted && attempt <= limits.PUSH_MAX_ATTEMPTS;

  async function send(push: ClaimedPush): Promise<PushAnswer> {
    const { projectId, environment, address } = push;
    try {
      const row = await rows.get(`${projectId}/${environment}`, () => settings.load(push));
      const order = { environment, settings: row, notification: notificationOf(push, row.content) };
      switch (address.kind) {
        case 'WEB_PUSH':
          return await transports.WEB_PUSH.send({ ...order, address });
        case 'FCM':
          return await transports.FCM.send({ ...order, address });
        case 'APNS':
          return await transports.APNS.send({ ...order, address });
      }
    } catch (error) {
      // The keys were sealed under another SECRET_KEY, or the database is away.
      log.error({ error, projectId, kind: address.kind }, 'notification could not be made');
      return { is: 'BUSY', why: 'The notification could not be made on our side.', afterMs: null };
    }
  }

  function outcomeOf(push: ClaimedPush, answer: PushAnswer | null): PushOutcome {
    const { deviceId, registeredAt, conversationUuid, version, lease, attempt, projectId, address } = push;
    const now = clock.now();
    const ended = { deviceId, registeredAt, conversationUuid, version, lease, dueAt: iso(now) };
    if (answer === null || answer.is === 'SENT') return { ...ended, result: 'DONE' };
    if (answer.is === 'GONE') return { ...ended, result: 'GONE' };
    const isLast = answer.is === 'REFUSED' || attempt >= limits.PUSH_MAX_ATTEMPTS;
    log.info({ projectId, deviceId, kind: address.kind, attempt, why: answer.why, isLast }, 'notification not sent');
    if (answer.is === 'REFUSED' || isLast) return { ...ended, result: 'DONE' };
    const waitMs = Math.max(limits.PUSH_BACKOFF_BASE_MS * 2 ** (attempt - 1), answer.afterMs ?? 0);
    return { ...ended, result: 'RETRY', dueAt: iso(now + Math.min(waitMs, waitMaxMs)) };
  }

  return worker;
}
