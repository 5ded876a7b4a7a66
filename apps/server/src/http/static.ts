import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fail } from '@parley/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asUnavailablePage, beingBuilt, onceBuilt } from './built-pages.ts';
import { pathOf } from './request-info.ts';

interface PagesDeps {
  /** Where the pages are: '' for the dashboard, or a path. */
  prefix: string;
  /** Folder of the build, or null while it is being built. */
  folder: () => string | null;
  /** Folders of the builds before it whose files are still asked for. */
  before?: (folder: string) => readonly string[];
  isProduction: boolean;
  publicUrl: string;
  /** What the first address says to those who want no page, such as curl. */
  plainIndex?: string;
}

interface StaticFile {
  type: string;
  etag: string;
  bytes: Buffer;
  /** The same, compressed at build time. */
  encoded: Partial<Record<'br' | 'gzip', Buffer>>;
}

type Files = ReadonlyMap<string, StaticFile>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Addresses that belong to others: what is not found there is a 404 of the API, never the dashboard. */
const foreign = /^\/(v1|docs|dev|playground|healthz|readyz|metrics|openapi\.json|assets)(\/|$)/;

/** Serves an application of pages: its files, and its one page for every address that a person may have bookmarked. */
export function mountPages(
  app: FastifyInstance,
  { prefix, folder, before = () => [], isProduction, publicUrl, plainIndex }: PagesDeps,
): void {
  const policy = pagePolicy(publicUrl);
  const mode = isProduction ? 'production' : 'development';
  const files = onceBuilt(folder, (path) => {
    const own = readFolder(path, mode);
    // Files of a build have its content in their names: those of two builds cannot be taken for each other.
    const older = before(path).flatMap((kept) => [...readKept(kept, mode)]);
    return new Map([...older, ...own]);
  });

  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request.url).slice(prefix.length) || '/';
    const file = files()?.get(path);
    if (file && path !== '/index.html') return sendFile(request, reply, file, path);
    const isPage = (request.headers.accept ?? '').includes('text/html') && !(prefix === '' && foreign.test(path));
    if (!isPage && path === '/' && plainIndex !== undefined)
      return reply.type('text/plain; charset=utf-8').send(plainIndex);
    if (!isPage) return fail('SVC_NOT_FOUND');
    const page = files()?.get('/index.html');
    reply.headers({ ...pageHeaders, 'content-security-policy': policy });
    if (page) return sendFile(request, reply, page, path);
    return asUnavailablePage(reply)
      .type(types['.html'] ?? '')
      .send(beingBuilt);
  };
  app.get(`${prefix}/*`, serve);
  if (prefix !== '') app.get(prefix, serve);
}

const pageHeaders = {
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(self), microphone=(self), display-capture=(self), geolocation=()',
};

/** Nothing inline, nothing from elsewhere; sockets to ourselves, and the pictures and sound of a test call. */
function pagePolicy(publicUrl: string): string {
  const socket = new URL(publicUrl).origin.replace(/^http/, 'ws');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${socket}`,
    "media-src 'self' blob: mediastream:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile, path: string): FastifyReply {
  // The build puts a hash of the content into the names under /assets: those never change.
  const isForever = path.startsWith('/assets/');
  reply.headers({
    'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = (['br', 'gzip'] as const).find((name) => accepted.includes(name) && file.encoded[name]);
  if (encoding) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(encoding ? file.encoded[encoding] : file.bytes);
}

/** Nothing when another process has deleted it meanwhile. */
function readKept(folder: string, mode: string): Files {
  try {
    return readFolder(folder, mode);
  } catch {
    return new Map();
  }
}

/** Everything at once, into memory: under a megabyte, and no request ever names a path on the disk. */
function readFolder(folder: string, mode: string): Files {
  const found = new Map<string, StaticFile>();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = new Set(entries.map((entry) => join(entry.parentPath, entry.name)));
  for (const path of paths) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    const raw = readFileSync(path);
    const isPage = extname(path) === '.html';
    const bytes = isPage ? Buffer.from(withMode(raw.toString(), mode)) : raw;
    found.set(`/${relative(folder, path).split(sep).join('/')}`, {
      type,
      bytes,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      encoded: {
        ...(paths.has(`${path}.br`) ? { br: readFileSync(`${path}.br`) } : {}),
        ...(paths.has(`${path}.gz`) ? { gzip: readFileSync(`${path}.gz`) } : {}),
      },
    });
  }
  return found;
}

/** The page learns here whether development conveniences are on. */
const withMode = (html: string, mode: string): string =>
  html.replace('name="parley-mode" content="production"', `name="parley-mode" content="${mode}"`);
