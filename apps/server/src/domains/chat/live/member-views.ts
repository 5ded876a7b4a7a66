import { createBatcher } from '../../../core/batcher.ts';
import type { Db } from '../../../core/db.ts';
import type { Channel, MemberView } from './channel.ts';
import { findMemberViews } from './channel-store.ts';

const batchMax = 1_000;
const waitingMax = 100_000;
const notAMember: MemberView = { role: null, readSeq: 0, unread: 0, asOf: 0, blocked: [] };

/** Where users stand in conversations: from memory where it is known, else a crowd is looked up in one statement. */
export function createMemberViews({ db }: { db: Db }) {
  const batcher = createBatcher<{ uuid: string; userId: string }, MemberView>({
    batchMax,
    waitingMax,
    async write(pairs) {
      const rows = await findMemberViews(db, pairs);
      const found = new Map(rows.map((row) => [`${row.uuid} ${row.userId}`, row]));
      return pairs.map(({ uuid, userId }) => found.get(`${uuid} ${userId}`) ?? notAMember);
    },
  });

  return async (channel: Channel, userId: string): Promise<MemberView> => {
    for (;;) {
      const known = channel.member(userId);
      if (known) return known;
      const { memory } = channel;
      const view = await batcher.add({ uuid: channel.uuid, userId });
      if (view.role === null) return view;
      // `member` brings it up to now: the user may have been removed while we asked.
      if (channel.memory === memory) channel.setMember(userId, view);
    }
  };
}
