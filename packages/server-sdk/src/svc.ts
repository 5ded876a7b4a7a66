import type { Walk } from '@parley/contract';
import { addressOf } from './call.ts';
import { ParleyError } from './errors.ts';
import { readEvents } from './event-stream.ts';
import { LazyList, type Step } from './list.ts';
import { methodRows, type ParleyMethods } from './methods.gen.ts';
import { routeAddresses } from './routes.gen.ts';
import { createTransport, type RequestOptions, type Transport } from './transport.ts';
import { type NewFile, uploadFile } from './upload.ts';
import type { WebhookEvent } from './webhooks.ts';

export interface ParleyOptions {
  /** `svk_dev_…` or `svk_prod_…`. Keep it on your servers. */
  apiKey: string;
  /** Address of the service; `http://localhost:4000` without one. */
  baseUrl?: string | undefined;
  /** Another fetch: a proxy's, a test's. */
  fetch?: typeof globalThis.fetch;
  /** Further attempts of a call that may be repeated. Default 2. */
  maxRetries?: number;
  /** How long one attempt may take. Default 30 s. */
  timeoutMs?: number;
  /** For tests of retries. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface ParleyHelpers {
  chat: {
    attachments: {
      upload(conversation: string, file: NewFile, options?: RequestOptions): ReturnType<typeof uploadFile>;
    };
  };
}

const keyPattern = /^svk_(dev|prod)_([A-Za-z0-9]+)\.[A-Za-z0-9]+$/;

/** A client for your backend. One object serves all requests; its methods are those of the API, by noun and verb. */
class ParleyClient {
  /** Which of the project's two worlds the key belongs to. */
  readonly environment: 'development' | 'production';
  readonly baseUrl: string;
  /** The key without its secret, as the dashboard lists it. */
  readonly keyPrefix: string;

  constructor(options: ParleyOptions) {
    const [, tag, publicId] = keyPattern.exec(options.apiKey ?? '') ?? [];
    if (publicId === undefined)
      throw new ParleyError({
        code: 'invalid_api_key',
        // What was given may be a real secret in the wrong place: it is not repeated.
        message: 'apiKey must look like svk_dev_….… or svk_prod_….…: make one in the dashboard, under API keys.',
      });
    this.environment = tag === 'prod' ? 'production' : 'development';
    this.keyPrefix = `svk_${tag}_${publicId}`;
    this.baseUrl = (options.baseUrl ?? 'http://localhost:4000').replace(/\/+$/, '');
    const transport = createTransport({
      apiKey: options.apiKey,
      baseUrl: this.baseUrl,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      maxRetries: options.maxRetries ?? 2,
      timeoutMs: options.timeoutMs ?? 30_000,
      ...(options.sleep ? { sleep: options.sleep } : {}),
    });
    // The methods sit on the object itself, beside the fields above; the key is only in the transport's closure.
    const methods = buildMethods(transport);
    const fetchFile = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    methods.chat.attachments.upload = (conversation, file, given) =>
      uploadFile(methods.chat.attachments, fetchFile, conversation, file, given);
    Object.assign(this, methods);
  }

  toJSON(): object {
    return { baseUrl: this.baseUrl, environment: this.environment, apiKey: `${this.keyPrefix}.…` };
  }

