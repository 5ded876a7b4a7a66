import {
  type AuditAction,
  type ChangeKind,
  type DashboardRole,
  type Environment,
  fail,
  type LimitName,
  missingScope,
  operatorPermissions,
  type RouteRow,
  type Routes,
  roleMay,
  splitAt,
} from '@parley/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKeyCaller, Caller, SessionProofs } from '../core/caller.ts';
import type { Changes } from '../core/changes.ts';
import { readEnvironment } from '../core/environment.ts';
import { Answer, type AuditSubject, type HandlerInput, RawJson, type RequestInfo, Stream } from '../core/handlers.ts';
import { lazy } from '../core/lazy.ts';
import { assertOriginAllowed, isBrowserRoute, type OriginPolicy } from '../core/origins.ts';
import { type Parser, validatorOf } from '../core/validation.ts';
import { readBody, readText } from './body.ts';
import type { IdentifiedCaller, Identify } from './credentials.ts';
import type { Once, WireAnswer } from './idempotency.ts';
import type { Spend } from './rate-budget.ts';
import { requestInfo } from './request-info.ts';
import type { RequestLog } from './request-log.ts';
import { compileShape, type Shape } from './shape.ts';
import { bodyParser, checkParams, queryParser } from './validate.ts';
import { noteWritten, writtenBy } from './written.ts';

export interface PipelineDeps {
  identify: Identify;
  spend: Spend;
  /** Spends what the row costs a user, when there is something to do; or 429. */
  spendUserBudget: (name: LimitName, caller: Caller) => Promise<void>;
  once: Once;
  bodyBytesMax: number;
  /** Answers that go on until either side ends them. */
  streams: Set<Stream>;
  publicUrl: string;
  /** The caller's role in a project, or null when there is no such project for them. */
  roleIn: (projectId: string, userId: string) => Promise<DashboardRole | null>;
  proofs: SessionProofs;
  originPolicy: (projectId: string) => Promise<OriginPolicy>;
  /** Never rejects: an audit write that fails must not fail the request. */
  recordAudit: (action: AuditAction, caller: Caller, subject: AuditSubject, request: RequestInfo) => Promise<void>;
  /** Told of every request by an API key; returns at once. */
  noteKeyUse: (caller: ApiKeyCaller, request: RequestInfo) => void;
  requestLog: RequestLog;
  /** Open dashboards are told of every write. */
  changes: Changes;
  /** Checks answers against their schema: in development and tests a drift from the contract is an error. */
  checkAnswers: boolean;
}

/** Any handler, seen from here: the tables' types have been checked where the handlers were written. */
type AnyHandler = (input: HandlerInput<RouteRow>) => Promise<unknown>;

interface CompiledRoute {
  name: string;
  row: RouteRow;
  /** What a call changes, for open dashboards. */
  writes: ChangeKind | null;
  handler: AnyHandler;
  parseQuery: Parser | null;
  parseBody: Parser | null;
  shape: () => Shape;
  isValidAnswer: ((value: unknown) => boolean) | null;
}

/** Registers every row. One request goes through `serve` from top to bottom. */
export function mountRoutes(
  app: FastifyInstance,
  table: Routes,
  handlers: Readonly<Record<string, unknown>>,
  deps: PipelineDeps,
): void {
  for (const [name, row] of Object.entries(table)) {
    const { method, path } = splitAt(row);
    const route = compile(name, row, handlers[name] as AnyHandler, deps.checkAnswers);
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.route({ method, url, handler: (request, reply) => serve(route, request, reply, deps) });
  }
}

function compile(name: string, row: RouteRow, handler: AnyHandler, checkAnswers: boolean): CompiledRoute {
  const [, schema] = row.returns;
  const validator = checkAnswers && schema ? lazy(() => validatorOf(schema)) : null;
  return {
    name,
    row,
    writes: writtenBy(row),
    handler,
    parseQuery: queryParser(row),
    parseBody: bodyParser(row),
    shape: lazy(() => compileShape(schema)),
    isValidAnswer: validator && ((value) => validator().Check(value)),
  };
}

async function serve(
  route: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
): Promise<FastifyReply> {
  const { name, row } = route;
  const info = requestInfo(request, deps.publicUrl);
  const params = request.params as Record<string, string>;

  const identified = await deps.identify(row.by, request.headers, info.ip);
  if (identified.kind === 'apiKey') deps.noteKeyUse(identified, info);
  if (!row.unlogged) deps.requestLog.called(request, identified);
  await checkOrigin(row, identified, request, reply, deps);
  checkScope(row, identified);
  checkParams(params);
  const caller = await enterProject(row, identified, request, deps);
  reply.headers(await deps.spend(name, row, caller, info.ip));

  const sent = row.speaks
    ? await readText(request.raw, row.speaks, deps.bodyBytesMax)
    : await readBody(request.raw, deps.bodyBytesMax);
  const query = route.parseQuery?.(request.query) ?? {};
  const body = row.speaks ? sent : route.parseBody?.(sent);
  await stepUp(row, caller, body, deps);
  // The row's own types hold from here on: every part has been parsed by its schema.
  const input = { caller, params, query, body, request: info } as HandlerInput<RouteRow>;

  if (row.streams) {
    const result = request.method === 'HEAD' ? null : await route.handler(input);
    return sendStream(reply, row.streams, result, deps.streams);
  }

  const key = request.headers['idempotency-key'];
  const answer =
    row.replay && typeof key === 'string'
      ? await deps.once(
          { window: row.replay, route: name, credential: credentialKey(caller), key, input: [params, query, body] },
          (attempt) => handle(route, { ...input, request: { ...info, attempt } }, deps),
        )
      : await handle(route, input, deps);
  return send(reply, answer);
}

