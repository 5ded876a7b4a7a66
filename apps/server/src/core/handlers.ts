import type { Readable } from 'node:stream';
import type { AnswerOf, BodyOf, Environment, ParamsOf, QueryOf, RouteRow, Routes } from '@parley/contract';
import type { CallerOf } from './caller.ts';

/** What a handler may know of the request beyond its row's fields. */
export interface RequestInfo {
  id: string;
  ip: string;
  userAgent: string | null;
  /** The page it came from is ours: a cookie may be believed. True when there is no Origin header. */
  isSameOrigin: boolean;
  /** Where a stream that was cut is to go on. */
  lastEventId: string | null;
  cookie(name: string): string | undefined;
  /** What came as `Authorization: Bearer`, for a route that needs no credential but can use one. Not checked. */
  bearer: string | undefined;
  /** With an Idempotency-Key: which attempt this is. */
  attempt: Attempt | null;
}

/** One of the attempts that are to have one effect together. */
export interface Attempt {
  /** The same for every attempt: an id derived from it is stored once, even after a crash. */
  seed: string;
  /** An earlier one may have done the work without answering. */
  isRetry: boolean;
}

export interface HandlerInput<R extends RouteRow> {
  caller: CallerOf<R>;
  params: ParamsOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  request: RequestInfo;
}

/** Who or what an audited action was about. Never secrets, never new values. */
export interface AuditSubject {
  resourceId: string;
  metadata?: Record<string, unknown>;
  /** Where the path does not name the project. */
  projectId?: string;
  /** The environment it happened in; a project as a whole has none. */
  environment?: Environment;
}

/** A body with something said about it. Handlers that have nothing to add return the body itself. */
export class Answer<T> {
  readonly body: T;
  readonly isRepeat: boolean;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly subject: AuditSubject | null;

  constructor(
    body: T,
    extra: { isRepeat?: boolean; headers?: Record<string, string | string[]>; subject?: AuditSubject } = {},
  ) {
    this.body = body;
    this.isRepeat = extra.isRepeat ?? false;
    this.headers = extra.headers ?? {};
    this.subject = extra.subject ?? null;
  }
}

/** An answer that goes on until either side ends it. */
export class Stream {
  readonly content: Readable;
  /** Ends it after what was sent: the process stops. */
  readonly end: () => void;

  constructor(content: Readable, end: () => void) {
    this.content = content;
    this.end = end;
  }
}

/** The body of an answer that is JSON already, made by the database. */
export class RawJson {
  readonly text: string;
  readonly isRepeat: boolean;
  readonly headers: Readonly<Record<string, string>>;

  constructor(text: string, extra: { isRepeat?: boolean; headers?: Record<string, string> } = {}) {
    this.text = text;
    this.isRepeat = extra.isRepeat ?? false;
    this.headers = extra.headers ?? {};
  }
}

/** An idempotent create that found the thing there: answered with the row's repeat status. */
export const repeated = <T>(body: T): Answer<T> => new Answer(body, { isRepeat: true });

/** One page of a list, with the cursor of the next one. */
export const page = <T>(items: T[], nextCursor: string | null): Answer<T[]> =>
  new Answer(items, { headers: nextCursor === null ? {} : { 'x-next-cursor': nextCursor } });

/** The answer of an audited route; a subject of null means nothing changed and nothing is recorded. */
export const recorded = <T>(body: T, subject: AuditSubject | null, isRepeat = false): Answer<T> =>
  new Answer(body, subject === null ? { isRepeat } : { subject, isRepeat });

type Returned<R extends RouteRow> = R extends { streams: string }
  ? Stream
  : R extends { audit: string }
    ? Answer<AnswerOf<R>>
    : AnswerOf<R> | Answer<AnswerOf<R>> | RawJson;

type Handler<R extends RouteRow> = (input: HandlerInput<R>) => Promise<Returned<R>>;

/** One handler for each row of a table, no more and no fewer. */
export type Handlers<T extends Routes> = { readonly [K in keyof T]: Handler<T[K]> };