  /** What `console.log` shows, without an import of `node:util`. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Parley ${JSON.stringify(this)}`;
  }

  toString(): string {
    return `Parley ${this.baseUrl} ${this.keyPrefix}`;
  }
}

export type Parley = ParleyClient & ParleyMethods & ParleyHelpers;
/** `new Parley({ apiKey, baseUrl })`: the interface is generated from the route table. */
export const Parley = ParleyClient as unknown as new (options: ParleyOptions) => Parley;

/** The names of earlier versions. */
export type Svc = Parley;
export const Svc = Parley;
export type SvcOptions = ParleyOptions;

interface MethodRow {
  route: keyof typeof routeAddresses;
  params: number;
  takes?: 'body' | 'query';
  gives: 'one' | 'many' | 'walk' | 'stream';
  takesKey?: true;
  paged?: true;
  walk?: Walk;
}
type Fields = Record<string, unknown>;

function buildMethods(transport: Transport): ParleyMethods & ParleyHelpers {
  const root: Fields = {};
  for (const [name, row] of Object.entries(methodRows as Record<string, MethodRow>)) {
    const path = name.split('.');
    const verb = path.pop() ?? '';
    let scope = root;
    for (const part of path) {
      scope[part] ??= {};
      scope = scope[part] as Fields;
    }
    scope[verb] = (...args: unknown[]) => invoke(transport, row, args);
  }
  // The table this walks is the one the interface is written from.
  return root as unknown as ParleyMethods & ParleyHelpers;
}

/** Path parameters, then what is sent, then options: as the generated signature says. */
function invoke(transport: Transport, row: MethodRow, args: readonly unknown[]): unknown {
  const values = args.slice(0, row.params) as string[];
  const input = row.takes ? (args[row.params] as Fields | undefined) : undefined;
  const options = args[row.params + (row.takes ? 1 : 0)] as RequestOptions | undefined;
  const ask = (sent: Fields | undefined) => send(transport, row, values, sent, options);
  switch (row.gives) {
    case 'one':
      return ask(input).then(({ body }) => body);
    case 'many':
      return new LazyList(() => manyStep(row, ask, input));
    case 'walk':
      return new LazyList(() => walkStep(row.walk ?? { items: '', by: '' }, ask, input));
    case 'stream':
      return stream(transport, row, input, options);
  }
}

type Ask = (input: Fields | undefined) => Promise<{ body: unknown; headers: Headers }>;

async function send(
  transport: Transport,
  row: MethodRow,
  values: readonly string[],
  input: Fields | undefined,
  options: RequestOptions | undefined,
): Promise<{ body: unknown; headers: Headers }> {
  const query = row.takes === 'query' ? input : undefined;
  const { method, url } = addressOf(routeAddresses[row.route], values, query);
  // A row with a body wants JSON even where nothing is said.
  const content = row.takes === 'body' ? { body: input ?? {} } : {};
  const request = { method, url, ...content, takesKey: row.takesKey === true };
  return transport.send(request, options);
}

async function manyStep(row: MethodRow, ask: Ask, input: Fields | undefined): Promise<Step<unknown, unknown>> {
  const { body, headers } = await ask(input);
  const items = body as unknown[];
  const cursor = row.paged ? headers.get('x-next-cursor') : null;
  const next = cursor === null ? null : () => manyStep(row, ask, { ...input, cursor });
  return { page: Object.assign(items, { nextCursor: cursor }), items, next };
}

async function walkStep(walk: Walk, ask: Ask, input: Fields | undefined): Promise<Step<unknown, unknown>> {
  const page = (await ask(input)).body as Fields;
  const isDone = walk.until === undefined ? page['nextCursor'] === null : page[walk.until] === true;
  const field = walk.orBy !== undefined && input?.[walk.orBy] !== undefined ? walk.orBy : walk.by;
  const next = isDone ? null : () => walkStep(walk, ask, { ...input, [field]: page['nextCursor'] });
  return { page, items: page[walk.items] as unknown[], next };
}

/** Until the service or the caller ends it; iterate again to go on. */
async function* stream(
  transport: Transport,
  row: MethodRow,
  query: Fields | undefined,
  options: RequestOptions | undefined,
): AsyncGenerator<WebhookEvent> {
  const { method, url } = addressOf(routeAddresses[row.route], [], query);
  const chunks = await transport.open({ method, url }, options);
  // The service checks what it sends against the same table.
  for await (const { data } of readEvents(chunks)) yield JSON.parse(data) as WebhookEvent;
}
