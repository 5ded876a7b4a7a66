import { type Static, Type } from 'typebox';
import { Identity, Line, Nullable, PageQuery, Timestamp } from '../schema.ts';

export const pollOptionsMax = 20;

const Count = Type.Integer({ minimum: 0 });
/** 1 for the first option, 2 for the next, … */
const OptionId = Type.Integer({ minimum: 1, maximum: pollOptionsMax });
const OptionIds = Type.Array(OptionId, { maxItems: pollOptionsMax });

/** What a new message asks. Its words are the message's text, one line each: the question, then the options. */
export const PollDraft = Type.Object({
  question: Line(1, 300),
  options: Type.Array(Line(1, 100), { minItems: 2, maxItems: pollOptionsMax }),
  /** How many options one voter may choose; 1 unless told. */
  maxVotes: Type.Optional(Type.Integer({ minimum: 1, maximum: pollOptionsMax })),
  /** Nobody is told who voted, and for what. */
  anonymous: Type.Optional(Type.Boolean()),
  closesAt: Type.Optional(Nullable(Timestamp)),
});
export type PollDraft = Static<typeof PollDraft>;

export const Poll = Type.Object({
  question: Type.String(),
  options: Type.Array(Type.Object({ id: OptionId, text: Type.String(), votes: Count })),
  maxVotes: Type.Integer(),
  anonymous: Type.Boolean(),
  closesAt: Nullable(Timestamp),
  closedAt: Nullable(Timestamp),
  /** How many people have voted. */
  voters: Count,
  /** For a chat token whose user has voted: for which options. */
  ownVotes: Type.Optional(OptionIds),
});
export type Poll = Static<typeof Poll>;

export const CastVote = Type.Object({
  /** All that the user votes for, in the place of what they voted for before; none takes the vote back. */
  optionIds: OptionIds,
  userId: Type.Optional(Identity),
});
export type CastVote = Static<typeof CastVote>;

export const PollVote = Type.Object({ userId: Type.String(), optionIds: OptionIds, votedAt: Timestamp });
export type PollVote = Static<typeof PollVote>;

export const PollVotesQuery = Type.Object({ ...PageQuery, optionId: Type.Optional(OptionId) });
export type PollVotesQuery = Static<typeof PollVotesQuery>;

/** What events say of a vote: by whom only where the poll is not anonymous, never what it asks. */
const pollTally = {
  messageId: Type.String(),
  /** By option, in their order. */
  counts: Type.Array(Count),
  voters: Count,
  at: Timestamp,
};
export const pollVoted = {
  ...pollTally,
  userId: Nullable(Type.String()),
  /** What they vote for now, none for a vote taken back; null where the poll is anonymous. */
  optionIds: Nullable(OptionIds),
};
/** `closedBy`: the user, or `server`; null for the time. */
export const pollClosed = { ...pollTally, closedBy: Nullable(Type.String()) };
