import { clientOf, findUrl } from '../account.ts';
import { accountOptions, type Command, jsonOption, UsageError, type Values } from '../command.ts';
import type { Plan } from './load-test.ts';

const number = (values: Values, name: string, fallback: number): number => {
  const value = Number(values[name] ?? fallback);
  if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a number.`);
  return value;
};

export const loadtest: Command = {
  does: 'Puts rooms, publishers, subscribers and chat senders on a running service and prints latency and loss.',
  usage: '[options]',
  options: {
    rooms: { type: 'string', means: 'Rooms, each with the people below. Default 1.' },
    publishers: { type: 'string', means: 'Who send video, in each room. Default 1.' },
    subscribers: { type: 'string', means: 'Who take it, in each room. Default 4.' },
    'chat-senders': { type: 'string', means: 'Who write, in each room. Default 4.' },
    seconds: { type: 'string', means: 'How long to measure. Default 10.' },
    'packets-per-second': { type: 'string', means: 'Of each video. Default 100.' },
    bytes: { type: 'string', means: 'Of each packet. Default 1100.' },
    'message-every-ms': { type: 'string', means: 'Of each chat sender; one user may send 30 in 60 s. Default 2000.' },
    ...accountOptions,
    ...jsonOption,
  },
  async run(values, context) {
    const plan: Plan = {
      rooms: number(values, 'rooms', 1),
      publishers: number(values, 'publishers', 1),
      subscribers: number(values, 'subscribers', 4),
      chatters: number(values, 'chat-senders', 4),
      seconds: number(values, 'seconds', 10),
      packetsPerSecond: number(values, 'packets-per-second', 100),
      bytes: number(values, 'bytes', 1100),
      messageEveryMs: number(values, 'message-every-ms', 2000),
    };
    // With its native library, which the other commands do without.
    const { LoadTest } = await import('./load-test.ts');
    const test = new LoadTest(plan, clientOf(values, context), findUrl(values, context), context);
    try {
      await test.enter();
      await test.measure();
    } finally {
      await test.leave();
    }
    context.out(values['json'] ? JSON.stringify(test.result()) : test.report());
    return test.failures.size > 0 ? 1 : 0;
  },
};
