import {
  type ChangeScheduled,
  type ChatScope,
  type chatScheduledRoutes,
  fail,
  type Limits,
  type ScheduledMessage,
  type ScheduledQuery,
  type ScheduleMessage,
  type SendMessage,
} from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Answer, type Attempt, type Handlers, page, repeated } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { refuse } from '../../../core/validation.ts';
import { assertAuthor, assertScope, type ChatCaller, isListed, keyOf, userOf } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import type { Forwards } from '../forwards/forwards.ts';
import { checkContent } from '../messages/draft-rules.ts';
import {
  changeScheduled,
  deleteScheduled,
  findScheduled,
  type Issued,
  insertScheduled,
  keepAttachments,
  listScheduled,
  type Scheduled,
} from './scheduled-store.ts';

interface ScheduledDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  entries: Entries;
  forwards: Pick<Forwards, 'read'>;
}

const dayMs = 24 * 60 * 60 * 1000;
const aheadMax = 30 * dayMs;

type ScheduledMessages = ReturnType<typeof createScheduled>;

/** Messages that wait for their time. Sending them is the work of `sender.ts`. */
export function createScheduled({ db, clock, ids, cursors, limits, entries, forwards }: ScheduledDeps) {
  function timeOf(sendAt: string): string {
    const at = Date.parse(sendAt);
    const now = clock.now();
    if (at <= now || at > now + aheadMax)
      refuse([{ field: 'sendAt', rule: 'range', message: 'sendAt must be in the future, within 30 days.' }]);
    return iso(at);
  }

  async function find(caller: ChatCaller, id: string, scope: ChatScope = 'chat:send'): Promise<Scheduled> {
    assertScope(caller, scope);
    const found = (await findScheduled(db, caller, id)) ?? fail('SVC_SCHEDULED_NOT_FOUND');
    const isTheirs = caller.kind === 'apiKey' || found.userId === caller.userId;
    return isTheirs && isListed(caller, found.conversationId) ? found : fail('SVC_SCHEDULED_NOT_FOUND');
  }

  /** By the token at hand: when the time comes, what it could not read is no longer known. */
  async function check(caller: ChatCaller, draft: SendMessage): Promise<void> {
    checkContent(caller, draft, limits);
    if (draft.forward) await forwards.read(caller, draft.forward.messageId);
  }

  async function create(
    caller: ChatCaller,
    reference: string,
    { sendAt, ...draft }: ScheduleMessage,
    attempt: Attempt | null,
  ): Promise<ScheduledMessage | Answer<ScheduledMessage>> {
    assertAuthor(caller, 'senderId', draft.senderId);
    const id = attempt ? ids.idOf('scheduled', attempt.seed) : ids.newId('scheduled');
    const earlier = attempt?.isRetry ? await findScheduled(db, caller, id) : undefined;
    if (earlier) return repeated(shown(earlier));
    const at = timeOf(sendAt);
    await check(caller, draft);
    const needs = { scope: 'chat:send', action: 'send', isWrite: true } as const;
    const entry = await entries.enter(caller, reference, needs);
    const cap = limits.CHAT_MAX_SCHEDULED;
    await entries.change(caller, entry.id, needs, async (tx) => {
      const { projectId, environment } = caller;
      const row = {
        id,
        projectId,
        environment,
        conversationUuid: entry.id,
        messageId: ids.newId('message'),
        userId: userOf(caller) ?? draft.senderId ?? null,
        issued: issuedOf(caller),
        draft,
        sendAt: at,
        at: iso(clock.now()),
      };
      if (!(await insertScheduled(tx, row, cap)))
        fail('SVC_QUOTA_EXCEEDED', { quota: 'CHAT_MAX_SCHEDULED', limit: cap });
      await keepFiles(tx, entry.id, draft, at);
    });
    return shown((await findScheduled(db, caller, id)) ?? fail('SVC_SCHEDULED_NOT_FOUND'));
  }

  async function keepFiles(tx: Tx, conversationUuid: string, draft: object, sendAt: string): Promise<void> {
    const { attachmentId, attachmentIds }: Partial<ScheduleMessage> = draft;
    const ids = attachmentIds ?? (attachmentId === undefined ? [] : [attachmentId]);
    const until = iso(Date.parse(sendAt) + dayMs);
    if (ids.length > 0) await keepAttachments(tx, { conversationUuid, ids, until });
  }

  async function list(caller: ChatCaller, reference: string, query: ScheduledQuery) {
    const { id } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    const { limit = pageSizeDefault, cursor } = query;
    const userId = userOf(caller) ?? query.userId ?? null;
    const name = `scheduled/${id}/${userId}`;
    const after = cursor === undefined ? null : (cursors.read(name, cursor) as [string, string]);
    const rows = await listScheduled(db, id, { userId, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(name, [last.sendAt, last.id]));
    return page(items.map(shown), nextCursor);
  }

  async function change(caller: ChatCaller, id: string, edit: ChangeScheduled): Promise<ScheduledMessage> {
    const found = await find(caller, id);
    const { sendAt, ...content } = edit;
    // A failed one is sent at once unless it gets another time.
    const at = sendAt === undefined ? found.sendAt : timeOf(sendAt);
    const draft = { ...found.draft, ...content };
    await check(caller, draft);
    // What a user writes is sent by their right and under their rules, also where a server had scheduled it.
    const issued = caller.kind === 'chatToken' ? issuedOf(caller) : null;
    const isChanged = await db.transaction(async (tx) => {
      await keepFiles(tx, found.conversationUuid, draft, at);
      return changeScheduled(tx, id, { draft, issued, sendAt: at, at: iso(clock.now()) });
    });
    if (!isChanged) fail('SVC_INVALID_STATE_TRANSITION', { from: found.status, to: 'PENDING' });
    return shown(await find(caller, id));
  }

  async function cancel(caller: ChatCaller, id: string): Promise<undefined> {
    const { status } = await find(caller, id);
    if (!(await deleteScheduled(db, id))) fail('SVC_INVALID_STATE_TRANSITION', { from: status, to: 'CANCELLED' });
    return undefined;
  }

  return {
    create,
    list,
    change,
    cancel,
    get: async (caller: ChatCaller, id: string) => shown(await find(caller, id, 'chat:read')),
  };
}

export const scheduledHandlers = (scheduled: ScheduledMessages): Handlers<typeof chatScheduledRoutes> => ({
  scheduleMessage: ({ caller, params, body, request }) => scheduled.create(caller, params.room, body, request.attempt),
  listScheduled: ({ caller, params, query }) => scheduled.list(caller, params.room, query),
  getScheduled: ({ caller, params }) => scheduled.get(caller, params.scheduledId),
  changeScheduled: ({ caller, params, body }) => scheduled.change(caller, params.scheduledId, body),
  cancelScheduled: ({ caller, params }) => scheduled.cancel(caller, params.scheduledId),
});

function issuedOf(caller: ChatCaller): Issued {
  const keyId = keyOf(caller);
  if (caller.kind === 'apiKey') return { keyId };
  const { tokenId, issuedAt } = caller;
  return { keyId, token: { tokenId, issuedAt } };
}

const shown = (row: Scheduled): ScheduledMessage => {
  const { projectId: _p, environment: _e, conversationUuid: _c, issued: _i, ...record } = row;
  return record;
};
