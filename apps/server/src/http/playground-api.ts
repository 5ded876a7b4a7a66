import { Readable } from 'node:stream';
import { fail } from '@parley/contract';
import type { FastifyInstance } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';
import { declaredBytes } from './body.ts';
import { onlyAt } from './own-host.ts';
import { requestInfo } from './request-info.ts';

interface PlaygroundDeps {
  /** The playground's own backend, as any application could have it. */
  backend: (request: Request) => Promise<Response>;
  publicUrl: string;
  isOwnHost: IsOwnHost;
}

const bodyBytesMax = 65_536;

/** The backend of the playground, behind the pages it serves and no others. */
export function mountPlaygroundApi(app: FastifyInstance, { backend, publicUrl, isOwnHost }: PlaygroundDeps): void {
  app.route({
    method: ['GET', 'POST'],
    url: '/playground/api/*',
    // It hands out tokens without asking who is there: another site's page must not get at it, nor one that had its own
    // name point to this machine.
    onRequest: onlyAt(isOwnHost),
    async handler(request, reply) {
      if (!requestInfo(request, publicUrl).isSameOrigin)
        fail('SVC_ORIGIN_NOT_ALLOWED', { message: 'This is for the playground only.' });
      declaredBytes(request, bodyBytesMax);
      const answer = await backend(
        new Request(new URL(request.url, publicUrl), {
          method: request.method,
          ...(request.method === 'POST' ? { body: limited(request.raw), duplex: 'half' } : {}),
        } as RequestInit),
      );
      return reply
        .code(answer.status)
        .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
        .send(await answer.text());
    },
  });
}

/** The body, cut off where it becomes too long, whatever its header says. */
function limited(content: Readable): ReadableStream {
  let size = 0;
  return Readable.toWeb(
    content.map((chunk: Uint8Array) => {
      size += chunk.length;
      if (size > bodyBytesMax) fail('SVC_PAYLOAD_TOO_LARGE', { limit: bodyBytesMax });
      return chunk;
    }),
  ) as ReadableStream;
}
