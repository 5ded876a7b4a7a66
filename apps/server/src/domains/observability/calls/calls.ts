import { type Call, type CallDetail, type CallsQuery, fail } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, page, recorded } from '../../../core/handlers.ts';
import type { CallLinks } from './call-link.ts';
import { findCall, listCalls, listSamples, listStays, listSteps } from './call-store.ts';
import { detailOf } from './detail.ts';

export interface CallsDeps {
  db: Db;
  /** Fails for an archived project: it gives out nothing new. */
  assertNotArchived: (projectId: string) => Promise<void>;
  clock: Clock;
  cursors: Cursors;
  /** What a media node said of itself in a time. */
  nodeLoad: (name: string, from: string, until: string) => Promise<CallDetail['nodes'][number]['points']>;
}

const pageSize = 50;
const daysDefault = 7;
const dayMs = 24 * 60 * 60 * 1000;
const staysMax = 200;
const samplesMax = 20_000;
const stepsMax = 5_000;

export function createCalls({
  db,
  clock,
  cursors,
  nodeLoad,
  assertNotArchived,
  links,
}: CallsDeps & { links: CallLinks }) {
  async function detail(scope: ProjectScope, id: string, withoutNames: boolean): Promise<CallDetail> {
    const call = (await findCall(db, scope, id)) ?? fail('SVC_CALL_NOT_FOUND');
    const stays = await listStays(db, scope, call, staysMax);
    const connections = stays.map((stay) => stay.id);
    const servers = [...new Set(stays.flatMap(({ serverName }) => serverName ?? []))];
    const [samples, steps, nodes] = await Promise.all([
      listSamples(db, connections, samplesMax),
      listSteps(db, connections, stepsMax),
      Promise.all(servers.map(async (name) => ({ name, points: await nodeLoad(name, call.startedAt, call.lastAt) }))),
    ]);
    return detailOf({ call, stays, samples, steps, nodes }, { withoutNames });
  }

  return {
    async list(scope: ProjectScope, query: CallsQuery): Promise<Answer<Call[]>> {
      const { sort = 'newest', days = daysDefault, limit = pageSize, cursor, roomId, maxScore } = query;
      const isWorstFirst = sort === 'worst';
      const list = `calls/${sort}/${scope.projectId}/${scope.environment}`;
      const rows = await listCalls(db, scope, {
        isWorstFirst,
        roomId,
        maxScore,
        from: iso(clock.now() - days * dayMs),
        after: cursor === undefined ? null : cursors.read(list, cursor),
        limit: limit + 1,
      });
      const { items, nextCursor } = cutPage(rows, limit, ({ id, startedAt, worstScore }) =>
        cursors.write(list, [isWorstFirst ? (worstScore ?? 0) : startedAt, id]),
      );
      return page(items, nextCursor);
    },
    get: (scope: ProjectScope, id: string) => detail(scope, id, false),
    /** A link that opens without signing in. */
    async share(scope: ProjectScope, id: string, withoutNames: boolean) {
      await assertNotArchived(scope.projectId);
      if (!(await findCall(db, scope, id))) fail('SVC_CALL_NOT_FOUND');
      const { environment } = scope;
      return recorded(links.write(scope, id, withoutNames), {
        resourceId: id,
        environment,
        metadata: { withoutNames },
      });
    },
    readShared: (token: string) => {
      const { scope, id, withoutNames } = links.read(token);
      return detail(scope, id, withoutNames);
    },
  };
}
