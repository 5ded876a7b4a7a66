import type { State } from './state.ts';

/** Nothing is handled any more. One for all connections: it knows nothing of them. */
export const closing: State & { readonly is: 'closing' } = {
  is: 'closing',
  receive() {},
  async handle() {},
  tick() {},
  dueAt: () => Number.POSITIVE_INFINITY,
  leave() {},
};
