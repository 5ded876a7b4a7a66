import {
  type CastVote,
  type chatPollRoutes,
  type ErrorCode,
  fail,
  type Poll,
  type PollVote,
  type PollVotesQuery,
  roleCan,
  ServiceError,
} from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { EventRef } from '../../../core/event-store.ts';
import { type Answer, type Handlers, page } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { actorOf, type ChatCaller, subjectOf, userOf } from '../callers.ts';
import { lockEntry } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import { entryOf, topicOf } from '../live/change.ts';
import type { Hub } from '../live/hub.ts';
import type { Messages } from '../messages/edit.ts';
import { createGroupCommit } from '../messages/group-commit.ts';
import type { Admission } from '../moderation/admission.ts';
import type { Shadow } from '../shadow/shadow.ts';
import type { ShadowEntry } from '../shadow/shadow-store.ts';
import { orInShadow } from '../shadow/with-shadow.ts';
import {
  type Announced,
  type DuePoll,
  findOwnVotes,
  findPolls,
  forgetDue,
  isAnyDue,
  listDue,
  listVotes,
  type VoteItem,
  writePolls,
} from './poll-store.ts';
import { countsOf, problemOf, recounted, type VoteProblem } from './tally.ts';
import { storeVotes, type VoteOutcome } from './votes.ts';

interface PollDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  unitOfWork: UnitOfWork;
  entries: Entries;
  messages: Messages;
  shadow: Pick<Shadow, 'find' | 'messageOf'>;
  hub: Hub;
  admission: Admission;
  /** Takes the events of a batch, right after its commit. */
  dispatch: (events: readonly EventRef[]) => void;
}

export type Polls = ReturnType<typeof createPolls>;

const problems: Readonly<Record<Exclude<VoteProblem, 'NOT_A_MEMBER' | 'MUTED' | 'NO_OPTION' | 'TOO_MANY'>, ErrorCode>> =
  {
    GONE: 'SVC_MESSAGE_NOT_FOUND',
    NO_POLL: 'SVC_POLL_NOT_FOUND',
    BLOCKED: 'SVC_CHAT_BLOCKED',
    ARCHIVED: 'SVC_CONVERSATION_ARCHIVED',
    CLOSED: 'SVC_POLL_CLOSED',
  };
const faults = {
  NO_OPTION: { rule: 'range', message: 'The poll has no such option.' },
  TOO_MANY: { rule: 'maxItems', message: 'The poll takes fewer options from one voter.' },
} as const;

function failFor(problem: Exclude<VoteProblem, 'NOT_A_MEMBER' | 'MUTED'>): never {
  if (problem === 'NO_OPTION' || problem === 'TOO_MANY') return refuse([{ field: 'optionIds', ...faults[problem] }]);
  throw new ServiceError(problems[problem]);
}

const dueMax = 100;

