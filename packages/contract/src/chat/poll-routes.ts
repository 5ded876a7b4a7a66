import { Type } from 'typebox';
import { routes } from '../route.ts';
import { CastVote, Poll, PollVote, PollVotesQuery } from './poll-schemas.ts';
import { ForUser } from './schemas.ts';

const anyChat = ['apiKey', 'chatToken'] as const;
const onPoll = ['SVC_MESSAGE_NOT_FOUND', 'SVC_POLL_NOT_FOUND', 'SVC_NOT_A_MEMBER', 'SVC_SCOPE_MISSING'] as const;
const voting = [...onPoll, 'SVC_POLL_CLOSED', 'SVC_CONVERSATION_ARCHIVED', 'SVC_USER_REQUIRED'] as const;

export const chatPollRoutes = routes({
  castVote: {
    at: 'PUT /v1/chat/messages/{messageId}/poll/vote',
    sdk: 'chat.polls.vote',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_REACT_RATE_LIMIT',
    query: ForUser,
    body: CastVote,
    returns: [200, Poll],
    throws: [...voting, 'SVC_CHAT_MUTED', 'SVC_CHAT_BLOCKED'],
    does: 'Votes in a poll, in the place of an earlier vote of the same user. An API key names the user.',
  },
  retractVote: {
    at: 'DELETE /v1/chat/messages/{messageId}/poll/vote',
    sdk: 'chat.polls.retract',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_REACT_RATE_LIMIT',
    query: ForUser,
    returns: [200, Poll],
    throws: voting,
    does: 'Takes a vote back while the poll is open; one that is not there is no error.',
  },
  closePoll: {
    at: 'POST /v1/chat/messages/{messageId}/poll/close',
    sdk: 'chat.polls.close',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_EDIT_RATE_LIMIT',
    query: ForUser,
    returns: [200, Poll],
    throws: [...onPoll, 'SVC_FORBIDDEN', 'SVC_CONVERSATION_ARCHIVED'],
    does: 'Closes a poll before its time: its author, a moderator or an API key does. Closing what is closed changes nothing.',
  },
  listPollVotes: {
    at: 'GET /v1/chat/messages/{messageId}/poll/votes',
    sdk: 'chat.polls.votes',
    scope: 'chat',
    by: anyChat,
    userBudget: 'CHAT_HISTORY_RATE_LIMIT',
    query: PollVotesQuery,
    paged: true,
    returns: [200, Type.Array(PollVote)],
    throws: [...onPoll, 'SVC_FORBIDDEN', 'SVC_INVALID_CURSOR'],
    does: 'Lists who voted for what, oldest vote first; of an anonymous poll nobody is told.',
  },
});
