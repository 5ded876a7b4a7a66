import { type Static, Type } from 'typebox';
import { Contains, EnvironmentQuery, Nullable, PageQuery, Timestamp } from '../schema.ts';

/** Credentials that belong to a project. */
export const RequestCredential = Type.Enum(['apiKey', 'chatToken', 'rtcToken', 'session']);
export type RequestCredential = Static<typeof RequestCredential>;

export const RequestOutcome = Type.Enum(['OK', 'FAILED', 'CLIENT_ERROR', 'SERVER_ERROR']);
export type RequestOutcome = Static<typeof RequestOutcome>;

/** A request as it is logged: nothing that the caller wrote but its request id. */
export const ApiRequest = Type.Object({
  id: Type.String(),
  requestId: Type.String(),
  at: Timestamp,
  method: Type.String(),
  /** As in the reference: `/v1/rooms/{id}`. */
  route: Type.String(),
  status: Type.Integer(),
  ms: Type.Number(),
  credential: RequestCredential,
  /** The public id of the API key; null for other credentials, and for roles that may not read keys. */
  keyId: Nullable(Type.String()),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String(), fix: Type.String() })),
  /** Requests before this one that were beyond the rate of the log. */
  skipped: Type.Integer(),
});
export type ApiRequest = Static<typeof ApiRequest>;

export const RequestsQuery = Type.Object({
  outcome: Type.Optional(RequestOutcome),
  method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
  /** Part of the route. */
  route: Contains,
  code: Type.Optional(Type.String({ maxLength: 64 })),
  keyId: Type.Optional(Type.String({ maxLength: 64 })),
  requestId: Type.Optional(Type.String({ maxLength: 64 })),
  ...PageQuery,
  ...EnvironmentQuery,
});
export type RequestsQuery = Static<typeof RequestsQuery>;
