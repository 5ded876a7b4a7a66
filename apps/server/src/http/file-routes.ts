import type { Readable } from 'node:stream';
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
    const length = request.headers['content-length'];
    try {
      await files.receive(idOf(request), queryOf(request), {
        contentType: request.headers['content-type'],
        contentLength: length === undefined ? null : Number(length),
        content: request.raw,
      });
    } catch (error) {
      // What is left of the body is not worth reading.
      reply.header('connection', 'close');
      throw error;
    }
    return reply.code(204).send();
  }

  async function download(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(anyOrigin);
    const { content, headers } = await files.serve(idOf(request), queryOf(request));
    return reply.headers(headers).send(content);
  }
}

const idOf = ({ params }: FastifyRequest): string => (params as { id: string }).id;

/** Repeated parameters come as arrays: those sign nothing. */
function queryOf({ query }: FastifyRequest): SignedQuery {
  const { exp, sig } = query as Record<string, unknown>;
  return {
    ...(typeof exp === 'string' ? { exp } : {}),
    ...(typeof sig === 'string' ? { sig } : {}),
  };
}
