import { Type } from 'typebox';
import { routes, type TObject, type TProperties } from '../route.ts';
import { EnvironmentQuery } from '../schema.ts';
import { Call, CallDetail, CallLink, CallsQuery, NewCallLink, ReadSharedCall } from './call-schemas.ts';
import { ApiRequest, RequestsQuery } from './request-schemas.ts';
import {
  ClassifiedError,
  Connection,
  ConnectionDetail,
  ConnectionMetrics,
  ConnectionsQuery,
  Diagnostics,
  ErrorsQuery,
  ErrorWithConnection,
  TelemetryAccepted,
  TelemetryEvent,
} from './schemas.ts';

const inProject = { by: ['session'], needs: 'observability:read', query: Type.Object(EnvironmentQuery) } as const;
const withEnvironment = <P extends TProperties>(query: TObject<P>) =>
  Type.Object({ ...query.properties, ...EnvironmentQuery });
const byKey = { by: ['apiKey'] } as const;

/** Each read stands behind two doors: the API key's and the dashboard's. */
const listConnections = {
  query: ConnectionsQuery,
  paged: true,
  returns: [200, Type.Array(Connection)],
  does: 'Lists connections, newest first.',
} as const;
const getConnection = {
  returns: [200, ConnectionDetail],
  throws: ['SVC_CONNECTION_NOT_FOUND'],
  does: 'Reads a connection with its whole timeline and its errors.',
} as const;
const listErrors = {
  query: ErrorsQuery,
  paged: true,
  returns: [200, Type.Array(ClassifiedError)],
  does: 'Lists classified errors, newest first.',
} as const;
const getError = {
  returns: [200, ErrorWithConnection],
  throws: ['SVC_ERROR_NOT_FOUND'],
  does: 'Reads an error with its connection, if it has one.',
} as const;
const getMetrics = {
  returns: [200, ConnectionMetrics],
  does: 'Reads connection and error metrics of the last 24 hours, with series for charts.',
} as const;
const getDiagnostics = {
  returns: [200, Diagnostics],
  does: 'Checks each dependency of the service and says how it does.',
} as const;

export const observabilityRoutes = routes({
  listConnections: { at: 'GET /v1/connections', sdk: 'connections.list', scope: 'read', ...byKey, ...listConnections },
  getConnection: {
    at: 'GET /v1/connections/{connectionId}',
    sdk: 'connections.get',
    scope: 'read',
    ...byKey,
    ...getConnection,
  },
  listErrors: { at: 'GET /v1/errors', sdk: 'errors.list', scope: 'read', ...byKey, ...listErrors },
  getError: { at: 'GET /v1/errors/{errorId}', sdk: 'errors.get', scope: 'read', ...byKey, ...getError },
  getMetrics: { at: 'GET /v1/metrics', sdk: 'metrics.get', scope: 'read', ...byKey, ...getMetrics },
  getDiagnostics: { at: 'GET /v1/diagnostics', sdk: 'diagnostics.get', scope: 'read', ...byKey, ...getDiagnostics },
  listProjectConnections: {
    at: 'GET /v1/projects/{projectId}/connections',
    ...inProject,
    ...listConnections,
    query: withEnvironment(ConnectionsQuery),
  },
  getProjectConnection: {
    at: 'GET /v1/projects/{projectId}/connections/{connectionId}',
    ...inProject,
    ...getConnection,
  },
  listProjectErrors: {
    at: 'GET /v1/projects/{projectId}/errors',
    ...inProject,
    ...listErrors,
    query: withEnvironment(ErrorsQuery),
  },
  getProjectError: { at: 'GET /v1/projects/{projectId}/errors/{errorId}', ...inProject, ...getError },
  getProjectMetrics: { at: 'GET /v1/projects/{projectId}/metrics', ...inProject, ...getMetrics },
  getProjectDiagnostics: { at: 'GET /v1/projects/{projectId}/diagnostics', ...inProject, ...getDiagnostics },
  listProjectCalls: {
    at: 'GET /v1/projects/{projectId}/calls',
    ...inProject,
    query: CallsQuery,
    paged: true,
    returns: [200, Type.Array(Call)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists the calls of the last days (7 unless given), newest or worst first.',
  },
  getProjectCall: {
    at: 'GET /v1/projects/{projectId}/calls/{callId}',
    ...inProject,
    returns: [200, CallDetail],
    throws: ['SVC_CALL_NOT_FOUND'],
    does: 'Reads a call with what each participant did, sent and received, and sentences that say what was wrong. Samples are kept for 7 days.',
  },
  shareCall: {
    at: 'POST /v1/projects/{projectId}/calls/{callId}/links',
    ...inProject,
    // A member who may only look does not decide who else does.
    needs: 'room:manage',
    audit: 'call.shared',
    body: NewCallLink,
    isBodyOptional: true,
    returns: [201, CallLink],
    throws: ['SVC_CALL_NOT_FOUND', 'SVC_PROJECT_ARCHIVED'],
    does: 'Makes a link by which anybody reads this call for 24 hours without signing in, if wanted without names.',
  },
  readSharedCall: {
    at: 'POST /v1/shared-calls/read',
    by: ['none'],
    budget: 60,
    body: ReadSharedCall,
    returns: [200, CallDetail],
    throws: ['SVC_INVALID_TOKEN_LINK', 'SVC_CALL_NOT_FOUND', 'SVC_PROJECT_ARCHIVED'],
    does: 'Reads the call of a link.',
  },
  listProjectRequests: {
    at: 'GET /v1/projects/{projectId}/requests',
    ...inProject,
    query: RequestsQuery,
    unlogged: true,
    paged: true,
    returns: [200, Type.Array(ApiRequest)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists requests to the API in the project and environment, newest first, of the last 7 days: without bodies, paths or addresses. Which API key it was takes `api_key:read`.',
  },
  getProjectRequest: {
    at: 'GET /v1/projects/{projectId}/requests/{requestId}',
    ...inProject,
    unlogged: true,
    returns: [200, ApiRequest],
    throws: ['SVC_REQUEST_NOT_FOUND'],
    does: 'Reads the last request with this request id.',
  },
  streamProjectChanges: {
    at: 'GET /v1/projects/{projectId}/changes',
    by: ['session'],
    needs: 'project:read',
    query: Type.Object(EnvironmentQuery),
    streams: 'text/event-stream',
    returns: [200, null],
    throws: ['SVC_RATE_LIMITED'],
    does: 'Streams what kind of thing changed in the project and environment, without its content: each event `change` carries `{ kinds }`, at most four times a second, and only what the role may read. Ends with the session.',
  },
  sendTelemetry: {
    at: 'POST /v1/telemetry/events',
    by: ['rtcToken'],
    budget: 600,
    unlogged: true,
    body: TelemetryEvent,
    returns: [202, TelemetryAccepted],
    does: 'Takes one step of a connection as the client saw it. Best effort: it never fails a call.',
  },
});
