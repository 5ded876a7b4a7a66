import type { Conversation } from '../chat/conversation-types.ts';
import type { Message, NewMessage } from '../chat/records.ts';
import type { ParleyError } from '../errors.ts';
import type { Store } from '../store.ts';

/** One line of a conversation list. Immutable: the same object until something in it changes. */
export interface ConversationEntry {
  /** As it was given, or the id when the server listed it. */
  readonly conversationRef: string;
  /** `conv_…`; null until it is known. */
  readonly conversationId: string | null;
  readonly title: string;
  /** Messages after this user's read mark. */
  readonly unread: number;
  /** How many of them name this user after an @, of those that are loaded (the newest thirty, once it is joined). */
  readonly mentions: number;
  /** The newest, your own on its way included; null until it is joined. */
  readonly lastMessage: Message | null;
  /** Milliseconds since the epoch. */
  readonly lastActivityAt: number | null;
  /** Somebody else is present. */
  readonly isPresent: boolean;
  /** Who is present, without this user. */
  readonly present: readonly string[];
  /** Who types, without this user. */
  readonly typing: readonly string[];
  readonly draft: string;
  /** Joined, so that every change is seen at once; otherwise it is as fresh as the last `refresh`. */
  readonly isLive: boolean;
  /** Why it could not be joined. */
  readonly error: ParleyError | null;
}

export interface ConversationSource {
  /** `conv_` id, uuid, room id or name. */
  ref: string;
  /** Default: the conversation's name. */
  title?: string;
}

/** What is used of `localStorage`. */
export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface ChatStoreOptions {
  /** Which to show. Left out: those that the user is a member of. */
  conversations?: readonly string[] | (() => Promise<readonly ConversationSource[]>);
  /** How others write this user after an @: the name that your components show. Default: the user id. */
  mentionedAs?: readonly string[];
  /** Where drafts are kept. Default `localStorage` if there is one; null keeps them in memory. */
  storage?: DraftStorage | null;
  /** How many are joined at once, the most recent first. Default 20, which is what servers usually allow. */
  joinedMax?: number;
  /** How often the list is read again, for those that are not joined and for new ones. Default 30 s. */
  refreshMs?: number;
}

export interface SearchOptions {
  /** Pages of a hundred messages that are read for each conversation. Default 10 for one, 1 for all. */
  pagesMax?: number;
  signal?: AbortSignal;
}

/** Newest first. */
export interface SearchResult extends ReadonlyArray<Message> {
  /** False: there are older messages, or conversations, that were not looked at. */
  readonly isComplete: boolean;
  /** How many messages were looked at. */
  readonly searched: number;
}

export interface ChatStoreState {
  /** Until the list was read for the first time. */
  readonly isLoading: boolean;
  /** Why the list could not be read; tried again with the next `refresh`. */
  readonly error: ParleyError | null;
}

export interface ChatStore {
  /** Most recent activity first. */
  readonly conversations: Store<readonly ConversationEntry[]>;
  readonly state: Store<ChatStoreState>;
  readonly drafts: {
    get(ref: string): string;
    /** An empty text removes it. */
    set(ref: string, text: string): void;
  };
  /** Joins if need be; another one that was not opened for long is left then. Do not `leave()` it: the store does. */
  open(ref: string): Promise<Conversation>;
  /** Sends, shown at once, and removes the draft. */
  send(ref: string, message: string | NewMessage): Promise<Message>;
  /** Marks everything there as read. */
  markRead(ref: string): Promise<void>;
  /**
   * Messages that have all these words, in one conversation or in all that are joined. The server has no search yet:
   * loaded messages and some pages of history are looked at, and the result says whether that was everything.
   */
  search(ref: string | null, text: string, options?: SearchOptions): Promise<SearchResult>;
  /** Reads the list again now. */
  refresh(): Promise<void>;
  /** Leaves what it joined. The chat stays connected. */
  close(): void;
}
