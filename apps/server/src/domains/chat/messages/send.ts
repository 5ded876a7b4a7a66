import { type ChatMemberRole, fail, type Limits, type SendMessage } from '@parley/contract';
import type { Activity } from '../../../core/activity.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { DispatchedOnInsert, EventRef } from '../../../core/event-store.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Metrics } from '../../../core/metrics.ts';
import type { UsageCounts } from '../../../core/usage-counts.ts';
import { assertScope, type ChatCaller, keyOf, userOf } from '../callers.ts';
import { findEntry } from '../conversations/conversation-store.ts';
import type { Forwards, Source } from '../forwards/forwards.ts';
import type { Links } from '../links/links.ts';
import { type ChangeEntry, entryOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { StoredMentions } from '../mentions/mention-store.ts';
import type { MentionsOf } from '../mentions/mentions.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Flags } from '../moderation/flags.ts';
import type { HookQuestion } from '../moderation/hook-calls.ts';
import type { Review } from '../moderation/review.ts';
import { pollOf } from '../polls/poll-draft.ts';
import { readReference } from '../references.ts';
import { findShadowJson } from '../shadow/shadow-store.ts';
import type { Target, Targets } from '../targets.ts';
import { type Content, checkContent, filesOf, forwarding } from './draft-rules.ts';
import { createGroupCommit } from './group-commit.ts';
import { findMessageJson } from './message-store.ts';
import { createSendRefusals } from './send-refusals.ts';
import { createStoreMessages, type Draft, type SendItem, type SendOutcome, type Stored } from './send-store.ts';

interface SendDeps {
  db: Db;
  targets: Targets;
  mentions: Pick<MentionsOf, 'resolve'>;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  metrics: Metrics;
  changes: Changes;
  activity: Activity;
  usageCounts: UsageCounts;
  hub: Hub;
  admission: Admission;
  review: Review;
  flags: Flags;
  links: Pick<Links, 'wantedOf' | 'trigger'>;
  forwards: Forwards;
  dispatchedOnInsert: DispatchedOnInsert;
  /** Takes the events that webhooks wait for, once a batch, right after its commit. */
  dispatch: (events: readonly EventRef[]) => void;
}

interface Sent {
  /** The stored message as JSON. */
  text: string;
  isRepeat: boolean;
}

export interface Sends {
  /** `id` is given where an attempt before this one may have stored the message. */
  send(caller: ChatCaller, reference: string, draft: SendMessage, id?: string): Promise<Sent>;
  /** Many wait for the database: what is not urgent leaves it to them. */
  isCrowded(): boolean;
}

/** How often a message of a user may meet another of theirs in one batch, in slow mode. */
const besideMax = 5;

export function createSends(deps: SendDeps): Sends {
  const { db, targets, clock, ids, limits, metrics, admission, review, flags, links, forwards } = deps;
  const failFor = createSendRefusals(deps);
  const { enqueue, isCrowded } = createQueues(deps);

  async function send(caller: ChatCaller, reference: string, draft: SendMessage, id?: string): Promise<Sent> {
    assertScope(caller, 'chat:send');
    const checked = checkContent(caller, draft, limits);
    const source = draft.forward ? await forwards.read(caller, draft.forward.messageId) : undefined;
    const content = source ? forwarding(checked, source) : checked;
    await admission.assertMaySpeak(caller);
    const { text, flaggedBy } = await review.check(caller, {
      text: content.text,
      roleOf: () => roleIn(caller, reference),
      describe: (text) => questionOf(caller, reference, draft, { ...content, text }),
    });
    const poll = draft.poll && text !== undefined ? pollOf(draft.poll, text) : undefined;
    const reviewed = { ...content, text, link: await links.wantedOf(caller, text), poll, source };
    return flaggedBy.length === 0
      ? store(caller, reference, draft, reviewed, id)
      : sendFlagged(caller, reference, draft, reviewed, { id: id ?? ids.newId('message'), lists: flaggedBy });
  }

  async function questionOf(
    caller: ChatCaller,
    reference: string,
    { replyTo, attachmentId, attachmentIds, poll, forward }: SendMessage,
    { type, text, metadata }: Content,
  ): Promise<HookQuestion> {
    const { publicId: conversationId } = await targets.find(caller, reference);
    const userId = userOf(caller) ?? '';
    // The hook is not for strangers to call.
    if ((await roleIn(caller, reference)) === null) await admission.failAsNonMember(db, caller, conversationId, userId);
    const files = { attachmentId: attachmentIds?.[0] ?? attachmentId, attachmentIds };
    const message = { type, text: text ?? null, metadata, replyTo, ...files, poll, forward };
    return { action: 'send', conversationId, senderId: userId, messageId: null, message };
  }

  const roleIn = async (caller: ChatCaller, reference: string): Promise<ChatMemberRole | null> =>
    (await findEntry(db, caller, readReference(reference), userOf(caller)))?.role ?? null;

  /** Its report is there before it, so that no crash leaves a message unreported. */
  async function sendFlagged(
    caller: ChatCaller,
    reference: string,
    draft: SendMessage,
    content: Reviewed,
    { id, lists }: { id: string; lists: readonly string[] },
  ): Promise<Sent> {
    const { publicId: conversationId } = await targets.find(caller, reference);
    const report = await flags.announce(caller, { conversationId, messageId: id, senderId: userOf(caller), lists });
    try {
      return await store(caller, reference, draft, content, id);
    } finally {
      // Stored or not: it is opened if the message is there, and forgotten if not.
      if (report !== null && !(await flags.confirm(caller, report))) await flags.withdraw(report);
    }
  }

  async function store(
    caller: ChatCaller,
    reference: string,
    draft: SendMessage,
    { source, ...content }: Reviewed,
    id?: string,
  ): Promise<Sent> {
    for (let attempt = 1; ; attempt++) {
      const target = await targets.find(caller, reference);
      const mentions = draft.mentions ? await mentionsOf(caller, target, draft) : undefined;
      const add = (sent: SendMessage): Promise<SendOutcome> =>
        enqueue(caller, itemOf(caller, target, sent, { ...content, mentions, forwarded: source?.from }, id));
      const outcome = source ? await forwards.passOn(caller, target, draft, source, add) : await add(draft);
      if (outcome.is === 'stored') return { text: outcome.stored.record, isRepeat: false };
      if (outcome.is === 'repeated') return repeat(caller, target, outcome.position);
      if (outcome.is === 'repeatedInShadow') return repeatInShadow(outcome.n);
      targets.forget(caller, reference);
      // The reference may have moved to another conversation meanwhile: look once more.
      if (outcome.problem === 'GONE' && target.canMove && attempt === 1) continue;
      // What was beside it is stored by now, or refused: look again.
      if (outcome.problem === 'SLOW_BESIDE' && attempt < besideMax) continue;
      return failFor(caller, target, outcome);
    }
  }

  const mentionsOf = async (caller: ChatCaller, { publicId }: Target, { mentions, senderId }: SendMessage) =>
    (mentions && (await deps.mentions.resolve(mentions, publicId, userOf(caller) ?? senderId))) ?? undefined;

  function itemOf(
    caller: ChatCaller,
    target: Target,
    draft: SendMessage,
    content: WholeContent,
    id?: string,
  ): SendItem {
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
      mentionEventId: content.mentions && ids.newId('event'),
      isUser: caller.kind === 'chatToken',
      isDirect: target.type === 'DIRECT',
      draft: {
        id: id ?? ids.newId('message'),
        senderId: userOf(caller) ?? draft.senderId,
        replyTo: draft.replyTo,
        clientMessageId: draft.clientMessageId,
        ...filesOf(draft),
        clientSentAt: draft.clientSentAt,
        createdAt: iso(now),
        pollClosesAt: content.poll?.closesAt ?? undefined,
        ...content,
      },
    };
  }

  async function repeat(caller: ChatCaller, { id }: Target, position: number): Promise<Sent> {
    const text = await findMessageJson(db, id, position, userOf(caller));
    return { text: text ?? fail('SVC_MESSAGE_NOT_FOUND'), isRepeat: true };
  }

  async function repeatInShadow(n: number): Promise<Sent> {
    return { text: (await findShadowJson(db, n)) ?? fail('SVC_MESSAGE_NOT_FOUND'), isRepeat: true };
  }

  return { send, isCrowded };
}

