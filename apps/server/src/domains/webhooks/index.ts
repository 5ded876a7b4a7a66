import { allEvents, type Limits, permissionFor, type WebhookEventType, type webhookRoutes } from '@parley/contract';
import type { Activity } from '../../core/activity.ts';
import type { Changes } from '../../core/changes.ts';
import type { Clock } from '../../core/clock.ts';
import { iso } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import type { Db, Tx } from '../../core/db.ts';
import { deleteInBatches, onwards, type Turn, withoutDeadline } from '../../core/delete-in-batches.ts';
import type { AfterCommit } from '../../core/dispatcher.ts';
import type { EventRef, StoredEvent } from '../../core/event-store.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Domain } from '../../core/part.ts';
import type { PersonalData } from '../../core/personal-data.ts';
import type { Bus } from '../../core/ports.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import type { Tracer } from '../../core/tracing.ts';
import { type Callouts, createCallouts } from './callouts.ts';
import { createDeliveries } from './deliveries.ts';
import { createEndpoints } from './endpoints.ts';
import { createEventFeed } from './event-feed.ts';
import { createOrderOf } from './order.ts';
import { createPageFetch, type PageFetch } from './page-fetch.ts';
import { rewriteAttempts, rewriteStoredEvents } from './personal-store.ts';
import { deleteOldDeliveries, deleteOldEvents, insertDeliveries, listDeliveredTo, listLanes } from './queue-store.ts';
import { createRenewal } from './renewal.ts';
import { createResolve, type Resolve } from './resolver.ts';
import { createSender } from './sender.ts';
import { createWorker } from './worker.ts';

export { dispatchedOnInsert, isAskedFor } from './queue-store.ts';
export { createResolve, type Resolve } from './resolver.ts';
export { createSender, type Sender, type SendResult, waitOf } from './sender.ts';
export { isUrlAllowed, policyFor, type UrlRules } from './url-check.ts';
export { listFailing } from './webhook-store.ts';

interface WebhooksDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  keyring: Keyring;
  bus: Bus;
  log: Log;
  changes: Changes;
  activity: Activity;
  metrics: Metrics;
  tracer: Tracer;
  limits: Limits;
  isProduction: boolean;
  allowPrivate: boolean;
  isKeyActive: (publicId: string) => Promise<boolean>;
  onCommitted: (events: readonly StoredEvent[]) => void;
  /** Resolves host names; the machine's name servers by default. */
  resolve?: Resolve;
}

interface Webhooks extends Domain<typeof webhookRoutes> {
  /** Questions to customers' backends, by the same rules. */
  callouts: Callouts;
  /** What users link to, by the same rules. */
  pages: PageFetch;
  /** A delivery for each event and endpoint, in the transaction that marks the events as dispatched. */
  enqueue(tx: Tx, events: readonly EventRef[]): Promise<AfterCommit>;
  personalData: PersonalData;
  /** Removes what is too old; resolves with how much. */
  sweep(turn?: Turn): Promise<number>;
  /** Seals anew what was sealed under the SECRET_KEY before this one; gives how many endpoints had something. */
  renewSealed(): Promise<number>;
  /** How long the delivery that has waited longest has been due; 0 when none is. */
  overdueMs(): Promise<number>;
  /** Resolves when nothing is due and nothing in flight. */
  settled(): Promise<void>;
}

