import type { Runtime } from '../runtime.ts';

/** Typing expires on the server after 7 s; sending it more often than this is useless. */
const ANNOUNCE_EVERY_MS = 4_000;

/** Turns every key press into a frame now and then. */
export function createTypingSignal({ now }: Pick<Runtime, 'now'>, send: (isTyping: boolean) => void) {
  let toldAt: number | null = null;
  return (isTyping: boolean): void => {
    if (isTyping && toldAt !== null && now() - toldAt < ANNOUNCE_EVERY_MS) return;
    if (!isTyping && toldAt === null) return;
    toldAt = isTyping ? now() : null;
    send(isTyping);
  };
}

/** Who types. Each entry ends by itself, also when the frame that should end it never comes. */
export function createTypists(
  runtime: Pick<Runtime, 'setTimer'>,
  onChange: (userId: string, isTyping: boolean) => void,
) {
  const timers = new Map<string, () => void>();

  function stop(userId: string): void {
    const cancel = timers.get(userId);
    if (!cancel) return;
    cancel();
    timers.delete(userId);
    onChange(userId, false);
  }

  return {
    set(userId: string, forMs: number): void {
      const cancel = timers.get(userId);
      cancel?.();
      timers.set(
        userId,
        runtime.setTimer(() => stop(userId), forMs),
      );
      if (!cancel) onChange(userId, true);
    },
    stop,
    clear(): void {
      for (const userId of [...timers.keys()]) stop(userId);
    },
  };
}
