import type { ChatProtocol, Send } from '../frames.ts';
import type { Runtime } from '../runtime.ts';
import { createStore } from '../store.ts';

/** Typing expires on the server after 7 s; sending it more often than this is useless. */
const ANNOUNCE_EVERY_MS = 4_000;

interface TypingDeps {
  id: string;
  userId: string;
  typingTtlMs: number;
  runtime: Pick<Runtime, 'now' | 'setTimer'>;
  send: Send<ChatProtocol>;
}

/** Who types. Each entry ends by itself, also when the frame that should end it never comes. */
export function createTyping(deps: TypingDeps, onChange: (userId: string, isTyping: boolean) => void) {
  const { runtime } = deps;
  const users = createStore<readonly string[]>([]);
  const timers = new Map<string, () => void>();
  let toldAt: number | null = null;

  function changed(userId: string, isTyping: boolean): void {
    users.set([...timers.keys()]);
    onChange(userId, isTyping);
  }

  function stop(userId: string): void {
    const cancel = timers.get(userId);
    if (!cancel) return;
    cancel();
    timers.delete(userId);
    changed(userId, false);
  }

  return {
    users,
    /** Turns every key press of this user into a frame now and then. */
    signal(isTyping = true): void {
      if (isTyping ? toldAt !== null && runtime.now() - toldAt < ANNOUNCE_EVERY_MS : toldAt === null) return;
      toldAt = isTyping ? runtime.now() : null;
      deps.send({ type: 'typing', conversation: deps.id, typing: isTyping });
    },
    handle({ userId, typing }: { userId: string; typing: boolean }): void {
      const cancel = timers.get(userId);
      if (!typing) stop(userId);
      else if (userId !== deps.userId) {
        cancel?.();
        const end = runtime.setTimer(() => stop(userId), deps.typingTtlMs);
        timers.set(userId, end);
        if (!cancel) changed(userId, true);
      }
    },
    stop,
    clear(): void {
      for (const userId of [...timers.keys()]) stop(userId);
    },
  };
}
