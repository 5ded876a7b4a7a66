import type { Context } from '../command.ts';

const width = 24;

/** A bar on a terminal, a line at each step elsewhere. */
export function createProgress({ error, isTerminal }: Context) {
  let last = '';
  return {
    show(what: string, done: number, all: number): void {
      if (!isTerminal) {
        if (what !== last) error(what);
        last = what;
        return;
      }
      const filled = Math.round((all === 0 ? 1 : done / all) * width);
      process.stderr.write(`\r${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${what} ${done}/${all}   `);
    },
    end(): void {
      if (isTerminal) process.stderr.write('\r\u001b[K');
    },
  };
}
