import type { InboxBadge, InboxEntry } from '@parley/contract/types.gen';
import type { SvcError } from '../errors.ts';
import type { Store } from '../store.ts';

export interface InboxOptions {
  /** Entries that are read at once. Default 30, at most 200. */
  pageSize?: number;
  /** Tells senders that their messages have reached this device. Default false. */
  acknowledge?: boolean;
}

export interface InboxState {
  /** Pinned ones first, then by last activity; without archived and hidden ones. */
  readonly entries: readonly InboxEntry[];
  /** Over all conversations, loaded or not, less the muted; null until it is known. */
  readonly badge: InboxBadge | null;
  /** Who types, by conversation id. */
  readonly typing: ReadonlyMap<string, readonly string[]>;
  /** Whether `loadMore` has anything to load. */
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Why the last attempt to load failed. */
  readonly error: SvcError | null;
}

/** The conversations of the user, kept current over the connection of a `Chat`. */
export interface Inbox {
  /** Fits React's `useSyncExternalStore`. */
  readonly state: Store<InboxState>;
  loadMore(): Promise<void>;
  /** Until a time, or until `unmute`. */
  mute(conversationId: string, until?: Date): Promise<void>;
  unmute(conversationId: string): Promise<void>;
  pin(conversationId: string): Promise<void>;
  unpin(conversationId: string): Promise<void>;
  /** Until the next message. */
  hide(conversationId: string): Promise<void>;
  /** From this message on; the last one unless given. */
  markUnread(conversationId: string, messageId?: string): Promise<void>;
  /** Ends it; the chat goes on. */
  close(): void;
}
