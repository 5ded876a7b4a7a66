import { type Clock, iso } from '../../core/clock.ts';
import type { Letter, Mail, Mailbox } from '../../core/ports.ts';

const lettersMax = 200;

/** Mail that stays here, for the page at /dev/mail. */
export function createMailbox(clock: Clock): Mail & Mailbox {
  const letters: (Letter & { createdAt: string })[] = [];
  return {
    async send(letter) {
      letters.unshift({ ...letter, createdAt: iso(clock.now()) });
      letters.length = Math.min(letters.length, lettersMax);
    },
    list: () => [...letters],
    ping: async () => null,
    close: async () => {},
  };
}
