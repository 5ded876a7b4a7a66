import type { Mail } from '../../core/ports.ts';

/** Production without a mail server: letters that nothing waits for are dropped. */
export const createNoMail = (): Mail => ({
  canSend: false,
  send: async () => {},
  ping: async () => null,
  close: async () => {},
});
