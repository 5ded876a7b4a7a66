import type { Routes } from '@parley/contract';
import type { Handlers } from './handlers.ts';
import type { AnySocket } from './socket.ts';
import type { Chore } from './timers.ts';

/** Something that runs. compose.ts starts the parts in the order of its list and stops them in reverse. */
export interface Part {
  /** Sockets that it serves. */
  readonly sockets?: readonly AnySocket[];
  /** What it does again and again while the process runs. */
  readonly chores?: readonly Chore[];
  start?(): Promise<void> | void;
  /** Resolves when nothing of it is running. */
  stop?(): Promise<void> | void;
}

/** A part that answers the routes of a table. */
export interface Domain<R extends Routes> extends Part {
  readonly handlers: Handlers<R>;
}

type HandlersOf<D extends { handlers: object }> = (
  D extends unknown
    ? (handlers: D['handlers']) => void
    : never
) extends (handlers: infer H) => void
  ? H
  : never;

/** The handlers of several domains in one record: a route whose domain is missing from the list does not compile. */
export const mergeHandlers = <D extends { handlers: object }>(domains: readonly D[]): HandlersOf<D> =>
  Object.assign({}, ...domains.map(({ handlers }) => handlers));
