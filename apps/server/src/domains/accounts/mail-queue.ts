import { fail } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Mail, MailMessage } from '../../core/ports.ts';

/** Mail that leaves after the answer did: how long it takes, or whether there is any, must not show. */
export interface MailQueue {
  /** False where no mail server is set. */
  readonly canSend: boolean;
  /** Refuses what only a letter could finish. */
  assertCanSend(): void;
  /** Runs `write` once the current request has been answered and mails what it gives. Returns at once. */
  later(write: () => Promise<MailMessage | null>): void;
  /** Resolves when everything queued so far was sent or dropped. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Waits before the second attempt, the third, the fourth. */
const retryAfterMs = [1_000, 5_000, 30_000];
/** With the mail server down, templates beyond these are dropped: the owner asks for a new one. */
const pendingMax = 1_000;

export function createMailQueue({ mail, clock, log }: { mail: Mail; clock: Clock; log: Log }): MailQueue {
  const pending = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function send(message: MailMessage): Promise<void> {
    for (const waitMs of [...retryAfterMs, null]) {
      try {
        return await mail.send(message);
      } catch (error) {
        if (waitMs === null || stopping.signal.aborted) throw error;
        log.warn({ error, subject: message.subject }, 'mail was not sent; trying again');
        await clock.sleep(waitMs, stopping.signal);
      }
    }
  }

  async function deliver(write: () => Promise<MailMessage | null>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    try {
      const message = await write();
      if (message) await send(message);
    } catch (error) {
      log.error({ error }, 'mail was not sent');
    }
  }

  async function settled(): Promise<void> {
    while (pending.size > 0) await Promise.all(pending);
  }

  return {
    canSend: mail.canSend,
    assertCanSend() {
      if (!mail.canSend) fail('SVC_MAIL_NOT_CONFIGURED');
    },
    later(write) {
      if (pending.size >= pendingMax) return log.error({ pending: pending.size }, 'mail was dropped: too much waits');
      const delivery = deliver(write).finally(() => pending.delete(delivery));
      pending.add(delivery);
    },
    settled,
    async stop() {
      stopping.abort();
      await settled();
    },
  };
}
