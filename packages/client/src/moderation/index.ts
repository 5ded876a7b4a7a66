import type { ChatBlock, ChatReport } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart, readAll } from '../chat/part.ts';
import type { SvcError } from '../errors.ts';
import { createDerivedStore, type Store } from '../store.ts';

export type { ChatReport, Sanction } from '@parley/contract/types.gen';
export type { Store } from '../store.ts';
export {
  createModeration,
  type Moderation,
  type ReportsOptions,
  type Resolution,
  type SanctionOptions,
} from './sanctions.ts';

export interface Report {
  reason: ChatReport['reason'];
  /** At most 1,000 characters. */
  note?: string;
}

/** Reports a message to those who run the application; once for each user and message. */
export async function reportMessage(chat: Chat, messageId: string, report: Report): Promise<ChatReport> {
  const { http } = createPart(chat, () => {});
  const path = `/v1/chat/messages/${encodeURIComponent(messageId)}/report`;
  return (await http.call('POST', path, { body: report })) as ChatReport;
}

export interface BlocksState {
  /** Whom the user has blocked; null until it is known. */
  readonly blocked: ReadonlySet<string> | null;
  readonly error: SvcError | null;
}

/** Whom the user wants nothing of, the same on all of their devices. */
export interface Blocks {
  /** Fits React's `useSyncExternalStore`. */
  readonly state: Store<BlocksState>;
  has(userId: string): boolean;
  block(userId: string): Promise<void>;
  unblock(userId: string): Promise<void>;
  close(): void;
}

export function createBlocks(chat: Chat): Blocks {
  let error: SvcError | null = null;
  let isKnown = false;
  /** The list, and what was told or done since; without a list that alone. */
  let blocked = new Set<string>();
  /** Told of while the list was on its way: newer than the list. */
  let heard: Map<string, boolean> | null = null;
  const state = createDerivedStore<BlocksState>(() => ({ blocked: isKnown ? new Set(blocked) : null, error }));
  const part = createPart(chat, (cause) => {
    error = cause;
    state.invalidate();
  });

  function put(userId: string, isBlocked: boolean): void {
    heard?.set(userId, isBlocked);
    if (isBlocked) blocked.add(userId);
    else blocked.delete(userId);
    state.invalidate();
  }

  /** After each connection: frames are not repeated. */
  async function read(isCurrent: () => boolean): Promise<void> {
    const newer = new Map<string, boolean>();
    heard = newer;
    const all = await readAll<ChatBlock>(part.http, '/v1/chat/blocks');
    if (!isCurrent()) return;
    heard = null;
    error = null;
    isKnown = true;
    blocked = new Set(all.map(({ blockedId }) => blockedId));
    for (const [userId, isBlocked] of newer) put(userId, isBlocked);
    state.invalidate();
  }

  const path = (userId: string): string => `/v1/chat/blocks/${encodeURIComponent(userId)}`;
  part.onFrame((frame) => {
    if (frame.type === 'block.updated') put(frame.blockedId, frame.blocked);
  });
  part.onConnected(read);
  return {
    state,
    has: (userId) => blocked.has(userId),
    block: async (userId) => {
      await part.http.call('PUT', path(userId));
      put(userId, true);
    },
    unblock: async (userId) => {
      await part.http.call('DELETE', path(userId));
      put(userId, false);
    },
    close: part.close,
  };
}
