import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errors, fail, isServiceError, type Routes, ServiceError } from '@parley/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { plainAddress } from '../core/addresses.ts';
import type { Log } from '../core/log.ts';
import type { Metrics } from '../core/metrics.ts';
import type { Span, Tracer } from '../core/tracing.ts';
import { toErrorAnswer } from './errors.ts';
import { createOtherMethods } from './other-methods.ts';
import { newRequestId, pathOf, requestIdOf } from './request-info.ts';
import type { RequestLog } from './request-log.ts';

interface HttpServerDeps {
  table: Routes;
  log: Log;
  metrics: Metrics;
  /** Traces nothing unless given. */
  tracer?: Tracer;
  /** Logs nothing for projects unless given. */
  requestLog?: RequestLog;
  trustProxy: readonly string[];
  /** With https browsers are told to use nothing else. */
  publicUrl?: string;
  /** True once the process is draining: new requests are sent elsewhere. */
  isDraining: () => boolean;
  /** Never unless given. */
  isOverloaded?: () => boolean;
}

const urlLengthMax = 8_192;
/** A year, and this host alone: what else is under its domain is not ours to decide. */
const hsts = 'max-age=31536000';
/** Health checks and operators are answered also under overload. */
const answeredAnyway = new Set(['/healthz', '/readyz', '/metrics']);

/** Our pipeline validates: Fastify's own compilers would be loaded for nothing, a tenth of a start. */
const noSchemas = (): never => {
  throw new Error('Routes have no schema of Fastify: see pipeline.ts.');
};

/** Fastify with every default that would bypass our request id or error envelope closed. */
export function createHttpServer(deps: HttpServerDeps): FastifyInstance {
  const { table, log, metrics, requestLog, trustProxy, isDraining, isOverloaded = () => false } = deps;
  const app = Fastify({
    genReqId: (request) => requestIdOf(request.headers),
    loggerInstance: undefined,
    logger: false,
    trustProxy: trustProxy.length > 0 ? [...trustProxy] : false,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    return503OnClosing: false,
    // `drain` closes them, when what they carry is through.
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
    clientErrorHandler: answerMalformed,
    routerOptions: { maxParamLength: 512 },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: { headersTimeout: 10_000 },
  });

  const isSecure = deps.publicUrl?.startsWith('https:') ?? false;
  const answerOtherMethod = createOtherMethods(table);

  function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (isServiceError(thrown, 'SVC_NOT_FOUND')) {
      const other = answerOtherMethod(request, reply);
      if (other === 'answered') return reply;
      if (other === 'refused') return sendError(new ServiceError('SVC_METHOD_NOT_ALLOWED'), request, reply);
    }
    const { status, headers, body, isBug } = toErrorAnswer(thrown, request.id, pathOf(request.url));
    requestLog?.refused(request, thrown, body.code);
    // The route, not the path: callers put into a path what should be in a header.
    if (isBug) log.error({ error: thrown, requestId: request.id, route: routeOf(request) }, 'request failed');
    return reply
      .code(status)
      .headers({ ...headers, 'x-request-id': request.id })
      .send(body);
  }

  // The pipeline reads bodies itself: after the credential and the budget, never before.
  app.removeAllContentTypeParsers();
  // One of the two by name: the type that most requests have is then not taken apart each time.
  app.addContentTypeParser(['application/json', '*'], (_request, _payload, done) => done(null));

  if (deps.tracer?.isOn) traceRequests(app, deps.tracer);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    if (isSecure) reply.header('strict-transport-security', hsts);
    if (request.url.length > urlLengthMax) fail('SVC_URI_TOO_LONG');
    if (isDraining()) fail('SVC_DRAINING', { retryAfterSeconds: 1 });
    if (isOverloaded() && !answeredAnyway.has(routeOf(request))) {
      fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
    }
  });
  // A connection that is about to close takes no further request: a client must not send one into its end.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isDraining()) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = routeOf(request);
    const ms = Math.round(reply.elapsedTime * 100) / 100;
    metrics.count('parley_http_requests_total', { method: request.method, route, status: String(reply.statusCode) });
    metrics.observe('parley_http_request_seconds', ms / 1000, { route });
    requestLog?.answered(request, reply, ms);
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms,
        ip: plainAddress(request.ip),
      },
      'request',
    );
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(new ServiceError('SVC_NOT_FOUND'), request, reply));
  return app;
}

const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'none';

/** A span a request, under the caller's own when it sent `traceparent`; everything the request does runs inside it. */
function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  // With a callback, not a promise: only so does the rest of the request run inside.
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const begun = tracer.begin(request.method, {
      kind: 'server',
      ...(typeof traceparent === 'string' ? { parent: traceparent } : {}),
      attributes: { 'http.request.method': request.method, 'parley.request_id': request.id },
    });
    if (!begun) return done();
    spans.set(request, begun.span);
    begun.enter(done);
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request);
    const route = routeOf(request);
    span?.rename(`${request.method} ${route}`);
    span?.set({ 'http.route': route, 'http.response.status_code': reply.statusCode });
    span?.end({ isFailed: reply.statusCode >= 500 });
  });
}

const parserCodes: Readonly<Record<string, ErrorCode>> = { HPE_HEADER_OVERFLOW: 'SVC_HEADERS_TOO_LARGE' };

/** What is not HTTP never reaches a route, but is answered in the same words. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // On a connection that a browser opened ahead and has not used, an answer would be that of the request that comes next.
  const isUnused = socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || !socket.writable || isUnused) return void socket.destroy();
  const code = parserCodes[error.code ?? ''] ?? 'SVC_BAD_REQUEST';
  const requestId = newRequestId();
  const { body } = toErrorAnswer(new ServiceError(code), requestId, '');
  const text = JSON.stringify(body);
  const { status } = errors[code];
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\nconnection: close\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
