export { watchPresence } from '../chat/watch-presence.ts';
export type { Store } from '../store.ts';
export { createChatStore } from './chat-store.ts';
export type {
  ChatStore,
  ChatStoreOptions,
  ChatStoreState,
  ConversationEntry,
  ConversationSource,
  DraftStorage,
  SearchOptions,
  SearchResult,
} from './types.ts';
