import { type ClassifiedError, type Connection, type ConnectionsQuery, type ErrorsQuery, fail } from '@parley/contract';
import { maskedNetwork } from '../../core/addresses.ts';
import type { ApiKeyCaller, ProjectSessionCaller } from '../../core/caller.ts';
import type { Db } from '../../core/db.ts';
import { isUuid } from '../../core/uuid.ts';
import { explain } from './classify.ts';
import { type ConnectionRow, findConnection, listConnections, listTimeline } from './connection-store.ts';
import { type ErrorRow, findError, listErrors } from './error-store.ts';
import { orderTimeline } from './timeline.ts';

/** Either door: the pipeline has turned the credential into a project and an environment. */
type Reader = ApiKeyCaller | ProjectSessionCaller;

const pageSize = 50;
const timelineMax = 5_000;

export function createReads({ db }: { db: Db }) {
  const get = async (caller: Reader, id: string): Promise<ConnectionRow | undefined> =>
    findConnection(db, caller.projectId, caller.environment, id, isUuid(id));

  return {
    connections: async (caller: Reader, { limit = pageSize, ...filter }: ConnectionsQuery): Promise<Connection[]> =>
      (await listConnections(db, caller.projectId, caller.environment, { ...filter, limit })).map((row) =>
        toConnection(row, caller),
      ),

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
      { connectionId, category, limit = pageSize }: ErrorsQuery,
    ): Promise<ClassifiedError[]> {
      const connection = connectionId === undefined ? undefined : await get(caller, connectionId);
      if (connectionId !== undefined && !connection) return [];
      const rows = await listErrors(db, caller.projectId, caller.environment, {
        category,
        connection: connection?.id,
        limit,
      });
      return rows.map(toError);
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
