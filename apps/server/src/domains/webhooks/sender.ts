import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../core/clock.ts';
import { type AddressPolicy, bare, isAddressAllowed, isLiteral, isPortAllowed } from './address-guard.ts';
import { createGuardedAgents } from './guarded-agents.ts';
import { NoUsableAddress, type Resolve } from './resolver.ts';
import { portOf } from './url-check.ts';

/** What came of one attempt. A status code means that the receiver answered in full, in time. */
export interface SendResult {
  isDelivered: boolean;
  statusCode: number | null;
  /** For people: what went wrong. Says the same for every address that is refused. */
  error: string | null;
  durationMs: number;
  responseExcerpt: string | null;
  /** Milliseconds that a refusing receiver asks to wait. */
  retryAfter: number | null;
  /** Of a 2xx, where the order asked for it. */
  answer?: string;
}

export interface SendOrder {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  policy: AddressPolicy;
  /** What was sent in confidence, and is not to be shown when the endpoint answers with it. */
  secrets?: readonly string[];
  /** Instead of that of the sender. */
  timeoutMs?: number;
  /** The answer is read by who sends it; else it is thrown away. */
  keepsAnswer?: true;
}

export interface Sender {
  /** Posts once. Never rejects. */
  send(order: SendOrder): Promise<SendResult>;
  close(): void;
}

interface SenderDeps {
  clock: Clock;
  resolve: Resolve;
  timeoutMs: number;
  /** Certificate authorities beside the public ones. */
  ca?: string;
}

const responseBytesMax = 64 * 1024;
const excerptBytesMax = 1024;
/** Read beyond the excerpt, so that a secret which begins in it is known by its end. */
const secretBytesMax = 2 * 1024;
const secretLengthMin = 4;

const noAddress =
  'No usable address: the host name does not resolve, or resolves to an address webhooks may not reach.';

export function createSender({ clock, resolve, timeoutMs, ca }: SenderDeps): Sender {
  const agents = createGuardedAgents({ resolve, ...(ca === undefined ? {} : { ca }) });

  async function send(order: SendOrder): Promise<SendResult> {
    const { url: text, headers, body, policy, secrets = [], keepsAnswer = false } = order;
    const limitMs = order.timeoutMs ?? timeoutMs;
    const startedMs = clock.elapsed();
    const finished = new AbortController();
    const outcome = (part: Partial<SendResult>): SendResult => ({
      isDelivered: false,
      statusCode: null,
      error: null,
      responseExcerpt: null,
      retryAfter: null,
      durationMs: clock.elapsed() - startedMs,
      ...part,
    });
    const url = new URL(text);
    // A literal never reaches the lookup.
    const isRefused = isLiteral(url.hostname) && !isAddressAllowed(bare(url.hostname), policy);
    if (isRefused || !isPortAllowed(portOf(url))) return outcome({ error: noAddress });

    const isSecure = url.protocol === 'https:';
    const request = (isSecure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      agent: agents.get(isSecure, policy),
      headers: { ...headers, 'content-length': body.length },
    });
    const answered = exchange(request, body, keepsAnswer);
    const timedOut = clock.sleep(limitMs, finished.signal).then(() => null);
    try {
      const answer = await Promise.race([answered, timedOut]);
      if (answer === null) return outcome({ error: `No complete answer within ${limitMs} ms.` });
      const { statusCode } = answer;
      const excerpt = masked(answer.excerpt, secrets).slice(0, excerptBytesMax);
      if (statusCode >= 200 && statusCode < 300) {
        return outcome({ isDelivered: true, statusCode, ...(keepsAnswer && { answer: answer.whole }) });
      }
      const error = `The endpoint answered ${statusCode}.`;
      return outcome({ statusCode, error, responseExcerpt: excerpt || null, retryAfter: answer.retryAfter });
    } catch (error) {
      return outcome({ error: describe(error) });
    } finally {
      finished.abort();
      answered.catch(() => {});
      // After a complete answer this leaves the connection to the agent; otherwise it ends it.
      if (!request.destroyed) request.destroy();
    }
  }

  return {
    send,
    close: agents.close,
  };
}

const readMax = excerptBytesMax + secretBytesMax;

/** As they are, and as JSON writes them. */
function masked(excerpt: string, secrets: readonly string[]): string {
  const texts = secrets
    .filter((secret) => secret.length >= secretLengthMin)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return texts.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), excerpt);
}

interface WireAnswer {
  statusCode: number;
  excerpt: string;
  retryAfter: number | null;
  whole: string;
}

/** Sends and reads to the end of the answer, or to its 64th KiB. The answer is never parsed. */
function exchange(request: ClientRequest, body: Buffer, keepsAnswer: boolean): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    // A switch of protocols ends here, with neither an answer nor an error.
    request.on('close', () => reject(new Error('The connection ended without an answer.')));
    request.on('response', (response) => {
      let [size, excerpt] = [0, ''];
      const retryAfter = waitOf(response.headers['retry-after']);
      const chunks: Buffer[] = [];
      const finish = () =>
        resolve({ statusCode: response.statusCode ?? 0, excerpt, retryAfter, whole: Buffer.concat(chunks).toString() });
      response.on('data', (chunk: Buffer) => {
        if (size < readMax) excerpt += printable(chunk.subarray(0, readMax - size));
        if (keepsAnswer) chunks.push(chunk);
        size += chunk.length;
        if (size <= responseBytesMax) return;
        finish();
        response.destroy();
      });
      response.on('end', finish);
      response.on('error', reject);
      response.on('close', () => reject(new Error('The connection ended in the middle of the answer.')));
    });
    request.end(body);
  });
}

const waitMaxSeconds = 3_600;

/** Of a `retry-after` header in seconds; a date is as good as none. */
export const waitOf = (header: string | null | undefined): number | null =>
  /^\d{1,6}$/.test(header ?? '') ? Math.min(Number(header), waitMaxSeconds) * 1_000 : null;

const printable = (bytes: Buffer): string => bytes.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '.');

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  ETIMEDOUT: 'The connection timed out.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
};

/** Never an address, a certificate's content or anything else of the error's own text. */
function describe(error: unknown): string {
  if (error instanceof NoUsableAddress) return noAddress;
  const code = codeOf(error);
  if (/CERT|TLS|SSL|SIGNATURE|ALTNAME|UNABLE_TO|EPROTO/.test(code)) return `The TLS connection failed (${code}).`;
  if (code.startsWith('HPE_')) return 'The answer is not HTTP.';
  return refusals[code] ?? 'The connection failed.';
}

function codeOf(error: unknown): string {
  // Several addresses were tried: each failure is one of the parts.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return typeof first === 'object' && first !== null && 'code' in first ? String(first.code) : '';
}
