import {
  type CreateWebhook,
  type Environment,
  eventTypes,
  fail,
  type Limits,
  type NewWebhook,
  onRequestTypes,
  type Permission,
  permissionFor,
  roleMay,
  type UpdateWebhook,
  type Webhook,
} from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { readEnvironment } from '../../core/environment.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import { failQuota } from '../../core/quotas.ts';
import { checkHeaders } from './custom-headers.ts';
import { hintOf, newSecret } from './signing.ts';
import { checkWebhookUrl, type UrlRules } from './url-check.ts';
import {
  cancelDeliveries,
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  setWebhookStatus,
  updateWebhook,
  type WebhookChange,
} from './webhook-store.ts';

interface EndpointDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  keyring: Keyring;
  rules: UrlRules;
  limits: Limits;
  /** Wakes the worker when an endpoint takes deliveries again. */
  wake: (webhookIds: readonly string[]) => void;
}

const gracePeriodSecondsDefault = 86_400;

export function createEndpoints({ db, clock, ids, cursors, keyring, rules, limits, wake }: EndpointDeps) {
  const endpointsMax = limits.WEBHOOK_MAX_ENDPOINTS;

  /** The endpoint, if the caller's role may change one of its environment. */
  async function getManaged(caller: ProjectSessionCaller, id: string): Promise<Webhook> {
    const webhook = await get(caller, id);
    assertMayManage(caller, webhook.environment);
    assertMayAsk(heldBy(caller), webhook.events);
    return webhook;
  }

  async function create(caller: ProjectSessionCaller, draft: CreateWebhook): Promise<Answer<NewWebhook>> {
    const environment = draft.environment ?? caller.environment;
    assertMayManage(caller, environment);
    checkWebhookUrl(draft.url, environment, rules);
    const events = checkEventTypes(draft.events ?? []);
    assertMayAsk(heldBy(caller), events);
    const secret = newSecret();
    const row = {
      id: ids.newId('webhook'),
      environment,
      url: draft.url,
      events,
      description: draft.description ?? null,
      ...sealHeaders(draft.headers ?? {}),
      secretSealed: keyring.seal(secret),
      secretHint: hintOf(secret),
      at: iso(clock.now()),
    };
    const webhook = await insertWebhook(db, caller.projectId, row, endpointsMax);
    if (!webhook) {
      const isFull = (await countWebhooks(db, caller.projectId)) >= endpointsMax;
      return isFull ? failQuota('WEBHOOK_MAX_ENDPOINTS', endpointsMax) : fail('SVC_PROJECT_ARCHIVED');
    }
    return recorded({ ...webhook, secret }, { resourceId: webhook.id, environment });
  }

  async function get(caller: ProjectSessionCaller, id: string): Promise<Webhook> {
    return (await findWebhook(db, caller.projectId, id)) ?? fail('SVC_WEBHOOK_NOT_FOUND');
  }

  async function list(
    caller: ProjectSessionCaller,
    query: { limit?: number; cursor?: string; environment?: string },
  ): Promise<Answer<Webhook[]>> {
    const { limit = pageSizeDefault, cursor } = query;
    const environment = query.environment === undefined ? null : readEnvironment(query.environment);
    const scope = `webhooks/${caller.projectId}/${environment ?? ''}`;
    const before = cursor === undefined ? null : String(cursors.read(scope, cursor)[0]);
    const rows = await listWebhooks(db, caller.projectId, { environment, before, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.id]));
    return page(items, nextCursor);
  }

  async function update(caller: ProjectSessionCaller, id: string, body: UpdateWebhook): Promise<Answer<Webhook>> {
    const { environment } = await getManaged(caller, id);
    const { url, events, description, headers, enabled } = body;
    if (url !== undefined) checkWebhookUrl(url, environment, rules);
    const change: WebhookChange = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: checkEventTypes(events) }),
      ...(description === undefined ? {} : { description: description === '' ? null : description }),
      ...(headers === undefined ? {} : sealHeaders(headers)),
    };
    assertMayAsk(heldBy(caller), change.events ?? []);
    const changed = Object.keys(body);
    if (Object.keys(change).length > 0) await save(caller.projectId, id, change);
    if (enabled !== undefined) await move(caller, id, enabled ? 'ENABLED' : 'DISABLED');
    // What changed, never the new values.
    const subject = changed.length === 0 ? null : { resourceId: id, environment, metadata: { changed } };
    return recorded(await get(caller, id), subject);
  }

  /** What is on request and no longer asked for is not sent either where it was queued: the address may be another soon. */
  async function save(projectId: string, id: string, change: WebhookChange): Promise<void> {
    const { events } = change;
    const dropped = events === undefined ? [] : onRequestTypes.filter((type) => !events.includes(type));
    await db.transaction(async (tx) => {
      await updateWebhook(tx, projectId, id, change, iso(clock.now()));
      if (dropped.length > 0) await cancelDeliveries(tx, projectId, id, dropped);
    });
  }

  async function move(caller: ProjectSessionCaller, id: string, status: 'ENABLED' | 'DISABLED') {
    const moved = await setWebhookStatus(db, caller.projectId, id, status, iso(clock.now()));
    if (moved && status === 'ENABLED') wake([id]);
    return moved;
  }

  async function setStatus(
    caller: ProjectSessionCaller,
    id: string,
    status: 'ENABLED' | 'DISABLED',
  ): Promise<Answer<Webhook>> {
    const webhook = await getManaged(caller, id);
    const moved = await move(caller, id, status);
    const { environment } = webhook;
    const subject = { resourceId: id, environment, metadata: { changed: ['status'] } };
    return recorded(moved ?? (await get(caller, id)), moved ? subject : null);
  }

  async function remove(caller: ProjectSessionCaller, id: string): Promise<Answer<undefined>> {
    const { environment } = await getManaged(caller, id);
    const isRemoved = await db.transaction((tx) => deleteWebhook(tx, caller.projectId, id));
    return isRemoved ? recorded(undefined, { resourceId: id, environment }) : fail('SVC_WEBHOOK_NOT_FOUND');
  }

  async function rotate(
    caller: ProjectSessionCaller,
    id: string,
    gracePeriodSeconds = gracePeriodSecondsDefault,
  ): Promise<Answer<NewWebhook>> {
    const { environment } = await getManaged(caller, id);
    const secret = newSecret();
    const now = clock.now();
    const webhook =
      (await rotateSecret(db, caller.projectId, id, {
        sealed: keyring.seal(secret),
        hint: hintOf(secret),
        previousExpiresAt: gracePeriodSeconds === 0 ? null : iso(now + gracePeriodSeconds * 1000),
        at: iso(now),
      })) ?? fail('SVC_WEBHOOK_NOT_FOUND');
    return recorded(
      { ...webhook, secret },
      { resourceId: id, environment, metadata: { changed: ['secret'], gracePeriodSeconds } },
    );
  }

  function sealHeaders(headers: Record<string, string>): { headersSealed: string | null; headerNames: string[] } {
    const checked = checkHeaders(headers);
    const headerNames = Object.keys(checked);
    return { headerNames, headersSealed: headerNames.length === 0 ? null : keyring.seal(JSON.stringify(checked)) };
  }

  return { create, get, getManaged, list, update, setStatus, remove, rotate };
}

/** The pipeline asked about the query's environment; what counts is the endpoint's own. */
function assertMayManage(caller: ProjectSessionCaller, environment: Environment): void {
  if (!roleMay(caller.role, 'webhook:manage', environment))
    fail('SVC_PERMISSION_DENIED', { permission: 'webhook:manage' });
}

type Holds = (permission: Permission) => boolean;

export const heldBy =
  ({ role }: ProjectSessionCaller): Holds =>
  (permission) =>
    roleMay(role, permission);

/** An endpoint is a way to read what it asks for: types on request need what reading them needs. */
export function assertMayAsk(holds: Holds, types: readonly string[]): void {
  for (const type of types) {
    const permission = permissionFor(type);
    if (permission !== undefined && !holds(permission)) fail('SVC_PERMISSION_DENIED', { permission });
  }
}

const knownTypes: ReadonlySet<string> = new Set(eventTypes);

export function checkEventTypes(types: readonly string[]): string[] {
  const unknown = types.find((type) => !knownTypes.has(type));
  if (unknown !== undefined)
    fail('SVC_INVALID_EVENT_TYPE', {
      message: `"${unknown}" is not an event type. GET /v1/webhook-event-types lists them.`,
    });
  return [...new Set(types)];
}
