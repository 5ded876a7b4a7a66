import { createApplication, RefusedFolder } from 'create-parley';
import { type Command, UsageError } from './command.ts';

export const init: Command = {
  does: 'Writes a small application: a page with a call and a chat, a backend for tokens, a webhook receiver.',
  usage: '[folder]',
  options: {},
  words: { least: 0, most: 1 },
  async run(_values, context, [folder = 'lobby']) {
    try {
      context.out(createApplication(folder, context.env));
    } catch (error) {
      throw error instanceof RefusedFolder ? new UsageError(error.message) : error;
    }
    return 0;
  },
};
