import type { Poll, PollVote } from '@parley/contract/types.gen';
import type { Chat, Message, Page, PageOptions } from '../chat/index.ts';
import type { PartPort } from '../chat/part-port.ts';

export interface Polls {
  /** Votes for these options, in the place of an earlier vote; for none, the vote is taken back. */
  vote(messageId: string, optionIds: readonly number[]): Promise<Poll>;
  /** Before its time: its author does, or a moderator. */
  close(messageId: string): Promise<Poll>;
  /** Who voted for what, oldest first; of an anonymous poll nobody is told. */
  votes(messageId: string, options?: PageOptions & { optionId?: number }): Promise<Page<PollVote>>;
  /** The poll of a message with what this user voted for: what comes live is the same for everybody and lacks it. */
  of(message: Pick<Message, 'id' | 'poll'>): Poll | null;
}

/** Voting, for a chat whose conversations show the polls in their messages. */
export function createPolls(chat: Chat): Polls {
  const [http, { request }] = chat['inbox'] as PartPort;
  const own = new Map<string, readonly number[]>();
  const pathOf = (messageId: string): string => `/v1/chat/messages/${encodeURIComponent(messageId)}/poll`;

  return {
    async vote(messageId, optionIds) {
      const { poll } = await request({ type: 'poll.vote', messageId, optionIds: [...optionIds] });
      own.set(messageId, poll.ownVotes ?? []);
      return poll;
    },
    close: async (messageId) => (await http.call('POST', `${pathOf(messageId)}/close`)) as Poll,
    votes: (messageId, options) => http.page<PollVote>(`${pathOf(messageId)}/votes`, options),
    of({ id, poll }) {
      if (!poll || id === null) return null;
      const known = own.get(id);
      // What was read says it; then it is remembered for what comes after.
      if (poll.ownVotes && !known) own.set(id, poll.ownVotes);
      const ownVotes = known ?? poll.ownVotes;
      return ownVotes && ownVotes.length > 0 ? { ...poll, ownVotes: [...ownVotes] } : poll;
    },
  };
}
