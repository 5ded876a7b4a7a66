import { type Call, type CallDetail, type CallsQuery, fail } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage } from '../../../core/cursors.ts';
import { type Answer, page, recorded } from '../../../core/handlers.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import type { CallLinks } from './call-link.ts';
import { findCall, listCalls, listSamples, listStays, listSteps } from './call-store.ts';
import { detailOf } from './detail.ts';

export interface CallsDeps {
  replicated: ReplicatedReads;
  /** Fails for a project that is archived or gone: it gives out nothing. */
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
/** Of a call in all, and of a connection: six hours, every 20 seconds of its client and every 45 of the node. */
const samplesMax = 29_000;
const samplesOfEachMax = 1_560;
const stepsMax = 5_000;
const stepsOfEachMax = 250;
/** Anybody with the link may read it: so long one answer is good for all of them. */
const sharedMs = 5_000;
const sharedMax = 8;

const portion = (inAll: number, ofEach: number, count: number): number =>
  Math.min(ofEach, Math.ceil(inAll / Math.max(1, count)));

export function createCalls({
  replicated,
  clock,
  cursors,
  nodeLoad,
  assertNotArchived,
  links,
}: CallsDeps & { links: CallLinks }) {
  const db = replicated.current;
  async function detail(scope: ProjectScope, id: string, withoutNames: boolean): Promise<CallDetail> {
    const call = (await findCall(db, scope, id)) ?? fail('SVC_CALL_NOT_FOUND');
    const stays = await listStays(db, scope, call, staysMax);
    const connections = stays.map((stay) => stay.id);
    const servers = [...new Set(stays.flatMap(({ serverName }) => serverName ?? []))];
    const [steps, nodes] = await Promise.all([
      listSteps(db, connections, portion(stepsMax, stepsOfEachMax, connections.length)),
      Promise.all(
        servers.map(async (name) => ({ name, points: await nodeLoad(name, call.startedAt, call.lastSampleAt) })),
      ),
    ]);
    const samplesOfEach = portion(samplesMax, samplesOfEachMax, connections.length);
    const readSamples = (own: readonly string[]) => listSamples(db, own, samplesOfEach);
    return detailOf({ call, stays, steps, nodes, readSamples }, { withoutNames });
  }

  const shared = new Map<string, { until: number; detail: Promise<CallDetail> }>();

  /** Also for those who ask while it is read. */
  function sharedDetail(scope: ProjectScope, id: string, withoutNames: boolean): Promise<CallDetail> {
    const key = JSON.stringify([scope.projectId, scope.environment, id, withoutNames]);
    const now = clock.now();
    for (const [one, { until }] of shared) if (until <= now) shared.delete(one);
    const known = shared.get(key);
    if (known) return known.detail;
    const [oldest] = shared.keys();
    if (oldest !== undefined && shared.size >= sharedMax) shared.delete(oldest);
    const read = detail(scope, id, withoutNames);
    shared.set(key, { until: now + sharedMs, detail: read });
    read.catch(() => shared.delete(key));
    return read;
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
    async readShared(token: string): Promise<CallDetail> {
      const { scope, id, withoutNames } = links.read(token);
      await assertNotArchived(scope.projectId);
      return sharedDetail(scope, id, withoutNames);
    },
  };
}
