import type { Pin } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart } from '../chat/part.ts';
import type { SvcError } from '../errors.ts';
import { pathOf } from '../http.ts';
import { createDerivedStore, type Store } from '../store.ts';

export type { Pin } from '@parley/contract/types.gen';
export type { Store } from '../store.ts';

export interface PinsState {
  /** The one pinned last first. */
  readonly pins: readonly Pin[];
  readonly error: SvcError | null;
}

/** The pinned messages of a joined conversation. */
export interface Pins {
  /** Fits React's `useSyncExternalStore`. */
  readonly state: Store<PinsState>;
  /** For moderators; in a direct conversation for both. */
  pin(messageId: string): Promise<void>;
  unpin(messageId: string): Promise<void>;
  close(): void;
}

/** Changes come with the conversation: join it. */
export function createPins(chat: Chat, conversationId: string): Pins {
  let shown: PinsState = { pins: [], error: null };
  const state = createDerivedStore(() => shown);
  const show = (change: Partial<PinsState>): void => {
    shown = { ...shown, ...change };
    state.invalidate();
  };
  const part = createPart(chat, (error) => show({ error }));
  let reading: Promise<void> | null = null;
  let isStale = false;

  /** A change while it is read is read once more; who asks waits for that, too. */
  function read(): Promise<void> {
    isStale = true;
    reading ??= readStale();
    return reading;
  }

  async function readStale(): Promise<void> {
    try {
      while (isStale && !part.isClosed) {
        isStale = false;
        const pins = (await part.http.call('GET', `${pathOf(conversationId)}/pins`)) as Pin[];
        if (!isStale) show({ pins, error: null });
      }
    } finally {
      reading = null;
    }
  }

  const path = (messageId: string): string => `/v1/chat/messages/${encodeURIComponent(messageId)}/pin`;
  part.onFrame((frame) => {
    // A list of fifty at most: what a pin shows of its message may have changed, too.
    if (
      /^message\.|^recovered$/.test(frame.type) &&
      'conversationId' in frame &&
      frame.conversationId === conversationId
    )
      void read().catch(() => undefined);
  });
  part.onConnected(read);
  return {
    state,
    pin: async (messageId) => {
      await part.http.call('PUT', path(messageId));
      await read();
    },
    unpin: async (messageId) => {
      await part.http.call('DELETE', path(messageId));
      await read();
    },
    close: part.close,
  };
}
