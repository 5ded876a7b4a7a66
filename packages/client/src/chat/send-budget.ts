import type { Runtime } from '../runtime.ts';

/** The server's defaults, CHAT_SEND_RATE_LIMIT and RATE_LIMIT_WINDOW_SECONDS; a test keeps them equal. */
export const SENDS_MAX = 30;
export const WINDOW_MS = 60_000;
/** Two sends may reach the server closer together than they left. */
const SLACK_MS = 500;

export interface SendBudget {
  /** How long to wait before the next send; 0 takes one. */
  take(): number;
  /** The server said so: nothing goes out for so long. */
  blockFor(ms: number): void;
}

/**
 * At most `SENDS_MAX` in any window, live and queued together. A bucket that refills drop by drop would let twice as
 * many through a window of the server's.
 */
export function createSendBudget({ now }: Pick<Runtime, 'now'>): SendBudget {
  let sentAt: number[] = [];
  let blockedUntil = 0;
  return {
    take() {
      const at = now();
      if (at < blockedUntil) return blockedUntil - at;
      sentAt = sentAt.filter((time) => at - time < WINDOW_MS + SLACK_MS);
      const oldest = sentAt[0];
      if (sentAt.length >= SENDS_MAX && oldest !== undefined) return oldest + WINDOW_MS + SLACK_MS - at;
      sentAt.push(at);
      return 0;
    },
    blockFor(ms) {
      blockedUntil = Math.max(blockedUntil, now() + ms);
    },
  };
}
