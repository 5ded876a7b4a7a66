import type { PushKind } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Bus } from '../../core/ports.ts';
import { createQueueWorker, type QueueWorker, type Worked } from '../../core/queue/worker.ts';
import {
  advanceJob,
  type Candidate,
  type ClaimedJob,
  claimJobs,
  findPushed,
  isJobWaiting,
  listCandidates,
  listJobLanes,
  type PushedMessage,
  upsertDeliveries,
} from './fan-out-store.ts';
import { isQuiet } from './quiet-hours.ts';
import type { Settings } from './settings.ts';
import type { SettingsRow } from './settings-store.ts';

interface FanOutDeps {
  db: Db;
  clock: Clock;
  log: Log;
  bus: Bus;
  settings: Pick<Settings, 'load'>;
  /** Which of these users look at the conversation, in their order. */
  areOnline: (conversationId: string, userIds: readonly string[]) => Promise<boolean[]>;
  /** Something is queued for these push services. */
  onQueued: (laneIds: readonly string[]) => void;
}

/** Members looked at in a transaction: a conversation of any size is worked through in short ones. */
const pageSize = 500;
const leaseMs = 30_000;
/** A job that fails for reasons of its own must not come back for ever. */
const attemptsMax = 10;
const placesMax = 8;
const pollEveryMs = 2_000;

/** Finds, for each message, the devices that are to be told of it. An environment is a lane. */
export function createFanOut(deps: FanOutDeps): QueueWorker {
  const { db, clock, log, settings, areOnline, onQueued } = deps;
  const nextLease = (): string => iso(clock.now() + leaseMs);

  async function fanOut(job: ClaimedJob): Promise<Worked> {
    const startedMs = clock.elapsed();
    const isDelivered = await work(job);
    return { isDelivered, durationMs: clock.elapsed() - startedMs };
  }

  async function work(job: ClaimedJob): Promise<boolean> {
    const message = await findPushed(db, job.eventId);
    if (job.attempt > attemptsMax) log.error({ eventId: job.eventId }, 'a message could not be fanned out to devices');
    if (!message || job.attempt > attemptsMax || isNotice(message)) return advanceJob(db, job, null);
    const row = await settings.load(job);
    for (let claimed: ClaimedJob | null = job; claimed; ) claimed = await workPage(claimed, message, row);
    return true;
  }

  /** Queues one page of members in the transaction that notes it; null when it was the last, or the job is not ours. */
  async function workPage(job: ClaimedJob, message: PushedMessage, row: SettingsRow): Promise<ClaimedJob | null> {
    const now = iso(clock.now());
    const { lastUser, total, candidates } = await listCandidates(db, {
      scope: job,
      message,
      afterUser: job.afterUser,
      limit: pageSize,
      now,
      levelDefault: row.level,
      kinds: kindsOf(row),
    });
    const chosen = await choose(message, candidates);
    const next = total < pageSize || lastUser === null ? null : { afterUser: lastUser, lease: nextLease() };
    const lanes = await db.transaction(async (tx) =>
      (await advanceJob(tx, job, next)) ? upsertDeliveries(tx, message, chosen, now) : null,
    );
    if (lanes === null) return null;
    onQueued(lanes);
    return next === null ? null : { ...job, ...next };
  }

  async function choose({ publicId }: PushedMessage, candidates: readonly Candidate[]): Promise<Candidate[]> {
    const awake = candidates.filter(({ quietHours }) => quietHours === null || !isQuiet(quietHours, clock.now()));
    const users = [...new Set(awake.map(({ userId }) => userId))];
    if (users.length === 0) return [];
    // A notification too many is better than none: without shared state nobody counts as present.
    const online = await areOnline(publicId, users).catch(() => []);
    const away = new Set(users.filter((_, at) => online[at] !== true));
    return awake.filter(({ userId }) => away.has(userId));
  }

  return createQueueWorker<ClaimedJob>({
    ...deps,
    name: 'push-jobs',
    placesMax,
    windowMax: placesMax,
    pollEveryMs,
    isWaiting: () => isJobWaiting,
    listLanes: (now) => listJobLanes(db, now),
    claim: (asks) => claimJobs(db, asks, { now: iso(clock.now()), lease: nextLease() }),
    laneOf: ({ laneId }) => laneId,
    work: fanOut,
  });
}

/** What the service itself says in a conversation interrupts nobody. */
const isNotice = ({ type }: PushedMessage): boolean => type === 'system' || type === 'event';

const kindsOf = ({ fcmSealed, apnsSealed }: SettingsRow): PushKind[] => [
  'WEB_PUSH',
  ...(fcmSealed === null ? [] : (['FCM'] as const)),
  ...(apnsSealed === null ? [] : (['APNS'] as const)),
];