const dayMs = 86_400_000;
/** Rows that one statement looks at when a user is erased. */
const scannedMax = 2_000;

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { db, clock, limits, isProduction, allowPrivate } = deps;
  const rules = { isProduction, allowPrivate };
  const resolve = deps.resolve ?? createResolve({ usesSystemNames: !isProduction || allowPrivate });
  const sender = createSender({ clock, resolve, timeoutMs: limits.WEBHOOK_TIMEOUT_MS });
  const pages = createPageFetch({ clock, resolve, rules });
  const worker = createWorker({ ...deps, sender, orderOf: createOrderOf({ keyring: deps.keyring, rules }) });
  const { wake } = worker;
  const endpoints = createEndpoints({ ...deps, rules, wake });
  const deliveries = createDeliveries({ ...deps, endpoints, wake });
  const feed = createEventFeed(deps);

  const renewSealed = createRenewal(deps);
  async function sweep(turn = withoutDeadline): Promise<number> {
    const before = iso(clock.now() - limits.WEBHOOK_RETENTION_DAYS * dayMs);
    const webhookIds = await listDeliveredTo(db);
    return deleteInBatches(
      { turn },
      onwards((limit, after) => deleteOldDeliveries(db, webhookIds, before, limit, after)),
      onwards((limit, after) => deleteOldEvents(db, before, limit, after)),
    );
  }

  return {
    callouts: createCallouts({ ...deps, sender, rules }),
    pages,
    async enqueue(tx, events) {
      const webhookIds = await insertDeliveries(tx, events, iso(clock.now()));
      return () => wake(webhookIds);
    },
    sweep,
    personalData: {
      exports: [],
      // Last of all: the steps before leave events of their own.
      erasures: [
        { name: 'events', run: (erasure, place) => rewriteStoredEvents(db, erasure, place, scannedMax) },
        { name: 'delivery attempts', run: (erasure, place) => rewriteAttempts(db, erasure, place, scannedMax) },
      ],
    },
    renewSealed,
    chores: [
      worker.chore,
      { name: 'webhook-retention', everyMs: 60_000, run: sweep, onDatabaseAlone: true },
      { name: 'webhook-secrets', everyMs: 600_000, run: renewSealed, onDatabaseAlone: true },
    ],
    async overdueMs() {
      const lanes = await listLanes(db, iso(clock.now()));
      return Math.max(0, ...lanes.map(({ dueAt }) => clock.now() - Date.parse(dueAt)));
    },
    start: () => worker.start(),
    settled: () => worker.settled(),
    async stop() {
      feed.stop();
      await worker.stop();
      sender.close();
      pages.close();
    },
    handlers: {
      listWebhookEventTypes: async () => listEventTypes(),
      streamEvents: ({ caller, query, request }) => feed.stream(caller, query.types, request.lastEventId),
      listWebhooks: ({ caller, query }) => endpoints.list(caller, query),
      createWebhook: ({ caller, body }) => endpoints.create(caller, body),
      getWebhook: ({ caller, params }) => endpoints.get(caller, params.webhookId),
      updateWebhook: ({ caller, params, body }) => endpoints.update(caller, params.webhookId, body),
      deleteWebhook: ({ caller, params }) => endpoints.remove(caller, params.webhookId),
      enableWebhook: ({ caller, params }) => endpoints.setStatus(caller, params.webhookId, 'ENABLED'),
      disableWebhook: ({ caller, params }) => endpoints.setStatus(caller, params.webhookId, 'DISABLED'),
      rotateWebhookSecret: ({ caller, params, body }) =>
        endpoints.rotate(caller, params.webhookId, body.gracePeriodSeconds),
      testWebhook: ({ caller, params, body }) => deliveries.sendTest(caller, params.webhookId, body.eventType),
      recoverWebhook: ({ caller, params, body }) => deliveries.recover(caller, params.webhookId, body),
      listDeliveries: ({ caller, params, query }) => deliveries.list(caller, params.webhookId, query),
      getDelivery: ({ caller, params }) => deliveries.get(caller, params.webhookId, params.deliveryId),
      resendDelivery: ({ caller, params }) => deliveries.resend(caller, params.webhookId, params.deliveryId),
    },
  };
}

/** The 15 of the specification first, whatever the order of the tables. */
function listEventTypes(): WebhookEventType[] {
  const rows = Object.entries(allEvents).map(([type, row]) => ({
    type,
    since: row.since,
    core: 'isCore' in row,
    onRequest: permissionFor(type) ?? null,
    description: row.when,
  }));
  return [...rows.filter(({ core }) => core), ...rows.filter(({ core }) => !core)];
}