type Publish = (items: readonly SendItem[], outcomes: readonly SendOutcome[]) => void;

/** Messages of one moment are stored together, and published once they are. */
function createQueues(deps: SendDeps) {
  const { clock, changes, activity, usageCounts, hub, admission, links, dispatch } = deps;
  const queueOf = (inShadow: boolean, publish: Publish) =>
    createGroupCommit<SendItem, SendOutcome>({
      clock,
      keysOf: (item) => [...clientKeys(item), ...fileKeys(item)],
      takenKeys,
      lockOf: ({ conversationId }) => conversationId,
      store: createStoreMessages(deps, { inShadow }),
      publish,
    });
  const queue = queueOf(false, publish);
  /** What only its sender is to see (ADR 211). */
  const shadowQueue = queueOf(true, publishToNobody);

  function publish(items: readonly SendItem[], outcomes: readonly SendOutcome[]): void {
    const now = clock.now();
    const events: EventRef[] = [];
    for (const [at, item] of items.entries()) {
      const outcome = outcomes[at];
      if (outcome?.is !== 'stored') continue;
      hub.announce(changeOf(item, outcome.stored, now));
      hub.changed(item.scope, item.publicId);
      changes.note('chat', item.scope);
      if (item.draft.link !== undefined) links.trigger();
      activity.count('messages', item.scope);
      usageCounts.add('messages', item.scope, item.keyId, 1);
      if (!outcome.stored.isDispatched) events.push(...eventsOf(item));
    }
    dispatch(events);
  }

  function publishToNobody(items: readonly SendItem[], outcomes: readonly SendOutcome[]): void {
    const events: EventRef[] = [];
    for (const [at, { scope, keyId, eventId: id }] of items.entries()) {
      const outcome = outcomes[at];
      if (outcome?.is !== 'stored') continue;
      activity.count('messages', scope);
      usageCounts.add('messages', scope, keyId, 1);
      const { projectId, environment } = scope;
      if (!outcome.stored.isDispatched) events.push({ id, projectId, environment, type: 'message.shadowed' });
    }
    dispatch(events);
  }

  /** Who is in the shadow everywhere is known before; who is so here is known under the lock. */
  async function enqueue(caller: ChatCaller, item: SendItem): Promise<SendOutcome> {
    if (await admission.isShadowed(caller)) return shadowQueue.add(item);
    const outcome = await queue.add(item);
    if (outcome.is !== 'refused') return outcome;
    if (outcome.problem === 'ONCE_SHADOWED') return enqueue(caller, { ...item, isOnceShadowed: true });
    return outcome.problem === 'SHADOWED' ? shadowQueue.add(item) : outcome;
  }

  return { enqueue, isCrowded: queue.isCrowded };
}

