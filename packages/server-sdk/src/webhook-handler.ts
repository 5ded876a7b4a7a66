import { joined } from './hmac.ts';
import { verifyWebhookAsync, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts';

/**
 * Remembers event ids, so that a repeated delivery is not handled twice. Use your database in production, with all three:
 * a process can die between its claim and the end of its listener.
 */
export interface WebhookDedupe {
  /**
   * True: handle it. False: it was handled already. `busy`: another process is at it and may still fail, so the service
   * is asked to deliver it again. Let a claim that was not completed for a minute be claimed anew: its process died.
   */
  claim(eventId: string): WebhookClaim | Promise<WebhookClaim>;
  /** The listener succeeded: from now on it is a repeat. */
  complete?(eventId: string): void | Promise<void>;
  /** The listener failed: the next delivery of this id is to be handled again. */
  release?(eventId: string): void | Promise<void>;
}

export type WebhookClaim = boolean | 'busy';

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
   * When to answer. `after-handlers` (the default): 204 when the listener has succeeded, 500 when it failed, so that
   * the delivery is made again; the service waits five seconds for it. `at-once`, for listeners that take longer: work
   * that fails then is reported to `onError` and not repeated by the service.
   */
  acknowledge?: 'at-once' | 'after-handlers';
  /** What a listener or `dedupe` threw. Default: it is printed. */
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

/** What to answer with, and the work that goes on behind it. */
interface Answer {
  status: number;
  text: string;
  work: Promise<void>;
}

const answer = (status: number, text = '', work: Promise<void> = Promise.resolve()): Answer => ({ status, text, work });

const print = (error: unknown, { type, id }: WebhookEvent): void =>
  console.error(`The webhook listener of ${type} failed (${id}).`, error);

export function webhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const { on, dedupe = memoryDedupe(), acknowledge = 'after-handlers', onError = print } = options;
  const { bytesMax = bytesMaxDefault, now = Date.now, secret } = options;

  async function run(event: WebhookEvent): Promise<void> {
    // Each listener is filed under the type it takes.
    const listener = (on[event.type] ?? on['*']) as ((event: WebhookEvent) => Handled) | undefined;
    try {
      await listener?.(event);
      await dedupe.complete?.(event.id);
    } catch (error) {
      await release(event);
      throw error;
    }
  }

  /** A store that fails as well must not hide why the listener did. */
  async function release(event: WebhookEvent): Promise<void> {
    try {
      await dedupe.release?.(event.id);
    } catch (error) {
      onError(error, event);
    }
  }

  /** Under way here: a repeat has their outcome, or an event whose listener fails late would count as delivered. */
  const running = new Map<string, Promise<Answer>>();

  async function receive(chunks: Chunks, headers: WebhookHeaders): Promise<Answer> {
    const body = await collect(chunks, bytesMax).catch(() => 'incomplete' as const);
    if (body === 'incomplete') return answer(400, body);
    if (body === null) return answer(413, 'too_large');
    let event: WebhookEvent;
    try {
      event = await verifyWebhookAsync(body, headers, secret, { now });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return answer(400, error.code);
      throw error;
    }
    const outcome = running.get(event.id) ?? handle(event).finally(() => running.delete(event.id));
    running.set(event.id, outcome);
    return outcome;
  }

  async function handle(event: WebhookEvent): Promise<Answer> {
    const report = (error: unknown): void => onError(error, event);
    try {
      const claim = await dedupe.claim(event.id);
      if (claim === 'busy') return answer(503, 'in_progress');
      if (!claim) return answer(204);
      if (acknowledge === 'at-once') {
        const work = answered().then(() => run(event));
        return answer(204, '', work.catch(report));
      }
      await run(event);
      return answer(204);
    } catch (error) {
      report(error);
      return answer(500, 'handler_failed');
    }
  }

  return {
    async fetch(request, context) {
      if (request.method !== 'POST')
        return new Response('method_not_allowed', { status: 405, headers: { allow: 'POST' } });
      const { status, text, work } = await receive(request.body ?? [], request.headers);
      context?.waitUntil?.(work);
      return new Response(text === '' ? null : text, { status });
    },

    async node(request, response) {
      const end = (status: number, text: string): void => {
        response.statusCode = status;
        response.end(text);
      };
      if (request.method !== 'POST') return end(405, 'method_not_allowed');
      const { status, text } = await receive(request, request.headers);
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
        const { status, text } = await receive([body], request.headers);
        return reply.code(status).send(text === '' ? undefined : text);
      });
      done();
    },
  };
}

/** A turn of the event loop: even a listener that never waits runs behind the answer. */
const answered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Null when it is too large; rejects when the sender breaks off. */
async function collect(chunks: Chunks, bytesMax: number): Promise<Uint8Array | null> {
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
