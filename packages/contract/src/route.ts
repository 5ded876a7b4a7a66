import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { AuditAction } from './audit/schemas.ts';
import type { ErrorCode } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { Permission } from './permissions.ts';
import type { RouteScope } from './projects/key-scopes.ts';

/** What a request may present. `session` is the dashboard's JWT; `none` needs nothing. */
export type Credential = 'apiKey' | 'chatToken' | 'rtcToken' | 'session' | 'sfuSecret' | 'none';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How long a stored answer is replayed for the same Idempotency-Key. Credentials must not be replayed after they expired. */
export const replayWindowSeconds = { credential: 5 * 60, resource: 24 * 60 * 60 } as const;
export type ReplayWindow = keyof typeof replayWindowSeconds;

/**
 * Who proves themselves again: of accounts with a second factor those who have not proven it lately, for every call or
 * for production only; `always`: of the others too those who signed in longer ago, by their password.
 */
export type StepUpNeed = 'withFactor' | 'inProduction' | 'always';

export type SdkName = `${string}.${string}`;

/** A list that is not `paged`: where its items are, and which query field takes the cursor of the next page. */
export interface Walk {
  items: string;
  /** The field to send `nextCursor` in. */
  by: string;
  /** The same, for a walk that began with this other field. */
  orBy?: string;
  /** A flag that ends the walk; without one it ends when `nextCursor` is null. */
  until?: string;
}

/** One route. Routing, validation, limits, OpenAPI, SDK and docs derive from the row. */
export interface RouteRow {
  /** Method and path; `{name}` is a path parameter. */
  at: `${Method} /${string}`;
  /** Its method in the server SDK and its noun and verb in the CLI: every route that takes an API key has one. */
  sdk?: SdkName;
  /** Credentials accepted. */
  by: readonly Credential[];
  /** What an API key with scopes must have: every route that takes an API key has one. */
  scope?: RouteScope;
  /** Permission the session's role must hold (an API key holds every one of its project). */
  needs?: Permission;
  /** What the session must have proven within the last ten minutes. */
  stepUp?: StepUpNeed;
  /** Requests per rate-limit window. */
  budget?: number;
  /** What a chat user spends here, together with the frames that name the same limit; an API key spends nothing. */
  userBudget?: LimitName;
  /** Accepts Idempotency-Key and replays the answer for this long. */
  replay?: ReplayWindow;
  /** Recorded in the audit log after success. */
  audit?: AuditAction;
  query?: TObject;
  body?: TObject;
  /** The body may be left out altogether. */
  isBodyOptional?: true;
  /** Status and body. A third number is the status of a repeat that found the thing already there. */
  returns: readonly [number, TSchema | null, number?];
  /** A list that can grow: takes `limit` and `cursor`, gives the next cursor in the header `x-next-cursor`. */
  paged?: true;
  /** A list whose cursor is in the body. */
  walk?: Walk;
  /** Body and answer are text of this media type instead of JSON. */
  speaks?: 'application/sdp' | 'application/trickle-ice-sdpfrag';
  /** Answers with a stream of this media type instead of a JSON body. */
  streams?: 'text/event-stream' | 'application/x-ndjson' | 'text/csv';
  /** Not in the request log: it is called all the time and says nothing of how an application uses the API, or reads the log. */
  unlogged?: true;
  /** Codes beyond those every route can raise. */
  throws?: readonly ErrorCode[];
  /** One sentence for the SDK's hover text and the reference. */
  does: string;
}

export type Routes = Readonly<Record<string, RouteRow>>;

/** Keeps the literal types of a table. */
export const routes = <const T extends Routes>(rows: T): T => rows;

export type ParamNames<At extends string> = At extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

export type ParamsOf<R extends RouteRow> = { [K in ParamNames<R['at']>]: string };
export type QueryOf<R extends RouteRow> = R extends { query: infer Q extends TObject }
  ? Static<Q>
  : Record<string, never>;
export type BodyOf<R extends RouteRow> = R extends { speaks: string }
  ? string
  : R extends { body: infer B extends TObject }
    ? R extends { isBodyOptional: true }
      ? Partial<Static<B>>
      : Static<B>
    : undefined;
export type AnswerOf<R extends RouteRow> = R['returns'][1] extends TSchema ? Static<R['returns'][1]> : undefined;

/** Method and path of a row, apart. */
export function splitAt(row: Pick<RouteRow, 'at'>): { method: Method; path: string } {
  const [method, path] = row.at.split(' ', 2) as [Method, string];
  return { method, path };
}

/** Names of the `{…}` parts of a path, in order. */
export const paramNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');

export type { TObject, TProperties, TSchema };
