import { joined } from './hmac.ts';
import { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts';

/** Remembers event ids, so that a repeated delivery is not handled twice. Use your database in production. */
export interface WebhookDedupe {
  /** True for the first claim of this id, false for every later one. */
  claim(eventId: string): boolean | Promise<boolean>;
  /** The handler failed: the next delivery of this id is to be handled again. */
  release?(eventId: string): void | Promise<void>;
}

type Handled = void | Promise<void>;

export type WebhookListeners = {
  [T in WebhookEvent['type']]?: (event: Extract<WebhookEvent, { type: T }>) => Handled;
} & {
  /** Every type without its own listener. */
  '*'?: (event: WebhookEvent) => Handled;
};

export interface WebhookHandlerOptions {
  /** The endpoint's signing secret; two while one is being rotated. */
  secret: string | readonly string[];
  on: WebhookListeners;
  dedupe?: WebhookDedupe;
  /**
   * When to answer. `at-once` (the default) keeps well inside the five seconds; work that fails then is reported to
   * `onError` and not repeated by the service. `after-handlers` answers 500 when a listener fails, so that the delivery
   * is made again.
   */
  acknowledge?: 'at-once' | 'after-handlers';
  /** What a listener threw, when the answer was already given. */
  onError?: (error: unknown, event: WebhookEvent) => void;
  bytesMax?: number;
  now?: () => number;
}

/** What of a Node request and response is used: `http`, Express and others fit. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}
export interface NodeResponse {
  statusCode: number;
  end(text?: string): unknown;
}

/** What of a Fastify instance is used. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): void;
  post(
    path: string,
    handler: (
      request: { body: unknown; headers: WebhookHeaders },
      reply: { code(status: number): { send(text?: string): unknown } },
    ) => Promise<unknown>,
  ): unknown;
}

export interface WebhookHandler {
  /** For everything that speaks Request and Response. `waitUntil` keeps an edge runtime alive for the listeners. */
  fetch(request: Request, context?: { waitUntil?: (work: Promise<unknown>) => void }): Promise<Response>;
  /** For `http.createServer` and Express (before any body parser). */
  node(request: NodeRequest, response: NodeResponse): Promise<void>;
  /** A plugin: `app.register(handler.fastify, { prefix: '/hooks' })`. */
  fastify(scope: FastifyScope, options: unknown, done: () => void): void;
}

const bytesMaxDefault = 1024 * 1024;

export function webhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const { on, dedupe = memoryDedupe(), acknowledge = 'at-once', onError = () => {} } = options;
  const { bytesMax = bytesMaxDefault, now = Date.now, secret } = options;

  async function run(event: WebhookEvent): Promise<void> {
    // Each listener is filed under the type it takes.
    const listener = (on[event.type] ?? on['*']) as ((event: WebhookEvent) => Handled) | undefined;
    try {
      await listener?.(event);
    } catch (error) {
      await dedupe.release?.(event.id);
      throw error;
    }
  }

  /** The status and text to answer with, and the work that goes on behind it. */
  async function receive(
    body: Uint8Array,
    headers: WebhookHeaders,
  ): Promise<{ status: number; text: string; work: Promise<void> }> {
    const answer = (status: number, text = '', work: Promise<void> = Promise.resolve()) => ({ status, text, work });
    let event: WebhookEvent;
    try {
      event = verifyWebhook(body, headers, secret, { now });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return answer(400, error.code);
      throw error;
    }
    if (!(await dedupe.claim(event.id))) return answer(204);
    if (acknowledge === 'at-once') {
      const work = answered().then(() => run(event));
      return answer(
        204,
        '',
        work.catch((error) => onError(error, event)),
      );
    }
    return run(event).then(
      () => answer(204),
      (error) => {
        onError(error, event);
        return answer(500, 'handler_failed');
      },
    );
  }

  return {
    async fetch(request, context) {
      if (request.method !== 'POST')
        return new Response('method_not_allowed', { status: 405, headers: { allow: 'POST' } });
      const body = await collect(request.body ?? [], bytesMax);
      if (body === null) return new Response('too_large', { status: 413 });
      const { status, text, work } = await receive(body, request.headers);
      context?.waitUntil?.(work);
      return new Response(text === '' ? null : text, { status });
    },

    async node(request, response) {
      const end = (status: number, text: string): void => {
        response.statusCode = status;
        response.end(text);
      };
      if (request.method !== 'POST') return end(405, 'method_not_allowed');
      const body = await collect(request, bytesMax);
      if (body === null) return end(413, 'too_large');
      const { status, text } = await receive(body, request.headers);
      end(status, text);
    },

    fastify(scope, _options, done) {
      // Only inside this plugin: the rest of the application keeps its parsers.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bytesMax }, (_request, body, parsed) =>
        parsed(null, body),
      );
      scope.post('/', async (request, reply) => {
        const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
        const { status, text } = await receive(body, request.headers);
        return reply.code(status).send(text === '' ? undefined : text);
      });
      done();
    },
  };
}

/** A turn of the event loop: even a listener that never waits runs behind the answer. */
const answered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function collect(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) return null;
    parts.push(chunk);
  }
  return joined(...parts);
}

/** The last ten thousand ids of this process: enough for one process and for trying things out. */
function memoryDedupe(sizeMax = 10_000): WebhookDedupe {
  const seen = new Set<string>();
  return {
    claim(eventId) {
      if (seen.has(eventId)) return false;
      for (const oldest of seen) {
        if (seen.size < sizeMax) break;
        seen.delete(oldest);
      }
      seen.add(eventId);
      return true;
    },
    release(eventId) {
      seen.delete(eventId);
    },
  };
}
