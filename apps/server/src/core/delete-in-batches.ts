/** How long a run of a chore may go on. */
export interface Turn {
  /** True when its share of the time is used up, or the process stops. */
  isOver(): boolean;
}

export const withoutDeadline: Turn = { isOver: () => false };

/** Deletes at most `limit` rows in a statement or transaction of its own, and says how many. */
export type DeleteSome = (limit: number) => Promise<number>;

/** What a batch of rows in some order took; `last` says how far it came. */
export interface DeletedRows {
  count: number;
  last: string | null;
}

export const nothingDeleted: DeletedRows = { count: 0, last: null };

/**
 * Each batch begins where the one before ended: what that deleted stays in the index until the next vacuum, and would be
 * walked through again.
 */
export function onwards(deleteSome: (limit: number, after: string) => Promise<DeletedRows>): DeleteSome {
  let after = '';
  return async (limit) => {
    const { count, last } = await deleteSome(limit, after);
    after = last ?? after;
    return count;
  };
}

interface Batches {
  turn: Turn;
  /** Small enough that nobody who writes waits for it. */
  batchMax?: number;
}

const batchMaxDefault = 1_000;

/** How long samples of calls, and of the nodes that they were on, are kept. */
export const sampleDays = 7;

/**
 * Deletes batch by batch until nothing is left or the turn is over: a backlog of any size is worked off at the pace of
 * the database, and no statement runs into its time limit. Of several sources each gets a batch in turn, so that a long
 * one does not keep the others waiting. Resolves with how many rows went.
 */
export async function deleteInBatches(
  { turn, batchMax = batchMaxDefault }: Batches,
  ...sources: readonly DeleteSome[]
): Promise<number> {
  let total = 0;
  let left = sources;
  while (left.length > 0) {
    const unfinished: DeleteSome[] = [];
    for (const deleteSome of left) {
      const deleted = await deleteSome(batchMax);
      total += deleted;
      if (deleted > 0) unfinished.push(deleteSome);
      if (turn.isOver()) return total;
    }
    left = unfinished;
  }
  return total;
}
