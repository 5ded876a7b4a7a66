import { type Method, type Routes, splitAt } from '@parley/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lazy } from '../core/lazy.ts';
import { isBrowserRoute } from '../core/origins.ts';
import { pathOf } from './request-info.ts';

/** A path of the table and what may be done with it. */
interface KnownPath {
  pattern: RegExp;
  methods: Method[];
  isForBrowsers: boolean;
}

/**
 * What is asked of a known path by a method it does not have: a browser's preflight is answered, anything else refused
 * with 405. Looked up only when no route matched, so the router need not hold every path once more for each method.
 */
export function createOtherMethods(
  table: Routes,
): (request: FastifyRequest, reply: FastifyReply) => 'answered' | 'refused' | 'unknown' {
  const paths = lazy(() => pathsOf(table));

  return (request, reply) => {
    const path = pathOf(request.url);
    const known = paths().find(({ pattern }) => pattern.test(path));
    if (!known) return 'unknown';
    const { isForBrowsers } = known;
    const methods: string[] = [...known.methods, ...(known.methods.includes('GET') ? ['HEAD'] : [])];
    // The router knows the method too: a parameter was longer than any id can be.
    if (methods.includes(request.method)) return 'unknown';
    const allow = [...methods, 'OPTIONS'].join(', ');
    reply.header('allow', allow);
    if (request.method !== 'OPTIONS') return 'refused';
    preflight(reply, allow, isForBrowsers);
    return 'answered';
  };
}

function pathsOf(table: Routes): readonly KnownPath[] {
  const paths = new Map<string, KnownPath>();
  for (const row of Object.values(table)) {
    const { method, path } = splitAt(row);
    const text = `^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`;
    const known = paths.get(text) ?? { pattern: new RegExp(text), methods: [], isForBrowsers: false };
    known.methods.push(method);
    known.isForBrowsers ||= isBrowserRoute(row.by);
    paths.set(text, known);
  }
  return [...paths.values()];
}

/** Says nothing about projects: whether an origin may use one is decided on the request itself. */
function preflight(reply: FastifyReply, allow: string, isForBrowsers: boolean): void {
  reply.header('vary', 'Origin');
  if (isForBrowsers) {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': allow,
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, x-request-id',
      'access-control-max-age': '600',
    });
  }
  reply.code(204).send();
}
