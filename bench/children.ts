import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './http-load.ts';

/** A file of this folder as a process of its own: what is measured must not share a core's time with what measures it. */
export interface Child {
  process: ChildProcess;
  /** Sends an order and gives the answer; the child does one at a time. */
  ask<T>(order: object): Promise<T>;
  stop(): Promise<void>;
}

export function startChild(file: string, env: Record<string, string> = {}): Child {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NODE_') && !name.startsWith('PARLEY_')),
  );
  const child = fork(new URL(file, import.meta.url), { env: { ...inherited, ...env }, execArgv: [] });
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('exit', () => reject(new Error(`${file} ended`)));
  });
  ended.catch(() => undefined);
  return {
    process: child,
    async ask<T>(order: object): Promise<T> {
      const answer = new Promise<{ result: T; error?: string }>((resolve) => {
        child.once('message', (message) => resolve(message as { result: T; error?: string }));
      });
      child.send(order);
      const { result, error } = await Promise.race([answer, ended]);
      if (error !== undefined) throw new Error(`${file}: ${error}`);
      return result;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Requests a second; fails when any of them was refused. */
export async function requestsPerSecond(generator: Child, load: Load): Promise<LoadResult> {
  const result = await generator.ask<LoadResult>(load);
  if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${result.lastFailure}`);
  return result;
}
