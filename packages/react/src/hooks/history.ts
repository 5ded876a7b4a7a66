import type { Conversation } from '@parley/client/chat';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLatest } from './use-latest.ts';

export interface OlderMessages {
  hasOlder: boolean;
  isLoading: boolean;
  /** Reads one more page; says whether there may be another. One at a time. */
  loadOlder: () => Promise<boolean>;
}

interface Position {
  conversation: Conversation | null;
  /** Undefined before the first page. */
  cursor: string | null | undefined;
  /** Where the cursor goes on from. */
  oldest: string | null;
  reading: Promise<boolean> | null;
}

const start = (conversation: Conversation | null): Position => ({
  conversation,
  cursor: undefined,
  oldest: null,
  reading: null,
});

/** Reads the newest page of a conversation when it is shown, and older ones when asked. */
export function useOlderMessages(
  conversation: Conversation | null,
  onError: (error: unknown) => void,
  limit = 50,
): OlderMessages {
  const position = useRef(start(null));
  const [state, setState] = useState({ hasOlder: false, isLoading: false });
  const report = useLatest(onError);

  const loadOlder = useCallback((): Promise<boolean> => {
    const at = position.current;
    at.reading ??= readPage(
      at,
      limit,
      (change) => at === position.current && setState((now) => ({ ...now, ...change })),
    )
      .catch((error) => {
        report.current(error);
        return false;
      })
      .finally(() => {
        at.reading = null;
      });
    return at.reading;
  }, [limit]);

  useEffect(() => {
    position.current = start(conversation);
    setState({ hasOlder: false, isLoading: false });
    if (conversation) void loadOlder();
  }, [conversation, loadOlder]);
  return { ...state, loadOlder };
}

async function readPage(
  at: Position,
  limit: number,
  show: (change: { hasOlder?: boolean; isLoading: boolean }) => void,
): Promise<boolean> {
  const { conversation, cursor } = at;
  if (!conversation || cursor === null) return false;
  // When the list was read anew, the cursor is of pages that are not there: the newest comes first again.
  const isContinued = conversation.messages.getSnapshot()[0]?.id === at.oldest;
  show({ isLoading: true });
  try {
    const page = await conversation.history({ limit, ...(cursor && isContinued ? { before: cursor } : {}) });
    at.cursor = page.nextCursor;
    at.oldest = conversation.messages.getSnapshot()[0]?.id ?? null;
    show({ hasOlder: page.nextCursor !== null, isLoading: false });
    return page.nextCursor !== null;
  } catch (error) {
    show({ isLoading: false });
    throw error;
  }
}
