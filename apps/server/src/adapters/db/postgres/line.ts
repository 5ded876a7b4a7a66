import type pg from 'pg';
import type { Outcome } from './attempts.ts';
import type { BatchQuery } from './batch-query.ts';

export interface LineDeps {
  connect: () => Promise<pg.PoolClient>;
  release: (client: pg.PoolClient, isBroken: boolean) => void;
  send: (client: pg.PoolClient, query: BatchQuery) => Promise<Outcome<pg.QueryResult[]>>;
}

/** A connection on which a batch is under way, and perhaps one more behind it. */
interface Line {
  /** Null while it is being opened. */
  client: pg.PoolClient | null;
  underWay: Set<BatchQuery>;
  isBroken: boolean;
  ended: PromiseWithResolvers<void>;
}

/** The client's own queue takes one behind the query that it works on. */
const underWayMax = 2;

/**
 * Batches one behind the other on one connection, in the order they are given: the next is sent before the one before
 * it is answered, so that the database goes from one to the next without us. Where that cannot be, it waits its turn.
 */
export function createLine({ connect, release, send }: LineDeps) {
  let line: Line | null = null;

  function leave(left: Line): void {
    if (left.underWay.size > 0) return;
    line = null;
    left.ended.resolve();
    if (left.client) release(left.client, left.isBroken);
  }

  async function begin(query: BatchQuery): Promise<Outcome<pg.QueryResult[]>> {
    const begun: Line = { client: null, underWay: new Set(), isBroken: false, ended: Promise.withResolvers() };
    line = begun;
    try {
      begun.client = await connect();
    } catch (error) {
      leave(begun);
      throw error;
    }
    return run(begun, begun.client, query);
  }

  async function run(joined: Line, client: pg.PoolClient, query: BatchQuery): Promise<Outcome<pg.QueryResult[]>> {
    if (joined.underWay.size > 0) query.sendAhead(client);
    joined.underWay.add(query);
    const outcome = await send(client, query);
    joined.underWay.delete(query);
    joined.isBroken ||= outcome.broken !== undefined;
    leave(joined);
    return outcome;
  }

  return async (query: BatchQuery): Promise<Outcome<pg.QueryResult[]>> => {
    while (line) {
      const { client, ended } = line;
      if (client && canFollow(line, client, query)) return run(line, client, query);
      await ended.promise;
    }
    return begin(query);
  };
}

/**
 * Only behind what has been sent: a client whose last query failed holds the next one back until it has heard the end
 * of that. And only when nobody has statements to name: whether a name exists is known when its batch ends.
 */
function canFollow({ underWay, isBroken }: Line, client: pg.PoolClient, query: BatchQuery): boolean {
  const isClear = [...underWay].every(({ isSent, fresh }) => isSent && fresh.length === 0);
  return isClear && !isBroken && underWay.size < underWayMax && query.isKnownTo(client);
}
