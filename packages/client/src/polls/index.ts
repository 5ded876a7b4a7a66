export type { Poll, PollDraft, PollVote } from '@parley/contract/types.gen';
export { createPolls, type Polls } from './polls.ts';
