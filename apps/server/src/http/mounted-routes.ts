import type { FastifyInstance } from 'fastify';

/** Names every route mounted from here on as the table does: `GET /v1/rooms/{id}`. */
export function collectRoutes(app: FastifyInstance): readonly string[] {
  const mounted: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      const name = `${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
      // Fastify answers HEAD wherever there is a GET.
      if (one !== 'HEAD') mounted.push(name);
    }
  });
  return mounted;
}
