import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Environment } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import { bare, isAddressAllowed, isLiteral } from './address-guard.ts';
import { createGuardedAgents } from './guarded-agents.ts';
import type { Resolve } from './resolver.ts';
import { isUrlAllowed, policyFor, type UrlRules } from './url-check.ts';

/** A page of a stranger, as far as it was read. */
interface FetchedPage {
  /** Where it was found in the end. */
  url: string;
  contentType: string;
  body: Buffer;
}

export interface PageFetch {
  /** Null for anything but a page that answered in time. Never rejects. */
  fetch(url: string, environment: Environment): Promise<FetchedPage | null>;
  /** Whether a page may name this address to its readers, as far as the text says: they are not sent where we do not go. */
  isAllowed(url: string, environment: Environment): boolean;
  close(): void;
}

interface PageFetchDeps {
  clock: Clock;
  resolve: Resolve;
  rules: UrlRules;
}

const redirectsMax = 3;
/** For all of it. */
const timeoutMs = 5_000;
const bytesMax = 256 * 1024;
const isPage = /^(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/**
 * Fetches what users link to, by the guard of webhooks; each redirect is judged as if it had been the link. Users choose
 * these addresses, not the operator: private networks are never among them, even where webhooks may go there.
 */
export function createPageFetch({ clock, resolve, rules }: PageFetchDeps): PageFetch {
  const narrow = { ...rules, allowPrivate: false };
  const agents = createGuardedAgents({ resolve });

  function get(url: URL, environment: Environment, signal: AbortSignal): Promise<IncomingMessage> {
    const policy = policyFor(environment, narrow);
    const isSecure = url.protocol === 'https:';
    return new Promise((resolved, reject) => {
      // A literal never reaches the lookup.
      if (isLiteral(url.hostname) && !isAddressAllowed(bare(url.hostname), policy))
        return reject(new Error('not an address to go to'));
      const request = (isSecure ? httpsRequest : httpRequest)(url, {
        method: 'GET',
        agent: agents.get(isSecure, policy),
        signal,
        headers: {
          accept: 'text/html,application/xhtml+xml',
          // Nothing is unpacked: what is read is as long as it is.
          'accept-encoding': 'identity',
          'user-agent': 'svc-link-preview/1',
        },
      });
      request.on('error', reject);
      request.on('close', () => reject(new Error('no answer')));
      request.on('response', resolved);
      request.end();
    });
  }

  async function follow(link: string, environment: Environment, signal: AbortSignal): Promise<FetchedPage | null> {
    let url = link;
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      if (!isUrlAllowed(url, environment, narrow)) return null;
      const response = await get(new URL(url), environment, signal);
      const { statusCode = 0, headers } = response;
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        response.destroy();
        const next = URL.parse(headers.location, url);
        if (!next) return null;
        next.hash = '';
        url = next.href;
        continue;
      }
      const contentType = headers['content-type'] ?? '';
      const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
      if (statusCode === 200 && isPlain && isPage.test(contentType))
        return { url, contentType, body: await bodyOf(response) };
      response.destroy();
      return null;
    }
    return null;
  }

  return {
    async fetch(link, environment) {
      const ending = new AbortController();
      const late = clock.sleep(timeoutMs, ending.signal).then(() => null);
      try {
        return await Promise.race([follow(link, environment, ending.signal), late]);
      } catch {
        return null;
      } finally {
        ending.abort();
      }
    },
    isAllowed: (url, environment) => isUrlAllowed(url, environment, narrow),
    close: agents.close,
  };
}

/** Its beginning: what says what it is stands there. */
async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  response.destroy();
  return Buffer.concat(chunks).subarray(0, bytesMax);
}
