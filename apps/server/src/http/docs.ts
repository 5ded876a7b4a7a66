import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fail } from '@parley/contract';
import { llmsFile, publicUrlMark, stylesheet } from '@parley/docs/files';
import { escapeHtml } from '@parley/page-build/html';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lazy } from '../core/lazy.ts';
import { asUnavailablePage, beingBuilt, onceBuilt } from './built-pages.ts';
import { sendPage } from './page.ts';

interface DocsDeps {
  /** Folder of the build, or null while it is being built. */
  folder: () => string | null;
  /** The dashboard's own fonts, by the name they are served under. */
  fonts: Readonly<Record<string, string>>;
  publicUrl: string;
}

/** The documentation at /docs, as `apps/docs` built it: guides and reference, offline. */
export function mountDocs(app: FastifyInstance, { folder, fonts, publicUrl }: DocsDeps): void {
  const pages = onceBuilt(folder, (path) => readPages(path, publicUrl));
  const send = (reply: FastifyReply, href: string): FastifyReply => {
    const built = pages();
    if (built === null) return sendPage(asUnavailablePage(reply), beingBuilt);
    return sendPage(reply, built.get(href) ?? fail('SVC_NOT_FOUND'));
  };

  app.get('/docs', async (_request, reply) => send(reply, '/docs'));
  app.get('/docs/*', async (request, reply) => send(reply, `/docs/${(request.params as { '*': string })['*']}`));
  const css = lazy(() => readFileSync(stylesheet, 'utf8'));
  app.get('/docs/reference.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(css()));
  const llms = lazy(() => readFileSync(llmsFile, 'utf8'));
  app.get('/llms.txt', async (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms()));
  for (const [name, path] of Object.entries(fonts)) {
    const bytes = lazy(() => readFileSync(path));
    app.get(`/docs/${name}`, async (_request, reply) =>
      reply.type('font/woff2').header('cache-control', 'public, max-age=86400').send(bytes()),
    );
  }
}

/** Everything at once, into memory: two megabytes, and no request ever names a path on the disk. */
function readPages(folder: string, publicUrl: string): ReadonlyMap<string, string> {
  const url = escapeHtml(publicUrl);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const href = `/${relative(folder, path)
        .split(sep)
        .join('/')
        .replace(/\.html$/, '')}`;
      return [href, readFileSync(path, 'utf8').replaceAll(publicUrlMark, () => url)];
    }),
  );
}
