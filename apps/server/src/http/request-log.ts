import type { ErrorCode } from '@parley/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, RefusedKey } from '../core/caller.ts';
import type { NoteRequest } from '../core/request-log.ts';

/** Gathers what the log of requests says of one: who called, how it was refused, how it was answered. */
export interface RequestLog {
  called(request: FastifyRequest, caller: Caller): void;
  refused(request: FastifyRequest, thrown: unknown, code: ErrorCode): void;
  answered(request: FastifyRequest, reply: FastifyReply, ms: number): void;
}

interface Known {
  caller: Extract<Caller, { projectId: string }>;
  code: ErrorCode | null;
}

export function createRequestLog(note: NoteRequest): RequestLog {
  const known = new WeakMap<FastifyRequest, Known>();
  /** As the reference writes them, by what the router calls them. */
  const routes = new Map<string, string>();

  function routeOf(request: FastifyRequest): string {
    const { url = '' } = request.routeOptions;
    const route = routes.get(url) ?? url.replaceAll(/:(\w+)/g, '{$1}');
    routes.set(url, route);
    return route;
  }

  function called(request: FastifyRequest, caller: Caller): void {
    if ('projectId' in caller) known.set(request, { caller, code: null });
  }

  return {
    called,
    refused(request, thrown, code) {
      // A key that is over still says whose it was, so that its project sees what goes on using it.
      if (thrown instanceof RefusedKey) called(request, thrown.caller);
      const one = known.get(request);
      if (one) one.code = code;
    },
    answered(request, reply, ms) {
      const one = known.get(request);
      if (!one) return;
      const { caller, code } = one;
      const { statusCode: status } = reply;
      // A dashboard reads all the time, this log too; what it changes and what it is refused is worth a row.
      if (caller.kind === 'session' && request.method === 'GET' && status < 400) return;
      note({
        projectId: caller.projectId,
        environment: caller.environment,
        requestId: request.id,
        method: request.method,
        route: routeOf(request),
        status,
        ms,
        credential: caller.kind,
        keyId: caller.kind === 'apiKey' ? caller.publicId : null,
        code,
      });
    },
  };
}
