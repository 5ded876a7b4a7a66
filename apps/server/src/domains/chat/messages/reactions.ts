import { type ErrorCode, fail, type Limits, type ReactionSummary, ServiceError } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { EventRef } from '../../../core/event-store.ts';
import { Answer } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { type ChatCaller, subjectOf, userOf } from '../callers.ts';
import { entryOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Shadow } from '../shadow/shadow.ts';
import { orInShadow } from '../shadow/with-shadow.ts';
import type { Messages } from './edit.ts';
import { createGroupCommit } from './group-commit.ts';
import {
  findReactions,
  type ReactionItem,
  type ReactionOutcome,
  type ReactionProblem,
  storeReactions,
} from './reaction-store.ts';

interface ReactionDeps {
  db: Db;
  messages: Messages;
  shadow: Pick<Shadow, 'find' | 'react'>;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  hub: Hub;
  admission: Admission;
  /** Takes the events of a batch, right after its commit. */
  dispatch: (events: readonly EventRef[]) => void;
}

export type Reactions = ReturnType<typeof createReactions>;

const problems: Readonly<
  Record<Exclude<ReactionProblem, 'REPEATED' | 'SHADOWED' | 'NOT_A_MEMBER' | 'MUTED'>, ErrorCode>
> = {
  GONE: 'SVC_MESSAGE_NOT_FOUND',
  BLOCKED: 'SVC_CHAT_BLOCKED',
  ARCHIVED: 'SVC_CONVERSATION_ARCHIVED',
  MISSING: 'SVC_REACTION_NOT_FOUND',
  LIMIT: 'SVC_REACTION_LIMIT',
};

interface Given {
  emoji: string;
  userId?: string | undefined;
}

export function createReactions(deps: ReactionDeps) {
  const { db, messages, shadow, clock, ids, limits, hub, admission, dispatch } = deps;
  // A crowd that reacts to one message is many writes to one row: they are stored together, like messages.
  const queue = createGroupCommit<ReactionItem, ReactionOutcome>({
    clock,
    keysOf: ({ messageId, emoji, userId }) => [`${messageId} ${emoji} ${userId}`],
    // What was added may be taken back by the next: each must see the one before it.
    takenKeys: () => [],
    lockOf: ({ conversationId }) => conversationId,
    store: (items) => storeReactions(db, items, limits.CHAT_MAX_REACTIONS_PER_MESSAGE),
    publish,
  });

  function publish(items: readonly ReactionItem[], outcomes: readonly ReactionOutcome[]): void {
    const now = clock.now();
    const events: EventRef[] = [];
    for (const [at, { eventId, isAdd, messageId, userId, emoji }] of items.entries()) {
      const outcome = outcomes[at];
      if (outcome?.is !== 'stored') continue;
      const { conversationId, projectId, environment, change, count } = outcome;
      const type = isAdd ? 'reaction.added' : 'reaction.removed';
      hub.announce(entryOf({ type, conversationId, change, messageId, userId, emoji, count }, now));
      events.push({ id: eventId, projectId, environment, type });
    }
    dispatch(events);
  }

  async function apply(caller: ChatCaller, messageId: string, given: Given, isAdd: boolean): Promise<Applied> {
    const [userId, emoji] = [subjectOf(caller, given.userId), normalEmoji(given.emoji)];
    if (isAdd) await admission.assertMaySpeak(caller);
    const { conversationUuid, conversationId, isDeleted } = await messages.enter(caller, messageId, {
      scope: 'chat:react',
    });
    if (isDeleted) fail('SVC_MESSAGE_NOT_FOUND');
    const outcome = await queue.add({
      isAdd,
      eventId: ids.newId('event'),
      conversationId: conversationUuid,
      messageId,
      emoji,
      userId,
      isUser: caller.kind === 'chatToken',
      isShadowed: await admission.isShadowed(caller),
      at: iso(clock.now()),
    });
    const found = (): Promise<ReactionSummary[]> => findReactions(db, messageId, userOf(caller));
    if (outcome.is === 'stored') return { reactions: await found(), isNew: true };
    if (outcome.problem === 'REPEATED') return { reactions: await found(), isNew: false };
    if (outcome.problem === 'SHADOWED')
      return { reactions: asIfStored(await found(), { emoji, userId, isAdd }), isNew: true };
    if (outcome.problem === 'NOT_A_MEMBER') return admission.failAsNonMember(db, caller, conversationId, userId);
    if (outcome.problem === 'MUTED') return admission.failAsMuted(db, caller, conversationId, userId);
    throw new ServiceError(problems[outcome.problem]);
  }

  /** Of the shadow too, by its sender. */
  const react = (caller: ChatCaller, messageId: string, given: Given, isAdd: boolean): Promise<Applied> =>
    orInShadow(
      shadow,
      { caller, messageId },
      () => apply(caller, messageId, given, isAdd),
      (entry) => shadow.react(caller, entry, { emoji: normalEmoji(given.emoji), isAdd }),
    );

  return {
    async add(caller: ChatCaller, messageId: string, given: Given): Promise<Answer<ReactionSummary[]>> {
      const { reactions, isNew } = await react(caller, messageId, given, true);
      return new Answer(reactions, { isRepeat: !isNew });
    },
    remove: async (caller: ChatCaller, messageId: string, given: Given): Promise<ReactionSummary[]> =>
      (await react(caller, messageId, given, false)).reactions,
  };
}

interface Applied {
  reactions: ReactionSummary[];
  /** It changed something. */
  isNew: boolean;
}

/** What a user in the shadow is shown of a reaction that is not stored (ADR 211). */
function asIfStored(
  reactions: readonly ReactionSummary[],
  { emoji, userId, isAdd }: { emoji: string; userId: string; isAdd: boolean },
): ReactionSummary[] {
  if (!isAdd) return [...reactions];
  const known = reactions.find((one) => one.emoji === emoji) ?? { emoji, count: 0, userIds: [] };
  const own = { ...known, count: known.count + 1, userIds: [...known.userIds, userId].slice(0, 10), reacted: true };
  return reactions.includes(known) ? reactions.map((one) => (one === known ? own : one)) : [...reactions, own];
}

const shortName = /^(?=.{1,64}$):?[A-Za-z0-9_+-]+:?$/;
const emojiOnly = /^[\p{Emoji}\p{Emoji_Component}]+$/u;

/** One spelling for each emoji: without it a heart and a heart with a variation selector would be two reactions. */
export function normalEmoji(text: string): string {
  const normal = text.normalize('NFC').replaceAll(/[\ufe0e\ufe0f]/g, '');
  return shortName.test(normal) || emojiOnly.test(normal) ? normal : fail('SVC_INVALID_EMOJI');
}
