import { fail, type Limits, type Poll, type PollDraft, type SendMessage } from '@parley/contract';
import { iso } from '../../../core/clock.ts';
import { metadataJson } from '../../../core/safe-json.ts';
import { refuse } from '../../../core/validation.ts';

/** What a message cannot have beside a poll, or beside what it forwards. */
export function assertAlone(draft: SendMessage, name: 'poll' | 'forward', limits: Limits): void {
  const others = ['text', 'attachmentId', 'attachmentIds', 'type', ...(name === 'poll' ? ['forward'] : [])] as const;
  const field = others.find((other) => (draft[other as keyof SendMessage] ?? undefined) !== undefined);
  if (field) refuse([{ field, rule: 'conflict', message: `A message with ${name} has no ${field} of its own.` }]);
  if (draft.metadata) metadataJson(draft.metadata, limits.CHAT_MAX_METADATA_BYTES);
}

/** The words of a poll go the way of every text: to word lists, the hook, search and previews. */
export function wordsOf(poll: PollDraft): string {
  const { question, options, maxVotes = 1 } = poll;
  if (new Set(options).size < options.length) {
    refuse([{ field: 'poll.options', rule: 'unique', message: 'Each option must differ from the others.' }]);
  }
  if (maxVotes > options.length) {
    refuse([{ field: 'poll.maxVotes', rule: 'range', message: 'maxVotes cannot be more than there are options.' }]);
  }
  return [question, ...options].join('\n');
}

/** The poll as it begins, in the words that moderation has left. */
export function pollOf(draft: PollDraft, words: string): Poll {
  const [question = '', ...options] = words.split('\n');
  if (options.length !== draft.options.length || [question, ...options].some((line) => line.trim() === '')) {
    fail('SVC_MESSAGE_REJECTED', { by: 'hook', reason: 'The hook did not leave a line for each option of the poll.' });
  }
  return {
    question,
    options: options.map((text, at) => ({ id: at + 1, text, votes: 0 })),
    maxVotes: draft.maxVotes ?? 1,
    anonymous: draft.anonymous ?? false,
    closesAt: draft.closesAt ? iso(Date.parse(draft.closesAt)) : null,
    closedAt: null,
    voters: 0,
  };
}
