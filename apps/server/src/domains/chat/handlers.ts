import type { chatDashboardRoutes, conversationRoutes } from '@parley/contract';
import { type Handlers, RawJson } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import { type RateLimiter, spendUserBudget } from '../../core/rate-limiter.ts';
import type { Attachments } from './attachments/attachments.ts';
import { assertAuthor, type ChatCaller } from './callers.ts';
import type { Conversations } from './conversations/conversations.ts';
import type { Entries } from './conversations/entries.ts';
import type { Members } from './conversations/members.ts';
import type { Reads } from './conversations/reads.ts';
import type { createDashboard } from './dashboard/dashboard.ts';
import type { PresenceOf } from './live/presence.ts';
import type { TypingOf } from './live/typing.ts';
import type { Messages } from './messages/edit.ts';
import type { History } from './messages/history.ts';
import type { Reactions } from './messages/reactions.ts';
import type { Sends } from './messages/send.ts';
import type { Threads } from './messages/threads.ts';
import type { ChatTokens } from './tokens.ts';

interface HandlerDeps {
  ids: Ids;
  rateLimiter: RateLimiter;
  entries: Entries;
  conversations: Conversations;
  members: Members;
  sends: Sends;
  messages: Messages;
  threads: Threads;
  history: History;
  reactions: Reactions;
  reads: Reads;
  presence: PresenceOf;
  typing: TypingOf;
  attachments: Attachments;
  tokens: ChatTokens;
  dashboard: ReturnType<typeof createDashboard>;
}

/** Of the conversations themselves; each further part of chat gives its own. */
export function createHandlers(
  deps: HandlerDeps,
): Handlers<typeof conversationRoutes> & Handlers<typeof chatDashboardRoutes> {
  const { ids, rateLimiter, entries, conversations, members, sends, messages, history, reactions, reads } = deps;
  const { threads, presence, typing, attachments, tokens, dashboard } = deps;

  /** The conversation; of two people who are out of touch each sees only themselves. */
  async function seeing(caller: ChatCaller, reference: string): Promise<{ id: string; only?: string }> {
    const entry = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    const isAlone = entry.isSilenced && caller.kind === 'chatToken';
    return { id: entry.publicId, ...(isAlone ? { only: caller.userId } : {}) };
  }

  return {
    listConversations: ({ caller, query }) => conversations.list(caller, query),
    createConversation: ({ caller, body }) => conversations.create(caller, body),
    getConversation: ({ caller, params }) => conversations.get(caller, params.room),
    updateConversation: ({ caller, params, body }) => conversations.update(caller, params.room, body),
    deleteConversation: ({ caller, params }) => conversations.erase(caller, params.room),
    listUserConversations: ({ caller, params, query }) => conversations.list(caller, query, params.userId),

    listConversationMembers: ({ caller, params, query }) => members.list(caller, params.room, query),
    addConversationMember: ({ caller, params, body }) => members.add(caller, params.room, body),
    changeConversationMember: ({ caller, params, body }) => members.change(caller, params.room, params.userId, body),
    removeConversationMember: ({ caller, params }) => members.remove(caller, params.room, params.userId),

    listMessages: async ({ caller, params, query }) => new RawJson(await history.page(caller, params.room, query)),
    listChanges: async ({ caller, params, query }) => new RawJson(await history.changes(caller, params.room, query)),
    async sendMessage({ caller, params, body, request: { attempt } }) {
      assertAuthor(caller, 'senderId', body.senderId);
      const id = attempt ? ids.idOf('message', attempt.seed) : undefined;
      const earlier = id !== undefined && attempt?.isRetry ? await messages.findSent(caller, id) : undefined;
      if (earlier) return earlier;
      // Not in the row: a retry of what was sent must find it, whatever is left of the budget.
      await spendUserBudget(rateLimiter, 'CHAT_SEND_RATE_LIMIT', caller);
      const { text, isRepeat } = await sends.send(caller, params.room, body, id);
      return new RawJson(text, { isRepeat });
    },
    getMessage: ({ caller, params }) => messages.get(caller, params.messageId),
    editMessage: ({ caller, params, body }) => messages.edit(caller, params.messageId, body),
    deleteMessage: ({ caller, params, query }) => messages.remove(caller, params.messageId, query.userId),
    getThread: ({ caller, params, query }) => threads.page(caller, params.messageId, query),

    addReaction: ({ caller, params, query, body }) => reactions.add(caller, params.messageId, { ...query, ...body }),
    async removeReaction({ caller, params, query }) {
      await reactions.remove(caller, params.messageId, { emoji: params.emoji, userId: query.userId });
      return undefined;
    },
    markRead: ({ caller, params, body, query }) => reads.mark(caller, params.messageId, body.userId ?? query.userId),
    getReadState: ({ caller, params, query }) => reads.state(caller, params.room, query.userId),
    listReadReceipts: ({ caller, params, query }) => reads.receipts(caller, params.room, query),

    async listPresence({ caller, params, query }) {
      const { id, only } = await seeing(caller, params.room);
      return presence.list(id, query, only);
    },
    async listTyping({ caller, params, query }) {
      const { id, only } = await seeing(caller, params.room);
      return typing.list(id, query, only);
    },

    async requestAttachment({ caller, params, body }) {
      assertAuthor(caller, 'uploaderId', body.uploaderId);
      return attachments.request(caller, params.room, body);
    },
    completeAttachment: ({ caller, params }) => attachments.complete(caller, params.attachmentId),
    getAttachmentDownload: ({ caller, params, query }) => attachments.download(caller, params.attachmentId, query),

    mintChatToken: ({ caller, body }) => tokens.mint(caller, body),
    revokeChatToken: ({ caller, params }) => tokens.revoke(caller, params.tokenId),

    getChatOverview: ({ caller }) => dashboard.overview(caller),
    listChatConnections: ({ caller, query }) => dashboard.connections(caller, query),
    listProjectConversations: ({ caller, query }) => dashboard.conversations(caller, query),
    getProjectConversation: ({ caller, params }) => dashboard.conversation(caller, params.conversationId),
    listProjectConversationMembers: ({ caller, params, query }) =>
      dashboard.members(caller, params.conversationId, query),
    listProjectMessages: ({ caller, params, query }) => dashboard.messages(caller, params.conversationId, query),
    listProjectChatUsers: ({ caller, query }) => dashboard.users(caller, query),
    getProjectChatUser: ({ caller, params }) => dashboard.user(caller, params.userId),
    listProjectPresence: ({ caller, params, query }) => dashboard.presence(caller, params.conversationId, query),
  };
}
