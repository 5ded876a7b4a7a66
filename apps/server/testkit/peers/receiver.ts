import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came, byte for byte. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** By the receiver's own clock. */
  atMs: number;
}

/**
 * What to answer: a status, a whole answer, or misbehaviour. `hang` never answers, `drip` sends a body that never ends,
 * `reset` cuts the connection.
 */
type ReceiverAnswer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string | Buffer; afterMs?: number }
  | 'hang'
  | 'drip'
  | 'reset';

export interface TestReceiver {
  url: string;
  port: number;
  /** In the order of arrival. */
  requests: ReceivedRequest[];
  /** Of every later request, or of each by what it is. */
  answer: ReceiverAnswer | ((request: ReceivedRequest, index: number) => ReceiverAnswer);
  close(): Promise<void>;
}

export async function startReceiver(
  answer: TestReceiver['answer'] = 204,
  { now = () => Date.now(), host = '127.0.0.1' }: { now?: () => number; host?: string } = {},
): Promise<TestReceiver> {
  const server = createServer(async (request, response) => {
    const body = await collect(request);
    const received = { path: request.url ?? '', headers: request.headers, body, atMs: now() };
    const index = receiver.requests.push(received) - 1;
    const chosen = typeof receiver.answer === 'function' ? receiver.answer(received, index) : receiver.answer;
    reply(response, chosen);
  });
  server.keepAliveTimeout = 5_000;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: TestReceiver = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
    port,
    requests: [],
    answer,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

export async function collect(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // The sender gave up in the middle.
  }
  return Buffer.concat(chunks);
}

function reply(response: ServerResponse, answer: ReceiverAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') return void response.socket?.resetAndDestroy();
  if (answer === 'drip') return void drip(response);
  const { status, headers = {}, body = '', afterMs = 0 } = typeof answer === 'number' ? { status: answer } : answer;
  const send = () => response.writeHead(status, headers).end(body);
  if (afterMs > 0) setTimeout(send, afterMs);
  else send();
}

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => response.write('.'), 50);
  response.on('close', () => clearInterval(timer));
}

/** The envelope in a request's body. */
export const eventIn = (request: ReceivedRequest): { id: string; type: string; data: Record<string, unknown> } =>
  JSON.parse(request.body.toString());

/**
 * Checks `svc-signature` as the specification asks of receivers, with none of our own code: HMAC-SHA256 of
 * `<t>.<raw body>` keyed with the secret's text, compared in constant time, and `t` at most 300 seconds off.
 */
export function hasValidSignature(request: ReceivedRequest, secret: string, nowSeconds: number): boolean {
  const header = String(request.headers['svc-signature'] ?? '');
  const parts = header.split(',').map((part) => part.split('=', 2) as [string, string]);
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(time) || Math.abs(nowSeconds - Number(time)) > 300) return false;
  const expected = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${time}.`), request.body]))
    .digest();
  return parts.some(([name, hex]) => {
    const given = Buffer.from(hex ?? '', 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** The same for Standard Webhooks: base64 HMAC of `<id>.<t>.<body>` keyed with the bytes behind `whsec_`. */
export function hasValidStandardSignature(request: ReceivedRequest, secret: string, nowSeconds: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = request.headers;
  if (Math.abs(nowSeconds - Number(time)) > 300) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const content = Buffer.concat([Buffer.from(`${id}.${time}.`), request.body]);
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  return String(signatures).split(' ').includes(expected);
}
