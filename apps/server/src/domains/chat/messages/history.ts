import { type ChangesQuery, fail, type HistoryQuery, type Limits } from '@parley/contract';
import type { Cursors } from '../../../core/cursors.ts';
import type { Db, Reader } from '../../../core/db.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import { refuse } from '../../../core/validation.ts';
import { assertScope, type ChatCaller, userOf } from '../callers.ts';
import type { Admission } from '../moderation/admission.ts';
import { findLastPlace, listMerged, type ShadowPlace } from '../shadow/shadow-store.ts';
import type { Target, Targets } from '../targets.ts';
import { type Extent, findStanding, type ReadGate, readChanges, readHistory } from './history-store.ts';

interface HistoryDeps {
  db: Db;
  replicated: ReplicatedReads;
  targets: Targets;
  cursors: Cursors;
  limits: Limits;
  admission: Admission;
}

export type History = ReturnType<typeof createHistory>;

const pageDefault = 50;

/** A cursor is a position in one conversation: the change that created a message, or any later change. */
export const cursorScope = (
  { projectId, environment }: { projectId: string; environment: string },
  uuid: string,
): string => `messages/${projectId}/${environment}/${uuid}`;

export function createHistory({ db, replicated, targets, cursors, limits, admission }: HistoryDeps) {
  const pageMax = limits.CHAT_MAX_HISTORY_PAGE_SIZE;

  function pageSize(asked: number | undefined, fallback: number): number {
    if (asked !== undefined && asked > pageMax) {
      refuse([{ field: 'limit', rule: 'maximum', message: `limit must be at most ${pageMax}.` }]);
    }
    return asked ?? Math.min(fallback, pageMax);
  }

  /**
   * From the replica what may be long, if it has every change that the primary has of this conversation; from the
   * primary who may read it.
   */
  async function readCurrent<Row extends ReadGate & Extent>(
    conversation: string,
    user: string | null,
    read: (from: Reader) => Promise<Row | undefined>,
  ): Promise<Row | undefined> {
    const found = await replicated.fromReplica(async (replica) => {
      const [row, standing] = await Promise.all([read(replica), findStanding(db, conversation, user)]);
      if (!row || !standing || row.epoch !== standing.epoch || row.lastChange < standing.lastChange) return null;
      const { name, status, role, isMarked } = standing;
      return { ...row, name, status, role, isMarked };
    });
    return found ?? (await read(db));
  }

  /** Reads with the target as it is remembered; one that has moved is looked up once more. */
  async function readFrom<Row extends ReadGate & Extent>(
    caller: ChatCaller,
    reference: string,
    read: (from: Reader, target: Target) => Promise<Row | undefined>,
  ): Promise<{ row: Row; target: Target }> {
    assertScope(caller, 'chat:read');
    for (let attempt = 1; ; attempt++) {
      const target = await targets.find(caller, reference);
      const row = await readCurrent(target.id, userOf(caller), (from) => read(from, target));
      if (row && row.status !== 'DELETED' && (target.name ?? row.name) === row.name) {
        await admission.assertMember(db, caller, { publicId: target.publicId, role: row.role }, 'read');
        return { row, target };
      }
      targets.forget(caller, reference);
      if (!target.canMove || attempt > 1) fail('SVC_CONVERSATION_NOT_FOUND');
    }
  }

  const placeOf = (scope: string, cursor: string | undefined): ShadowPlace | null => {
    if (cursor === undefined) return null;
    const [position, n] = cursors.read(scope, cursor);
    return [Number(position), Number(n ?? 0)];
  };
  const positionOf = (scope: string, cursor: string | undefined): number | null => placeOf(scope, cursor)?.[0] ?? null;
  const cursorOf = (scope: string, [position, n]: ShadowPlace): string =>
    cursors.write(scope, n === 0 ? [position] : [position, n]);

  /** One page of messages as JSON, newest first. */
  async function page(caller: ChatCaller, reference: string, query: HistoryQuery): Promise<string> {
    const { before, after, threadRootId = null, senderId = null, includeDeleted = false } = query;
    if (before !== undefined && after !== undefined) {
      refuse([{ field: 'after', rule: 'exclusive', message: 'Give before or after, not both.' }]);
    }
    const limit = pageSize(query.limit, pageDefault);
    const { row, target } = await readFrom(caller, reference, (from, { id }) => {
      const scope = cursorScope(caller, id);
      return readHistory(from, id, userOf(caller), {
        before: positionOf(scope, before),
        after: positionOf(scope, after),
        threadRootId,
        senderId,
        includeDeleted,
        limit,
      });
    });
    const scope = cursorScope(caller, target.id);
    const userId = userOf(caller);
    if (row.isMarked && userId !== null) return mergedPage(userId, target.id, scope, { ...query, limit }, row);
    const next = row.hasMore ? (after === undefined ? row.oldest : row.newest) : null;
    const nextCursor = next === null ? 'null' : `"${cursors.write(scope, [next])}"`;
    return `{"messages":${row.text},"nextCursor":${nextCursor},"latestCursor":"${cursors.write(scope, [row.lastPosition])}"}`;
  }

  /** The same with what only the reader has. From the primary: a replica may be behind without its numbers saying so. */
  async function mergedPage(
    userId: string,
    conversation: string,
    scope: string,
    query: HistoryQuery & { limit: number },
    { lastPosition }: { lastPosition: number },
  ): Promise<string> {
    const { before, after, threadRootId = null, senderId = null, includeDeleted = false, limit } = query;
    const bounds = { before: placeOf(scope, before), after: placeOf(scope, after) };
    const filter = { ...bounds, threadRootId, senderId, includeDeleted, limit: limit + 1 };
    const latest = await findLastPlace(db, conversation, userId);
    const found = await listMerged(db, conversation, userId, filter);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const nextCursor = last && found.length > limit ? `"${cursorOf(scope, [last.position, last.n])}"` : 'null';
    const isLast = latest !== undefined && latest[0] >= lastPosition;
    const latestCursor = cursorOf(scope, isLast ? latest : [lastPosition, 0]);
    const texts = (after === undefined ? rows : rows.toReversed()).map(({ text }) => text);
    return `{"messages":[${texts.join(',')}],"nextCursor":${nextCursor},"latestCursor":"${latestCursor}"}`;
  }

  /** Changes after a cursor, or after a number that a socket client remembers. */
  async function changes(
    caller: ChatCaller,
    reference: string,
    query: Omit<ChangesQuery, 'since'> & { since?: string | number },
  ): Promise<string> {
    const limit = pageSize(query.limit, pageMax);
    const { since = 0 } = query;
    const { row, target } = await readFrom(caller, reference, (from, { id }) => {
      const seen = typeof since === 'number' ? since : (positionOf(cursorScope(caller, id), since) ?? 0);
      return readChanges(from, id, userOf(caller), { since: seen, limit });
    });
    const change = row.hasMore ? (row.newest ?? row.lastChange) : row.lastChange;
    const nextCursor = cursors.write(cursorScope(caller, target.id), [change]);
    return `{"changes":${row.text},"nextCursor":"${nextCursor}","change":${change},"complete":${!row.hasMore}}`;
  }

  return { page, changes };
}
