import { type ClassifiedError, type Connection, type ConnectionsQuery, type ErrorsQuery, fail } from '@parley/contract';
import { maskedNetwork } from '../../core/addresses.ts';
import type { ApiKeyCaller, ProjectSessionCaller } from '../../core/caller.ts';
import { type Cursors, cutPage } from '../../core/cursors.ts';
import type { Reader as DbReader } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import { isUuid } from '../../core/uuid.ts';
import { explain } from './classify.ts';
import { type After, type ConnectionRow, findConnection, listConnections, listTimeline } from './connection-store.ts';
import { type ErrorRow, findError, listErrors } from './error-store.ts';
import { orderTimeline } from './timeline.ts';

/** Either door: the pipeline has turned the credential into a project and an environment. */
type Reader = ApiKeyCaller | ProjectSessionCaller;

const pageSize = 50;
const timelineMax = 5_000;

export function createReads({ db, cursors }: { db: DbReader; cursors: Cursors }) {
  const scopeOf = (list: string, { projectId, environment }: Reader): string => `${list}/${projectId}/${environment}`;
  // Of this list and scope: the position is what `pageOf` wrote.
  const positionIn = (scope: string, cursor: string | undefined): After =>
    cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);

  const get = async (caller: Reader, id: string): Promise<ConnectionRow | undefined> =>
    findConnection(db, caller.projectId, caller.environment, id, isUuid(id));

  return {
    async connections(
      caller: Reader,
      { limit = pageSize, cursor, ...filter }: ConnectionsQuery,
    ): Promise<Answer<Connection[]>> {
      const scope = scopeOf('connections', caller);
      const after = positionIn(scope, cursor);
      const rows = await listConnections(db, caller.projectId, caller.environment, {
        ...filter,
        after,
        limit: limit + 1,
      });
      const { items, nextCursor } = cutPage(rows, limit, ({ startedAt, id }) => cursors.write(scope, [startedAt, id]));
      return page(
        items.map((row) => toConnection(row, caller)),
        nextCursor,
      );
    },

    async connection(caller: Reader, id: string) {
      const row = (await get(caller, id)) ?? fail('SVC_CONNECTION_NOT_FOUND');
      const [events, errors] = await Promise.all([
        listTimeline(db, row.id, timelineMax),
        listErrors(db, caller.projectId, caller.environment, { connection: row.id, limit: 200 }),
      ]);
      return { ...toConnection(row, caller), events: orderTimeline(events), errors: errors.map(toError) };
    },

    async errors(
      caller: Reader,
      { connectionId, category, cursor, limit = pageSize }: ErrorsQuery,
    ): Promise<Answer<ClassifiedError[]>> {
      const scope = scopeOf('errors', caller);
      const after = positionIn(scope, cursor);
      const connection = connectionId === undefined ? undefined : await get(caller, connectionId);
      if (connectionId !== undefined && !connection) return page([], null);
      const rows = await listErrors(db, caller.projectId, caller.environment, {
        category,
        connection: connection?.id,
        after,
        limit: limit + 1,
      });
      const { items, nextCursor } = cutPage(rows, limit, ({ occurredAt, id }) =>
        cursors.write(scope, [occurredAt, id]),
      );
      return page(items.map(toError), nextCursor);
    },

    async error(caller: Reader, id: string) {
      const row = (await findError(db, caller.projectId, caller.environment, id)) ?? fail('SVC_ERROR_NOT_FOUND');
      const connection = await get(caller, row.connection);
      return { ...toError(row), connection: connection ? toConnection(connection, caller) : null };
    },
  };
}

function toConnection(row: ConnectionRow, caller: Reader): Connection {
  const { identity, sdkName, sdkVersion, rttMs, packetLossPercent, jitterMs, mos, ...rest } = row;
  const isOperator = caller.kind === 'session' && caller.isOperator;
  return {
    ...rest,
    // The column holds only states of the lifecycle.
    state: row.state as Connection['state'],
    participantIdentity: identity,
    clientIp: isOperator ? row.clientIp : row.clientIp && maskedNetwork(row.clientIp),
    sdk: sdkName === null && sdkVersion === null ? null : { name: sdkName, version: sdkVersion },
    durationMs: between(row.connectedAt, row.endedAt),
    timeToConnectMs: between(row.startedAt, row.connectedAt),
    quality: { rttMs, packetLossPercent, jitterMs, mos },
    createdAt: row.startedAt,
  };
}

function toError(row: ErrorRow): ClassifiedError {
  const { message, hint, isRetryable } = explain(row.code);
  return {
    ...row,
    category: row.category as ClassifiedError['category'],
    message,
    hint,
    retryable: isRetryable,
    participantIdentity: row.identity,
  };
}

const between = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from));
