import type { ChatUser, Conversation } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart } from '../chat/part.ts';

export type { ChatUser, Conversation as ConversationRecord } from '@parley/contract/types.gen';

/** Names and faces of those the user shares a conversation with, and direct conversations with them. */
export interface People {
  /** Up to 100, in this order and without those the user does not share a conversation with; without ids the user. */
  list(userIds?: readonly string[]): Promise<readonly ChatUser[]>;
  get(userId: string): Promise<ChatUser>;
  /** Finds or makes the one direct conversation of exactly these 2 to 8 people; the user is one of them. */
  openDirect(userIds: readonly string[]): Promise<Conversation>;
}

export function createPeople(chat: Chat): People {
  const { http } = createPart(chat, () => {});
  const path = '/v1/chat/users';
  return {
    list: async (userIds) => {
      // Without ids the service answers with the user: of an empty list that would be one too many.
      if (userIds?.length === 0) return [];
      return (await http.call('GET', path, { query: { ids: userIds?.join() } })) as ChatUser[];
    },
    get: async (userId) => (await http.call('GET', `${path}/${encodeURIComponent(userId)}`)) as ChatUser,
    openDirect: async (userIds) => (await http.call('POST', '/v1/chat/direct', { body: { userIds } })) as Conversation,
  };
}
