import type { Conversation, Message } from '@parley/client/chat';

const REPLIES_MAX = 500;

/** Reads the replies of a thread, and again when one that is not in the conversation's list gets a reaction. */
export async function watchReplies(
  conversation: Conversation,
  threadRootId: string,
  onReplies: (replies: readonly Message[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let known = new Set<string | null>();
  let wake = (): void => {};
  /** Something changed while it was read: once more, however much it was. */
  let isStale = true;
  const reread = ({ id }: { id: string }): void => {
    if (known.has(id)) isStale = true;
    wake();
  };
  const stops = [conversation.on('reactionAdded', reread), conversation.on('reactionRemoved', reread)];
  signal.addEventListener('abort', () => wake());
  try {
    while (!signal.aborted) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!isStale) {
        await changed;
        continue;
      }
      isStale = false;
      const found: Message[] = [];
      for await (const reply of conversation.history({ threadRootId, limit: REPLIES_MAX })) found.push(reply);
      known = new Set(found.map(({ id }) => id));
      if (!signal.aborted) onReplies(found);
    }
  } finally {
    for (const stop of stops) stop();
  }
}
