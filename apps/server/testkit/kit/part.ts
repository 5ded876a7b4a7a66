/**
 * Whether proofs over every route ask all that they can: on PostgreSQL, where CI runs them, and with `npm test -- --whole`.
 * The embedded database takes three times the CPU for the same requests, which `npm test` does not have.
 */
export const isWhole: boolean =
  process.env['PARLEY_TEST_DATABASE_URL'] !== undefined || process.env['PARLEY_TEST_WHOLE'] === '1';

/**
 * All of them, or one in `of` where not all are asked: `turn`, the number of the route, says which, so that the routes
 * between them meet every one, and always the same.
 */
export const inTurns = <T>(all: readonly T[], turn: number, of: number): readonly T[] =>
  isWhole ? all : all.filter((_, at) => (at + turn) % of === 0);

/** The same, and one at least. */
export const someInTurns = <T>(all: readonly T[], turn: number, of: number): readonly T[] =>
  isWhole ? all : all.filter((_, at) => (at - turn) % Math.min(of, all.length) === 0);

/** One of them, and all each fourth turn: what must be answered alike is compared there. */
export const oneInTurns = <T>(all: readonly T[], turn: number): readonly T[] =>
  turn % 4 === 0 ? all : someInTurns(all, turn, all.length);