/** A browser may use a project only from its origins, and may read the answer only then. */
async function checkOrigin(
  row: RouteRow,
  caller: IdentifiedCaller,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
): Promise<void> {
  if (!isBrowserRoute(row.by)) return;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !('projectId' in caller)) return;
  assertOriginAllowed(await deps.originPolicy(caller.projectId), origin);
  reply.header('access-control-allow-origin', origin);
  reply.header(
    'access-control-expose-headers',
    'x-request-id, x-next-cursor, retry-after, idempotent-replayed, location, link, accept-patch',
  );
}

/** A key that was made with scopes reaches their routes only. */
function checkScope(row: RouteRow, caller: IdentifiedCaller): void {
  const scope = caller.kind === 'apiKey' ? missingScope(caller.scopes, row) : null;
  if (scope !== null) fail('SVC_SCOPE_MISSING', { scope, message: `This API key lacks the scope "${scope}".` });
}

/** A session enters the project its path names, if its role allows what the row needs. */
async function enterProject(
  row: RouteRow,
  caller: IdentifiedCaller,
  request: FastifyRequest,
  deps: PipelineDeps,
): Promise<Caller> {
  if (caller.kind !== 'session') return caller;
  const { projectId } = request.params as Record<string, string>;
  if (projectId === undefined) {
    if (row.needs && operatorPermissions.includes(row.needs) && !caller.isOperator)
      fail('SVC_PERMISSION_DENIED', { permission: row.needs });
    return caller;
  }
  const role = (await deps.roleIn(projectId, caller.userId)) ?? fail('SVC_PROJECT_NOT_FOUND');
  await deps.proofs.assertAdmitted(projectId, caller);
  const environment = readEnvironment((request.query as Record<string, unknown>)['environment']);
  const inside = { ...caller, projectId, environment, role };
  if (!row.unlogged) deps.requestLog.called(request, inside);
  if (row.needs && !roleMay(role, row.needs, environment)) fail('SVC_PERMISSION_DENIED', { permission: row.needs });
  return inside;
}

/** What a thief of a session must not do asks for a fresh proof; an environment is the body's, or that of the page. */
async function stepUp(row: RouteRow, caller: Caller, body: unknown, deps: PipelineDeps): Promise<void> {
  if (row.stepUp === undefined || caller.kind !== 'session') return;
  if (row.stepUp !== 'inProduction') return deps.proofs.assertProven(caller, row.stepUp);
  const of = { ...caller, ...(body as { environment?: Environment }) };
  if ('environment' in of && of.environment === 'PRODUCTION') await deps.proofs.assertProven(caller, 'withFactor');
}

async function handle(
  { name, row, writes, handler, shape, isValidAnswer }: CompiledRoute,
  input: HandlerInput<RouteRow>,
  deps: PipelineDeps,
): Promise<WireAnswer> {
  if (row.userBudget) await deps.spendUserBudget(row.userBudget, input.caller);
  const result = await handler(input);
  if (writes !== null) noteWritten(deps.changes, writes, input.caller);
  const [status, schema, repeatStatus] = row.returns;
  const statusOf = (isRepeat: boolean): number => (isRepeat && repeatStatus !== undefined ? repeatStatus : status);
  const check = (value: unknown): void => {
    if (isValidAnswer && !isValidAnswer(value))
      throw new Error(`The answer of ${name} does not match its schema: ${JSON.stringify(value)}`);
  };
  if (result instanceof RawJson) {
    if (isValidAnswer) check(JSON.parse(result.text));
    return { status: statusOf(result.isRepeat), headers: { ...result.headers }, text: result.text };
  }
  const answer = result instanceof Answer ? result : new Answer(result);
  if (row.audit && answer.subject) await deps.recordAudit(row.audit, input.caller, answer.subject, input.request);
  const shaped = shape()(answer.body);
  check(shaped);
  const type: Record<string, string> = row.speaks && schema ? { 'content-type': row.speaks } : {};
  return {
    status: statusOf(answer.isRepeat),
    headers: { ...answer.headers, ...type },
    text: schema === null ? '' : row.speaks ? String(shaped) : JSON.stringify(shaped),
  };
}

function send(reply: FastifyReply, { status, headers, text }: WireAnswer): FastifyReply {
  reply.code(status).headers(headers);
  if (text === '') return reply.send();
  return reply.header('content-type', headers['content-type'] ?? 'application/json; charset=utf-8').send(text);
}

/** Sent as it comes; no proxy may hold it back or keep it. */
function sendStream(reply: FastifyReply, mediaType: string, result: unknown, streams: Set<Stream>): FastifyReply {
  reply.headers({ 'content-type': mediaType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  if (!(result instanceof Stream)) return reply.send();
  streams.add(result);
  result.content.once('close', () => streams.delete(result));
  return reply.send(result.content);
}

/** Whose Idempotency-Keys these are. */
function credentialKey(caller: Caller): string {
  const scope = 'projectId' in caller ? `${caller.projectId}/${caller.environment}/` : '';
  switch (caller.kind) {
    case 'apiKey':
      return `${scope}key/${caller.publicId}`;
    case 'session':
      return `${scope}user/${caller.userId}`;
    case 'chatToken':
      return `${scope}chat/${caller.userId}`;
    case 'rtcToken':
      return `${scope}rtc/${caller.tokenId}`;
    case 'sfuSecret':
    case 'none':
      return caller.kind;
  }
}
