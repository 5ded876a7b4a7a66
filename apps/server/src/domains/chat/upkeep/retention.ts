import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { Hub } from '../live/hub.ts';
import { retireShadow } from '../shadow/shadow-upkeep-store.ts';
import { eraseSome, findErased, findOverdue, type Overdue, retireMessages } from './retention-store.ts';

interface RetentionDeps {
  db: Db;
  clock: Clock;
  limits: Limits;
  hub: Hub;
}

/** Conversations that one statement looks at. */
const pageMax = 1_000;
/** Messages of one transaction: senders wait for milliseconds at most. */
const messagesMax = 500;

/** Gives the first rows after an id, in the order of ids. */
type Page<Row> = (after: string | null) => Promise<{ rows: readonly Row[]; last: string | null }>;

/** Goes through all rows page by page. A walk that was broken off is taken up where it was, behind the row in hand. */
function createWalk<Row extends { id: string }>() {
  let place: string | null = null;
  return async function* walk(turn: Turn, page: Page<Row>): AsyncGenerator<Row> {
    for (;;) {
      const { rows, last } = await page(place);
      for (const row of rows) {
        place = row.id;
        yield row;
        if (turn.isOver()) return;
      }
      place = last;
      if (last === null || turn.isOver()) return;
    }
  };
}

/** Deletion by policy: for good, and without events; that is not moderation. */
export function createRetention({ db, clock, limits, hub }: RetentionDeps) {
  const walkOverdue = createWalk<Overdue>();
  const walkErased = createWalk<{ id: string }>();
  const defaultDays = limits.CHAT_RETENTION_DAYS || null;

  async function retire(turn: Turn, now: string): Promise<number> {
    let retired = 0;
    const page: Page<Overdue> = (after) => findOverdue(db, { defaultDays, now, after, limit: pageMax });
    for await (const { id, publicId, before, ...scope } of walkOverdue(turn, page)) {
      const gone = await deleteInBatches({ turn, batchMax: messagesMax }, (limit) =>
        db.transaction((tx) => retireMessages(tx, id, before, now, limit)),
      );
      await deleteInBatches({ turn, batchMax: messagesMax }, (limit) => retireShadow(db, id, { before, now, limit }));
      retired += gone;
      // What only its sender had goes without a word to others.
      if (gone === 0) continue;
      hub.recount(publicId);
      hub.changed(scope, publicId);
    }
    return retired;
  }

  async function erase(turn: Turn, now: string): Promise<void> {
    const page: Page<{ id: string }> = (after) => findErased(db, after, pageMax);
    for await (const { id } of walkErased(turn, page))
      await deleteInBatches({ turn, batchMax: messagesMax }, (limit) => eraseSome(db, id, now, limit));
  }

  async function sweep(turn = withoutDeadline): Promise<number> {
    const now = iso(clock.now());
    const retired = await retire(turn, now);
    await erase(turn, now);
    return retired;
  }

  return { sweep };
}
