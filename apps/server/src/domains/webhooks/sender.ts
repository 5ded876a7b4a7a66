import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../core/clock.ts';
import { type AddressPolicy, bare, isAddressAllowed, isLiteral, isPortAllowed } from './address-guard.ts';
import { guardedLookup, NoUsableAddress, type Resolve } from './resolver.ts';
import { portOf } from './url-check.ts';

/** What came of one attempt. A status code means that the receiver answered in full, in time. */
export interface SendResult {
  isDelivered: boolean;
  statusCode: number | null;
  /** For people: what went wrong. Says the same for every address that is refused. */
  error: string | null;
  durationMs: number;
  responseExcerpt: string | null;
}

export interface SendOrder {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  policy: AddressPolicy;
  /** What was sent in confidence, and is not to be shown when the endpoint answers with it. */
  secrets?: readonly string[];
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
/** Receivers close idle connections after two seconds at the earliest; ours must be gone before. */
const idleSocketMs = 1_000;

const noAddress =
  'No usable address: the host name does not resolve, or resolves to an address webhooks may not reach.';

export function createSender({ clock, resolve, timeoutMs, ca }: SenderDeps): Sender {
  const agents = new Map<string, HttpAgent>();

  /** One per policy: a connection made under a wider one must not serve a narrower one. */
  function agentFor(isSecure: boolean, policy: AddressPolicy): HttpAgent {
    const key = JSON.stringify([isSecure, policy.allowsLoopback, policy.allowsPrivate]);
    const known = agents.get(key);
    if (known) return known;
    // An agent of our own takes no proxy from the environment.
    const options = { keepAlive: true, timeout: idleSocketMs, scheduling: 'lifo', maxFreeSockets: 64 } as const;
    const connection = { lookup: guardedLookup(resolve, policy), ...(ca === undefined ? {} : { ca: [ca] }) };
    const made = isSecure
      ? new HttpsAgent({ ...options, ...connection })
      : new HttpAgent({ ...options, ...connection });
    const connect = made.createConnection.bind(made);
    made.createConnection = (connectOptions, callback) => {
      const socket = connect(connectOptions, callback);
      if (socket) watchAddress(socket, policy);
      return socket;
    };
    agents.set(key, made);
    return made;
  }

  async function send({ url: text, headers, body, policy, secrets = [] }: SendOrder): Promise<SendResult> {
    const startedMs = clock.elapsed();
    const finished = new AbortController();
    const outcome = (part: Partial<SendResult>): SendResult => ({
      isDelivered: false,
      statusCode: null,
      error: null,
      responseExcerpt: null,
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
      agent: agentFor(isSecure, policy),
      headers: { ...headers, 'content-length': body.length },
    });
    const answered = exchange(request, body);
    const timedOut = clock.sleep(timeoutMs, finished.signal).then(() => null);
    try {
      const answer = await Promise.race([answered, timedOut]);
      if (answer === null) return outcome({ error: `No complete answer within ${timeoutMs} ms.` });
      const { statusCode } = answer;
      const excerpt = masked(answer.excerpt, secrets).slice(0, excerptBytesMax);
      if (statusCode >= 200 && statusCode < 300) return outcome({ isDelivered: true, statusCode });
      return outcome({ statusCode, error: `The endpoint answered ${statusCode}.`, responseExcerpt: excerpt || null });
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
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
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
}

/** Sends and reads to the end of the answer, or to its 64th KiB. The answer is never parsed. */
function exchange(request: ClientRequest, body: Buffer): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    // A switch of protocols ends here, with neither an answer nor an error.
    request.on('close', () => reject(new Error('The connection ended without an answer.')));
    request.on('response', (response) => {
      let [size, excerpt] = [0, ''];
      const finish = () => resolve({ statusCode: response.statusCode ?? 0, excerpt });
      response.on('data', (chunk: Buffer) => {
        if (size < readMax) excerpt += printable(chunk.subarray(0, readMax - size));
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

/** Belt and braces: whatever the lookup said, the other end must be an allowed address before a byte is sent. */
function watchAddress(socket: Duplex & Partial<Pick<Socket, 'remoteAddress'>>, policy: AddressPolicy): void {
  socket.once('connect', () => {
    if (!isAddressAllowed(socket.remoteAddress ?? '', policy))
      socket.destroy(new NoUsableAddress('Connected to an address that is not allowed.'));
  });
}

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
