import {
  type Delivery,
  type DeliveryStatus,
  type EventType,
  fail,
  type Limits,
  type RecoverWebhook,
  type Webhook,
} from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import {
  copyDelivery,
  type DeliveryRow,
  findDelivery,
  insertTestDelivery,
  listDeliveries,
  recoverDeliveries,
} from './delivery-store.ts';
import { assertMayAsk, checkEventTypes, heldBy } from './endpoints.ts';
import { sampleData } from './sample-event.ts';
import { bodyOf } from './signing.ts';

interface DeliveryDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  endpoints: {
    get(caller: ProjectSessionCaller, id: string): Promise<Webhook>;
    getManaged(caller: ProjectSessionCaller, id: string): Promise<Webhook>;
  };
  wake: (webhookIds: readonly string[]) => void;
}

interface DeliveryQuery {
  limit?: number;
  cursor?: string;
  status?: DeliveryStatus;
  eventType?: string;
  eventId?: string;
}

const pageSize = 50;
const recoverMax = 10_000;
const testTypeDefault: EventType = 'live_stream.created';

export function createDeliveries(deps: DeliveryDeps) {
  const { db, replicated, clock, ids, cursors, limits, endpoints, wake } = deps;
  const shown = (row: DeliveryRow): Delivery => ({ ...row, maxAttempts: limits.WEBHOOK_MAX_ATTEMPTS });

  /** A disabled endpoint must not keep its queue until it is enabled much later. */
  async function getEnabled(caller: ProjectSessionCaller, webhookId: string): Promise<Webhook> {
    const webhook = await endpoints.getManaged(caller, webhookId);
    return webhook.status === 'ENABLED' ? webhook : fail('SVC_WEBHOOK_DISABLED');
  }

  async function find(caller: ProjectSessionCaller, webhookId: string, id: string): Promise<Delivery> {
    const row = await findDelivery(db, caller.projectId, webhookId, id);
    return row ? shown(row) : fail('SVC_DELIVERY_NOT_FOUND');
  }

  async function list(
    caller: ProjectSessionCaller,
    webhookId: string,
    { limit = pageSize, cursor, ...filter }: DeliveryQuery,
  ): Promise<Answer<Delivery[]>> {
    await endpoints.get(caller, webhookId);
    const scope = `deliveries/${caller.projectId}/${webhookId}/${JSON.stringify(filter)}`;
    const before = cursor === undefined ? null : String(cursors.read(scope, cursor)[0]);
    const rows = await listDeliveries(replicated.current, caller.projectId, webhookId, {
      ...filter,
      before,
      limit: limit + 1,
    });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.id]));
    return page(items.map(shown), nextCursor);
  }

  async function get(caller: ProjectSessionCaller, webhookId: string, id: string): Promise<Delivery> {
    await endpoints.get(caller, webhookId);
    return find(caller, webhookId, id);
  }

  async function resend(caller: ProjectSessionCaller, webhookId: string, id: string): Promise<Delivery> {
    await getEnabled(caller, webhookId);
    const { eventType } = await find(caller, webhookId, id);
    assertMayAsk(heldBy(caller), [eventType]);
    const copy = { id: ids.newId('delivery'), at: iso(clock.now()) };
    if (!(await copyDelivery(db, caller.projectId, webhookId, id, copy))) fail('SVC_DELIVERY_NOT_FOUND');
    wake([webhookId]);
    return find(caller, webhookId, copy.id);
  }

  async function sendTest(
    caller: ProjectSessionCaller,
    webhookId: string,
    eventType: string = testTypeDefault,
  ): Promise<Delivery> {
    const { environment } = await getEnabled(caller, webhookId);
    checkEventTypes([eventType]);
    const at = iso(clock.now());
    const [id, eventId] = [ids.newId('delivery'), ids.newId('event')];
    const data = { ...sampleData(eventType as EventType, at), test: true };
    const envelope = { id: eventId, type: eventType, projectId: caller.projectId, environment, createdAt: at };
    const body = bodyOf(envelope, JSON.stringify(data)).toString();
    await insertTestDelivery(db, caller.projectId, webhookId, { id, eventId, eventType, body, at });
    wake([webhookId]);
    return find(caller, webhookId, id);
  }

  async function recover(caller: ProjectSessionCaller, webhookId: string, { since, until }: RecoverWebhook) {
    const { environment, events } = await getEnabled(caller, webhookId);
    const at = iso(clock.now());
    const range = { since: iso(Date.parse(since)), until: until === undefined ? at : iso(Date.parse(until)) };
    if (range.since >= range.until) refuseRange();
    const queued = await recoverDeliveries(db, caller.projectId, webhookId, {
      ...range,
      environment,
      events,
      at,
      limit: recoverMax,
      seed: ids.newId('delivery'),
    });
    if (queued > 0) wake([webhookId]);
    return { queued, complete: queued < recoverMax };
  }

  return { list, get, resend, sendTest, recover };
}

function refuseRange(): never {
  const message = 'since must be before until.';
  return fail('SVC_VALIDATION_FAILED', { message, details: [{ field: 'since', rule: 'range', message }] });
}
