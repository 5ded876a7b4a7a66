import type { Poll } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type EventRef, insertEvents, type StoredEvent } from '../../../core/event-store.ts';
import { lockConversations } from '../conversations/conversation-store.ts';
import { topicOf } from '../live/change.ts';
import {
  type Announced,
  type Cast,
  findPolls,
  findStandings,
  type Standing,
  type VoteItem,
  writePolls,
  writeVotes,
} from './poll-store.ts';
import { countsOf, isSame, problemOf, recounted, type VoteProblem } from './tally.ts';

export type VoteOutcome =
  /** With the poll after it, and the event, unless it changed nothing. `announced` is on the last vote of a message. */
  | { is: 'stored'; poll: Poll; event: EventRef | null; announced: Announced | null }
  | { is: 'refused'; problem: VoteProblem };

/**
 * Stores a batch of votes. The conversations are locked first, in the order of their ids: what is read then is true
 * until the commit, so counting is exact. However many votes a poll gets in a batch, its subscribers get one change.
 */
export const storeVotes = (db: Db, clock: Clock, items: readonly VoteItem[]): Promise<VoteOutcome[]> =>
  db.transaction(async (tx) => {
    await tx.query(lockConversations(items.map(({ conversationId }) => conversationId)));
    const standings = await findStandings(tx, items);
    const polls = await findPolls(tx, [...new Set(items.map(({ messageId }) => messageId))]);
    const now = clock.now();
    const batch = count(items, standings, polls, now);
    return write(tx, batch, iso(now));
  });

interface Batch {
  outcomes: VoteOutcome[];
  votes: Map<string, Cast>;
  changed: Map<string, { conversationId: string; poll: Poll; last: number }>;
  events: { at: number; event: StoredEvent }[];
}

/** One vote after the other, as if each had come alone. */
function count(
  items: readonly VoteItem[],
  standings: readonly Standing[],
  polls: Map<string, Poll>,
  now: number,
): Batch {
  const batch: Batch = { outcomes: [], votes: new Map(), changed: new Map(), events: [] };
  for (const [at, item] of items.entries()) {
    const { messageId, conversationId, userId, optionIds } = item;
    const standing = standings[at];
    const poll = polls.get(messageId);
    const problem = standingProblem(item, standing, now) ?? (poll ? problemOf(poll, optionIds, now) : 'NO_POLL');
    if (problem !== null || !poll || !standing) {
      batch.outcomes.push({ is: 'refused', problem: problem ?? 'GONE' });
      continue;
    }
    const key = `${messageId} ${userId}`;
    const before = batch.votes.get(key)?.optionIds ?? standing.options ?? [];
    if (isSame(before, optionIds)) {
      batch.outcomes.push({ is: 'stored', poll, event: null, announced: null });
      continue;
    }
    const next = recounted(poll, before, optionIds);
    if (item.isUser && (item.isShadowed || isAhead(standing.shadowedUntil, now))) {
      // Its voter is shown it, and nobody counts it (ADR 211).
      batch.outcomes.push({ is: 'stored', poll: next, event: null, announced: null });
      continue;
    }
    polls.set(messageId, next);
    batch.votes.set(key, { messageId, conversationId, userId, optionIds });
    batch.changed.set(messageId, { conversationId, poll: next, last: at });
    const event = eventOf(item, standing, next, iso(now));
    batch.events.push({ at, event });
    batch.outcomes.push({ is: 'stored', poll: next, event, announced: null });
  }
  return batch;
}

const isAhead = (until: string | null, now: number): boolean => until !== null && Date.parse(until) > now;

function standingProblem(item: VoteItem, standing: Standing | undefined, now: number): VoteProblem | null {
  if (!standing || standing.publicId === null) return 'GONE';
  if (item.isUser && !standing.isMember) return 'NOT_A_MEMBER';
  const isMuted = isAhead(standing.silencedUntil, now);
  const isSpeech = item.isUser && item.optionIds.length > 0;
  if (isSpeech && isMuted) return 'MUTED';
  if (isSpeech && standing.isSilenced) return 'BLOCKED';
  return standing.status === 'ACTIVE' ? null : 'ARCHIVED';
}

/** Of an anonymous poll nobody learns who voted, and for what: what is not written is told to nobody. */
function eventOf(item: VoteItem, { publicId, projectId, environment }: Standing, poll: Poll, at: string): StoredEvent {
  const { eventId: id, messageId } = item;
  const voter = poll.anonymous ? { userId: null, optionIds: null } : { userId: item.userId, optionIds: item.optionIds };
  const conversationId = publicId ?? '';
  const data = { conversationId, messageId, ...voter, counts: countsOf(poll), voters: poll.voters, at };
  return { id, projectId, environment, type: 'poll.voted', topic: topicOf(conversationId), data, createdAt: at };
}

async function write(tx: Tx, { outcomes, votes, changed, events }: Batch, at: string): Promise<VoteOutcome[]> {
  if (changed.size === 0) return outcomes;
  await writeVotes(tx, [...votes.values()], at);
  const polls = [...changed].map(([messageId, { conversationId, poll }]) => ({ messageId, conversationId, poll }));
  const announced = new Map((await writePolls(tx, polls, at)).map((one) => [one.messageId, one]));
  const numbered = events.map(({ event }) => ({
    ...event,
    data: { ...event.data, change: announced.get(String(event.data['messageId']))?.change ?? 0 },
  }));
  await insertEvents(tx, numbered);
  const result = [...outcomes];
  for (const [messageId, { last }] of changed) {
    const outcome = result[last];
    if (outcome?.is === 'stored') result[last] = { ...outcome, announced: announced.get(messageId) ?? null };
  }
  return result;
}
