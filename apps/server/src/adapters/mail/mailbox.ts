import { type Clock, iso } from '../../core/clock.ts';
import type { Mail, Mailbox, MailMessage } from '../../core/ports.ts';

const messagesMax = 200;

/** Mail that stays here, for the page at /dev/mail. */
export function createMailbox(clock: Clock): Mail & Mailbox {
  const messages: (MailMessage & { createdAt: string })[] = [];
  return {
    canSend: true,
    async send(message) {
      messages.unshift({ ...message, createdAt: iso(clock.now()) });
      messages.length = Math.min(messages.length, messagesMax);
    },
    list: () => [...messages],
    ping: async () => null,
    close: async () => {},
  };
}
