import { readFileSync } from 'node:fs';
import { isInTerminal } from '@parley/sfu/hang-up';
import type { Variables } from './config.ts';

const lookMs = 500;

/**
 * Ends what npm started when npm is gone. Npm runs a script in a shell and passes on two signals of four to that shell
 * only, so without this a killed npm leaves us running, and holding the ports. A process that anything else started
 * (systemd, a container, a shell with `&`) may outlive its parent.
 */
export function followParent(variables: Variables, onGone: () => void): void {
  if (!isRunByNpm(variables)) return;
  const parent = process.ppid;
  /** Null when that cannot be told now, for want of file descriptors for example. */
  const ancestors = (): string | null => {
    const between = shellBetween(parent, variables);
    return between && [process.ppid, ...between].join();
  };
  const first = ancestors();
  let wasGone = false;
  const timer = setInterval(() => {
    const now = ancestors();
    if (first === null || now === null || now === first) return;
    if (wasGone) {
      clearInterval(timer);
      onGone();
    }
    // Not at the first look: what ended npm may be a signal to all of us that we have yet to hear of.
    wasGone = true;
  }, lookMs);
  timer.unref();
  // A terminal that closes ends npm too, which does not know that nohup started it.
  if (!isInTerminal()) process.once('SIGHUP', () => clearInterval(timer));
}

/** By `npm start` or npx, and not by a script that sends us into the background and ends. */
function isRunByNpm({
  npm_lifecycle_event: event,
  npm_command: command,
  npm_lifecycle_script: script = '',
}: Variables) {
  return (event === 'start' || command === 'exec') && !/(?<!&)&(?!&)/.test(script);
}

/** The parent of the shell that npm runs the script in, if our parent is one: npm itself. */
function shellBetween(parent: number, { npm_lifecycle_script: script }: Variables): number[] | null {
  try {
    const isShell = script !== undefined && readFileSync(`/proc/${parent}/cmdline`, 'utf8').includes(script);
    const status = isShell ? readFileSync(`/proc/${parent}/status`, 'utf8') : '';
    return [...status.matchAll(/^PPid:\s+(\d+)$/gm)].map(([, pid]) => Number(pid));
  } catch (error) {
    // No /proc on this system, whose shell gives its place to the command; or the shell is gone.
    const isGone = ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
    return isGone ? [] : null;
  }
}
