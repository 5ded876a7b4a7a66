import type { Poll } from '@parley/contract';

export type VoteProblem =
  | 'GONE'
  | 'NO_POLL'
  | 'NOT_A_MEMBER'
  | 'MUTED'
  | 'BLOCKED'
  | 'ARCHIVED'
  | 'CLOSED'
  | 'NO_OPTION'
  | 'TOO_MANY';

/** By the clock, whether or not somebody has noted it yet. */
const isOver = ({ closesAt, closedAt }: Poll, now: number): boolean =>
  closedAt !== null || (closesAt !== null && Date.parse(closesAt) <= now);

/** What is wrong with a vote for these options; none is a vote taken back. */
export function problemOf(
  poll: Poll,
  optionIds: readonly number[],
  now: number,
): Extract<VoteProblem, 'CLOSED' | 'NO_OPTION' | 'TOO_MANY'> | null {
  if (isOver(poll, now)) return 'CLOSED';
  if (optionIds.some((id) => id > poll.options.length)) return 'NO_OPTION';
  return optionIds.length > poll.maxVotes ? 'TOO_MANY' : null;
}

/** The poll after one voter has gone from some options to others. */
export function recounted(poll: Poll, before: readonly number[], after: readonly number[]): Poll {
  const step = (id: number): number => Number(after.includes(id)) - Number(before.includes(id));
  return {
    ...poll,
    options: poll.options.map((option) => ({ ...option, votes: option.votes + step(option.id) })),
    voters: poll.voters + Number(after.length > 0) - Number(before.length > 0),
  };
}

export const countsOf = ({ options }: Poll): number[] => options.map(({ votes }) => votes);

export const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);
