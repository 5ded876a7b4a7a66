import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Files at signed URLs: bytes in and out, which the JSON pipeline has no part in. The URL is the credential. */
export interface FileRoutes {
  receive(
    id: string,
    query: SignedQuery,
    upload: { contentType: string | undefined; contentLength: number | null; content: Readable },
  ): Promise<void>;
  serve(id: string, query: SignedQuery): Promise<{ content: Readable; headers: Record<string, string> }>;
}

interface SignedQuery {
  exp?: string;
  sig?: string;
  as?: string;
}

/** Any page may use a signed URL it was given: nothing but the URL is believed. */
const anyOrigin = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

export function mountFiles(app: FastifyInstance, files: FileRoutes): void {
  app.route({ method: 'PUT', url: '/v1/chat/uploads/:id', handler: upload });
  app.route({ method: 'GET', url: '/v1/chat/downloads/:id', handler: download });
  app.route({
    method: 'OPTIONS',
    url: '/v1/chat/uploads/:id',
    handler: (_request, reply) =>
      reply
        .code(204)
        .headers({
          ...anyOrigin,
          'access-control-allow-methods': 'PUT',
          'access-control-allow-headers': 'content-type',
          'access-control-max-age': '600',
        })
        .send(),
  });

  async function upload(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(anyOrigin);
    return receive(files, request, reply);
  }

  function download(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(anyOrigin);
    return send(files, request, reply);
  }
}

/** Files of exports and imports: for backends, so no page may use them. */
export function mountDataFiles(app: FastifyInstance, files: FileRoutes): void {
  const url = '/v1/data-files/:id';
  app.route({ method: 'PUT', url, handler: (request, reply) => receive(files, request, reply) });
  app.route({ method: 'GET', url, handler: (request, reply) => send(files, request, reply) });
}

async function receive(
  files: Pick<FileRoutes, 'receive'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const length = request.headers['content-length'];
  try {
    await files.receive(idOf(request), queryOf(request), {
      contentType: request.headers['content-type'],
      contentLength: length === undefined ? null : Number(length),
      // A separate stream: a store that fails destroys its source, which must not be the request's socket.
      content: Readable.from(request.raw.iterator({ destroyOnReturn: false }), { objectMode: false }),
    });
  } catch (error) {
    reply.header('connection', 'close');
    await discard(request.raw);
    throw error;
  }
  return reply.code(204).send();
}

async function send(
  files: Pick<FileRoutes, 'serve'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { content, headers } = await files.serve(idOf(request), queryOf(request));
  return reply.headers(headers).send(content);
}

const discardedMsMax = 5_000;
const discardedBytesMax = 32 * 1024 * 1024;

/** Drains a refused body, with a limit: a client that is cut off while it sends never sees the answer. */
async function discard(body: Readable): Promise<void> {
  if (body.readableEnded || body.destroyed) return;
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), discardedMsMax);
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discardedBytesMax) enough.abort();
  });
  await finished(body, { signal: enough.signal, cleanup: true }).catch(() => {});
  clearTimeout(timer);
}

const idOf = ({ params }: FastifyRequest): string => (params as { id: string }).id;

/** Repeated parameters come as arrays: those sign nothing. */
function queryOf({ query }: FastifyRequest): SignedQuery {
  const { exp, sig, as } = query as Record<string, unknown>;
  return {
    ...(typeof exp === 'string' ? { exp } : {}),
    ...(typeof sig === 'string' ? { sig } : {}),
    ...(typeof as === 'string' ? { as } : {}),
  };
}