const clientKeys = ({ conversationId, draft: { senderId = '', clientMessageId } }: SendItem): string[] =>
  clientMessageId === undefined ? [] : [`${conversationId} ${senderId} ${clientMessageId}`];

const fileKeys = ({ draft: { attachmentId, attachmentIds } }: SendItem): readonly string[] =>
  attachmentIds ?? (attachmentId === undefined ? [] : [attachmentId]);

/** A repeat is known by its own key before its file is looked at: that may still be missing. */
function takenKeys(item: SendItem, { is }: SendOutcome): string[] {
  if (is === 'refused') return [];
  return is !== 'stored' ? clientKeys(item) : [...clientKeys(item), ...fileKeys(item)];
}

/** What moderation has let through. */
type Reviewed = Content & Pick<Draft, 'poll'> & { source: Source | undefined };
type WholeContent = Content & Pick<Draft, 'poll' | 'forwarded'> & { mentions: StoredMentions | undefined };

/** What subscribers get for a new message. */
function changeOf({ publicId, draft }: SendItem, { record, seq, change }: Stored, at: number): ChangeEntry {
  const message = { id: draft.id, seq, senderId: draft.senderId ?? null, record };
  return entryOf({ type: 'message', conversationId: publicId, change, message }, at);
}

function eventsOf({ scope: { projectId, environment }, eventId, mentionEventId }: SendItem): EventRef[] {
  const created: EventRef = { id: eventId, projectId, environment, type: 'message.created' };
  return mentionEventId ? [created, { ...created, id: mentionEventId, type: 'message.mentioned' }] : [created];
}
