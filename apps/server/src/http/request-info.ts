import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';
import { plainAddress } from '../core/addresses.ts';
import type { RequestInfo } from '../core/handlers.ts';
import { pooledBytes } from '../core/ids.ts';
import { bearerOf } from './credentials.ts';

/** The caller's own id when it is well-formed (a repeated header is joined with a comma and is not), else a new one. */
export function requestIdOf(headers: IncomingMessage['headers']): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(given) ? given : newRequestId();
}

export const newRequestId = (): string => `req_${pooledBytes(12).toString('hex')}`;

/** The address of a client that is not (yet) a Fastify request, by the same rule: proxies count only when named. */
export function createIpOf(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = trustProxy.length > 0 ? proxyAddress.compile([...trustProxy]) : () => false;
  return (request) => plainAddress(proxyAddress(request, isTrusted));
}

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url;

export function requestInfo(request: FastifyRequest, publicUrl: string): RequestInfo {
  const { headers } = request;
  return {
    id: request.id,
    ip: plainAddress(request.ip),
    userAgent: headers['user-agent']?.slice(0, 512) ?? null,
    isSameOrigin: isSameOrigin(headers.origin, headers.host, publicUrl),
    lastEventId: oneOf(headers['last-event-id']),
    cookie: (name) => cookieOf(headers.cookie, name),
    bearer: bearerOf(headers),
    attempt: null,
  };
}

const oneOf = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null);

function isSameOrigin(origin: string | undefined, host: string | undefined, publicUrl: string): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return origin === new URL(publicUrl).origin || new URL(origin).host === host;
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
