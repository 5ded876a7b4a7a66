import {
  type ErrorCode,
  fail,
  type Limits,
  type MessageType,
  type SendMessage,
  ServiceError,
  serverMessageTypes,
} from '@parley/contract';
import type { Activity } from '../../../core/activity.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { DispatchedOnInsert, EventRef } from '../../../core/event-store.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Metrics } from '../../../core/metrics.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import type { UsageCounts } from '../../../core/usage-counts.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, keyOf, userOf } from '../callers.ts';
import { type ChangeEntry, entryOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { Target, Targets } from '../targets.ts';
import { createGroupCommit } from './group-commit.ts';
import { findMessageJson } from './message-store.ts';
import {
  createStoreMessages,
  type Draft,
  type SendItem,
  type SendOutcome,
  type SendProblem,
  type Stored,
} from './send-store.ts';

interface SendDeps {
  db: Db;
  targets: Targets;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  metrics: Metrics;
  changes: Changes;
  activity: Activity;
  usageCounts: UsageCounts;
  hub: Hub;
  dispatchedOnInsert: DispatchedOnInsert;
  /** Takes the events that webhooks wait for, once a batch, right after its commit. */
  dispatch: (events: readonly EventRef[]) => void;
}

export interface Sent {
  /** The stored message as JSON. */
  text: string;
  isRepeat: boolean;
}

export interface Sends {
  /** `id` is given where an attempt before this one may have stored the message. */
  send(caller: ChatCaller, reference: string, draft: SendMessage, id?: string): Promise<Sent>;
}

const problems: Readonly<Record<SendProblem, ErrorCode>> = {
  GONE: 'SVC_CONVERSATION_NOT_FOUND',
  NOT_A_MEMBER: 'SVC_NOT_A_MEMBER',
  FORBIDDEN: 'SVC_FORBIDDEN',
  ARCHIVED: 'SVC_CONVERSATION_ARCHIVED',
  INVALID_REPLY_TARGET: 'SVC_INVALID_REPLY_TARGET',
  ATTACHMENT_NOT_FOUND: 'SVC_ATTACHMENT_NOT_FOUND',
  ATTACHMENT_NOT_READY: 'SVC_ATTACHMENT_NOT_READY',
  ATTACHMENT_ALREADY_USED: 'SVC_ATTACHMENT_ALREADY_USED',
};

export function createSends(deps: SendDeps): Sends {
  const { db, targets, clock, ids, limits, metrics, changes, activity, usageCounts, hub, dispatch } = deps;
  const queue = createGroupCommit<SendItem, SendOutcome>({
    clock,
    keysOf: (item) => [...clientKeys(item), ...fileKeys(item)],
    takenKeys,
    lockOf: ({ conversationId }) => conversationId,
    store: createStoreMessages(deps),
    publish,
  });

  function publish(items: readonly SendItem[], outcomes: readonly SendOutcome[]): void {
    const now = clock.now();
    const events: EventRef[] = [];
    for (const [at, item] of items.entries()) {
      const outcome = outcomes[at];
      if (outcome?.is !== 'stored') continue;
      hub.announce(changeOf(item, outcome.stored, now));
      changes.note('chat', item.scope);
      activity.count('messages', item.scope);
      usageCounts.add('messages', item.scope, item.keyId, 1);
      if (!outcome.stored.isDispatched) events.push(eventOf(item));
    }
    dispatch(events);
  }

  async function send(caller: ChatCaller, reference: string, draft: SendMessage, id?: string): Promise<Sent> {
    assertScope(caller, 'chat:send');
    const content = checkContent(caller, draft, limits);
    for (let attempt = 1; ; attempt++) {
      const target = await targets.find(caller, reference);
      const outcome = await queue.add(itemOf(caller, target, draft, content, id));
      if (outcome.is === 'stored') return { text: outcome.stored.record, isRepeat: false };
      if (outcome.is === 'repeated') return repeat(caller, target, outcome.position);
      targets.forget(caller, reference);
      // The reference may have moved to another conversation meanwhile: look once more.
      if (outcome.problem === 'GONE' && target.canMove && attempt === 1) continue;
      throw new ServiceError(problems[outcome.problem]);
    }
  }

  function itemOf(caller: ChatCaller, target: Target, draft: SendMessage, content: Content, id?: string): SendItem {
    const now = clock.now();
    if (draft.clientSentAt !== undefined && draft.clientSentAt <= now) {
      metrics.observe('parley_chat_send_latency_seconds', (now - draft.clientSentAt) / 1000);
    }
    return {
      scope: caller,
      keyId: keyOf(caller),
      name: target.name,
      conversationId: target.id,
      publicId: target.publicId,
      eventId: ids.newId('event'),
      isUser: caller.kind === 'chatToken',
      draft: {
        id: id ?? ids.newId('message'),
        senderId: userOf(caller) ?? draft.senderId,
        replyTo: draft.replyTo,
        clientMessageId: draft.clientMessageId,
        attachmentId: draft.attachmentId,
        clientSentAt: draft.clientSentAt,
        createdAt: iso(now),
        ...content,
      },
    };
  }

  async function repeat(caller: ChatCaller, { id }: Target, position: number): Promise<Sent> {
    const text = await findMessageJson(db, id, position, userOf(caller));
    return { text: text ?? fail('SVC_MESSAGE_NOT_FOUND'), isRepeat: true };
  }

  return { send };
}

const clientKeys = ({ conversationId, draft: { senderId = '', clientMessageId } }: SendItem): string[] =>
  clientMessageId === undefined ? [] : [`${conversationId} ${senderId} ${clientMessageId}`];

const fileKeys = ({ draft: { attachmentId } }: SendItem): string[] =>
  attachmentId === undefined ? [] : [attachmentId];

/** A repeat is known by its own key before its file is looked at: that may still be missing. */
function takenKeys(item: SendItem, { is }: SendOutcome): string[] {
  if (is === 'refused') return [];
  return is === 'repeated' ? clientKeys(item) : [...clientKeys(item), ...fileKeys(item)];
}

type Content = Pick<Draft, 'type' | 'text' | 'metadata'>;

/** Everything about a draft that needs no look at the database. */
function checkContent(caller: ChatCaller, draft: SendMessage, limits: Limits): Content {
  const { text, attachmentId, metadata } = draft;
  const type = draft.type ?? (attachmentId !== undefined && text === undefined ? 'attachment' : 'text');
  if (caller.kind === 'chatToken' && serverMessageTypes.includes(type)) fail('SVC_MESSAGE_TYPE_FORBIDDEN');
  if (text !== undefined) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
  if (metadata) metadataJson(metadata, limits.CHAT_MAX_METADATA_BYTES);
  const missing = missingField(type, draft);
  if (missing) refuse([{ field: missing, rule: 'required', message: `A message of type ${type} needs ${missing}.` }]);
  return { type, text, metadata: metadata ?? undefined };
}

function missingField(type: MessageType, { text, attachmentId, metadata }: SendMessage): string | null {
  if (type === 'attachment') return attachmentId === undefined ? 'attachmentId' : null;
  if (text !== undefined || (attachmentId !== undefined && type !== 'text')) return null;
  return type === 'custom' && metadata ? null : 'text';
}

/** What subscribers get for a new message. */
function changeOf({ publicId, draft }: SendItem, { record, seq, change }: Stored, at: number): ChangeEntry {
  const message = { id: draft.id, seq, senderId: draft.senderId ?? null, record };
  return entryOf({ type: 'message', conversationId: publicId, change, message }, at);
}

const eventOf = ({ scope: { projectId, environment }, eventId }: SendItem): EventRef => ({
  id: eventId,
  projectId,
  environment,
  type: 'message.created',
});

/** Text is counted in code points: one for a letter, one for most emoji. */
export function assertTextFits(text: string, limit: number): void {
  // UTF-16 units are never fewer than code points: most texts need no counting.
  if (text.length <= limit) return;
  let actual = 0;
  for (const _point of text) actual++;
  if (actual > limit) fail('SVC_TEXT_TOO_LONG', { limit, actual });
}