export function createPolls(deps: PollDeps) {
  const { db, clock, ids, cursors, unitOfWork, entries, messages, shadow, hub, admission, dispatch } = deps;
  // A crowd that votes is many writes to one row: they are stored together, like reactions.
  const queue = createGroupCommit<VoteItem, VoteOutcome>({
    clock,
    // They are counted one after the other: none has to wait for another.
    keysOf: () => [],
    takenKeys: () => [],
    lockOf: ({ conversationId }) => conversationId,
    store: (items) => storeVotes(db, clock, items),
    publish,
  });

  function publish(_items: readonly VoteItem[], outcomes: readonly VoteOutcome[]): void {
    const stored = outcomes.filter((outcome) => outcome.is === 'stored');
    for (const { announced } of stored) if (announced) announce(announced);
    dispatch(stored.flatMap(({ event }) => (event ? [event] : [])));
  }

  const announce = ({ conversationId, change, message }: Announced): void =>
    hub.announce(entryOf({ type: 'message.updated', conversationId, change, message }, clock.now()));

  async function enter(caller: ChatCaller, messageId: string, scope: 'chat:react' | 'chat:read' | 'chat:edit') {
    const entry = await messages.enter(caller, messageId, { scope });
    return entry.isDeleted ? fail('SVC_MESSAGE_NOT_FOUND') : entry;
  }

  /** Votes for these options alone; for none, the vote is taken back. */
  async function vote(caller: ChatCaller, messageId: string, { optionIds, userId: named }: CastVote): Promise<Poll> {
    const userId = subjectOf(caller, named);
    if (optionIds.length > 0) await admission.assertMaySpeak(caller);
    const chosen = [...new Set(optionIds)].sort((one, other) => one - other);
    return orInShadow(
      shadow,
      { caller, messageId },
      () => voteOfAll(caller, messageId, userId, chosen),
      (entry) => voteInShadow(caller, entry, chosen),
    );
  }

  async function voteOfAll(caller: ChatCaller, messageId: string, userId: string, chosen: number[]): Promise<Poll> {
    const { conversationUuid, conversationId } = await enter(caller, messageId, 'chat:react');
    const outcome = await queue.add({
      eventId: ids.newId('event'),
      conversationId: conversationUuid,
      messageId,
      userId,
      isUser: caller.kind === 'chatToken',
      isShadowed: await admission.isShadowed(caller),
      optionIds: chosen,
    });
    if (outcome.is === 'stored') {
      const isOwn = caller.kind === 'chatToken' && chosen.length > 0;
      return isOwn ? { ...outcome.poll, ownVotes: chosen } : outcome.poll;
    }
    const { problem } = outcome;
    if (problem === 'NOT_A_MEMBER') return admission.failAsNonMember(db, caller, conversationId, userId);
    if (problem === 'MUTED') return admission.failAsMuted(db, caller, conversationId, userId);
    return failFor(problem);
  }

  /** A poll that its author alone has: they are shown their vote, which is kept nowhere (ADR 211). */
  async function voteInShadow(caller: ChatCaller, entry: ShadowEntry, chosen: number[]): Promise<Poll> {
    if (entry.isDeleted || userOf(caller) !== entry.senderId) fail('SVC_MESSAGE_NOT_FOUND');
    const action = chosen.length > 0 ? 'send' : 'read';
    await entries.enter(caller, entry.conversationId, { scope: 'chat:react', action, isWrite: true });
    const { poll } = await shadow.messageOf(entry);
    if (!poll) return failFor('NO_POLL');
    const problem = problemOf(poll, chosen, clock.now());
    if (problem) return failFor(problem);
    return chosen.length === 0 ? poll : { ...recounted(poll, [], chosen), ownVotes: chosen };
  }

  /** Under the lock of the conversation; false for one that is closed or gone. */
  async function closeIn(
    tx: Tx,
    emit: Emit,
    at: { messageId: string; conversationUuid: string; closedBy: string | null },
  ): Promise<boolean> {
    const { messageId, conversationUuid: conversationId, closedBy } = at;
    const poll = (await findPolls(tx, [messageId])).get(messageId);
    if (!poll) await forgetDue(tx, messageId);
    if (!poll || poll.closedAt !== null) return false;
    const now = iso(clock.now());
    // By the time, it was closed then, however late somebody notes it.
    const closedAt = poll.closesAt !== null && poll.closesAt < now ? poll.closesAt : now;
    const [announced] = await writePolls(tx, [{ messageId, conversationId, poll: { ...poll, closedAt } }], now);
    if (!announced) throw new Error('a locked message was not there');
    const { conversationId: publicId, change } = announced;
    const tally = { counts: countsOf(poll), voters: poll.voters, at: closedAt };
    const data = { conversationId: publicId, change, messageId, ...tally, closedBy };
    emit({ type: 'poll.closed', topic: topicOf(publicId), data, afterCommit: () => announce(announced) });
    return true;
  }

  async function close(caller: ChatCaller, messageId: string, named?: string): Promise<Poll> {
    const { conversationUuid, senderId } = await enter(caller, messageId, 'chat:edit');
    const needs = { scope: 'chat:edit', action: 'read', isWrite: caller.kind === 'chatToken' } as const;
    return entries.change(caller, conversationUuid, needs, async (tx, emit, { role }) => {
      const poll = (await findPolls(tx, [messageId])).get(messageId) ?? fail('SVC_POLL_NOT_FOUND');
      const isAuthor = senderId !== null && senderId === userOf(caller);
      if (role && !(isAuthor || roleCan(role, 'moderate'))) {
        fail('SVC_FORBIDDEN', { message: 'Its author or a moderator closes a poll.' });
      }
      if (poll.closedAt === null)
        await closeIn(tx, emit, { messageId, conversationUuid, closedBy: actorOf(caller, named) });
      const after = (await findPolls(tx, [messageId])).get(messageId) ?? fail('SVC_POLL_NOT_FOUND');
      const viewer = userOf(caller);
      const ownVotes = viewer === null ? undefined : await findOwnVotes(tx, messageId, viewer);
      return ownVotes ? { ...after, ownVotes } : after;
    });
  }

  async function votes(caller: ChatCaller, messageId: string, query: PollVotesQuery): Promise<Answer<PollVote[]>> {
    const { limit = pageSizeDefault, cursor, optionId = null } = query;
    await enter(caller, messageId, 'chat:read');
    const poll = (await findPolls(db, [messageId])).get(messageId) ?? fail('SVC_POLL_NOT_FOUND');
    if (poll.anonymous) fail('SVC_FORBIDDEN', { message: 'This poll is anonymous.' });
    const name = `votes/${messageId}/${optionId}`;
    const after = cursor === undefined ? null : (cursors.read(name, cursor) as [string, string]);
    const rows = await listVotes(db, messageId, { optionId, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(name, [last.votedAt, last.userId]));
    return page(items, nextCursor);
  }

  /** One transaction each, no matter which is first: what is noted is announced and recorded once. */
  async function closeOne({ messageId, conversationUuid, ...scope }: DuePoll): Promise<void> {
    await unitOfWork(scope, async (tx, emit) => {
      if (await lockEntry(tx, scope, conversationUuid, null))
        await closeIn(tx, emit, { messageId, conversationUuid, closedBy: null });
    });
  }

  async function closeDue(turn: Turn = withoutDeadline): Promise<number> {
    let total = 0;
    for (;;) {
      const due = await listDue(db, iso(clock.now()), dueMax);
      for (const one of due) await closeOne(one);
      total += due.length;
      if (due.length < dueMax || turn.isOver()) return total;
    }
  }

  return { vote, close, votes, closeDue, isDue: () => isAnyDue(iso(clock.now())) };
}

export const pollHandlers = (polls: Polls): Handlers<typeof chatPollRoutes> => ({
  castVote: ({ caller, params, query, body }) => polls.vote(caller, params.messageId, { ...query, ...body }),
  retractVote: ({ caller, params, query }) => polls.vote(caller, params.messageId, { ...query, optionIds: [] }),
  closePoll: ({ caller, params, query }) => polls.close(caller, params.messageId, query.userId),
  listPollVotes: ({ caller, params, query }) => polls.votes(caller, params.messageId, query),
});
