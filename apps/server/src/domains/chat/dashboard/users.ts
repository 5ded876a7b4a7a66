import { type ChatUserMetadata, type ChatUserOverview, fail } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, page } from '../../../core/handlers.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import type { ConnectionLog } from '../live/connections.ts';
import { everywhere, findSanctions } from '../moderation/sanction-store.ts';
import { findSharing } from '../users/user-store.ts';
import { listUserMetadata } from './user-metadata-store.ts';
import type { PageOf } from './user-pages.ts';

interface UserPagesDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  cursors: Cursors;
  connections: Pick<ConnectionLog, 'flush'>;
}

/** Users as the dashboard sees them (ADR 0222): that there is a record, not what it says. */
export function createUserPages({ db, replicated, clock, cursors, connections }: UserPagesDeps) {
  /** Undefined for an id that nothing here knows. */
  async function find(scope: ProjectScope, userId: string): Promise<ChatUserOverview | undefined> {
    // Connections are written a moment late: who is shown as connected must be.
    await connections.flush();
    const [[known], sanctions] = await Promise.all([
      listUserMetadata(db, scope, { by: 'id', userId }),
      findSanctions(db, scope, [everywhere], userId, iso(clock.now())),
    ]);
    if (!known) return undefined;
    const isKnown = known.hasRecord || known.isConnected || known.lastSeenAt !== null || sanctions.length > 0;
    if (!isKnown && !(await findSharing(db, scope, [userId], null)).has(userId)) return undefined;
    return { ...known, sanctions };
  }

  async function users(
    scope: ProjectScope,
    { userId = '', limit = pageSizeDefault, cursor }: PageOf & { userId?: string },
  ): Promise<Answer<ChatUserMetadata[]>> {
    if (userId !== '') {
      const found = await find(scope, userId);
      return page<ChatUserMetadata>(found ? [found] : [], null);
    }
    await connections.flush();
    const list = `chat-user-metadata/${scope.projectId}/${scope.environment}`;
    const after = cursor === undefined ? '' : String(cursors.read(list, cursor)[0]);
    const rows = await listUserMetadata(replicated.current, scope, { by: 'page', after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.userId]));
    return page(items, nextCursor);
  }

  return {
    users,
    user: async (scope: ProjectScope, userId: string): Promise<ChatUserOverview> =>
      (await find(scope, userId)) ?? fail('SVC_USER_NOT_FOUND'),
  };
}
