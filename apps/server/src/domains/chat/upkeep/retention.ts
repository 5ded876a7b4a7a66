import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Hub } from '../live/hub.ts';
import { eraseSome, findErased, findOverdue, retireMessages } from './retention-store.ts';

interface RetentionDeps {
  db: Db;
  clock: Clock;
  limits: Limits;
  hub: Hub;
}

const conversationsMax = 100;
const messagesMax = 500;

/** Deletion by policy: for good, and without events; that is not moderation. */
export function createRetention({ db, clock, limits, hub }: RetentionDeps) {
  /** In small transactions, so that senders wait for milliseconds at most. */
  async function sweep(): Promise<number> {
    const now = iso(clock.now());
    const overdue = await findOverdue(db, {
      defaultDays: limits.CHAT_RETENTION_DAYS || null,
      now,
      limit: conversationsMax,
    });
    let retired = 0;
    for (const { id, publicId, before } of overdue) {
      for (let count = messagesMax; count >= messagesMax; retired += count) {
        count = await db.transaction((tx) => retireMessages(tx, id, before, now, messagesMax));
        hub.recount(publicId);
      }
    }
    for (const id of await findErased(db, conversationsMax)) {
      while (await eraseSome(db, id, now, messagesMax));
    }
    return retired;
  }

  return { sweep };
}
