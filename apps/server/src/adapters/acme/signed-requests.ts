import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';

/** What an authority refused, in its own words. */
export class AcmeError extends Error {
  override name = 'AcmeError';
  readonly type: string;
  /** How long it wants us to wait before we ask again; 0 when it does not say. */
  readonly retryAfterMs: number;

  constructor(type: string, detail: string, retryAfterMs = 0) {
    super(detail);
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface AcmeAnswer {
  location: string | null;
  retryAfterMs: number;
  text: string;
  /** Empty unless the answer is a JSON object. */
  body: Readonly<Record<string, unknown>>;
}

const requestMsMax = 30_000;
const badNoncesMax = 5;
const secondsMax = 86_400;

const base64url = (value: string | Buffer): string => Buffer.from(value).toString('base64url');

/** The public half as a JWK, its fields in the order that its thumbprint has them (RFC 7638). */
function jwkOf(key: KeyObject): Record<string, unknown> {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty, x, y };
}

/** What an answer to a challenge is made with (RFC 8555, 8.1). */
export const thumbprintOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(JSON.stringify(jwkOf(key)))
    .digest('base64url');

/** Requests as RFC 8555 has them: each signed by the account, each with a number that is good once. */
export function createSignedRequests(key: KeyObject, newNonceUrl: string, signal: AbortSignal) {
  const nonces: string[] = [];
  let accountUrl: string | null = null;

  const keep = ({ headers }: Response): void => {
    const nonce = headers.get('replay-nonce');
    if (nonce !== null) nonces.push(nonce);
  };

  async function nonce(): Promise<string> {
    if (nonces.length === 0) keep(await send(newNonceUrl, { method: 'HEAD' }, signal));
    return nonces.pop() ?? '';
  }

  async function bodyFor(url: string, payload: object | null): Promise<string> {
    const identity = accountUrl === null ? { jwk: jwkOf(key) } : { kid: accountUrl };
    const header = base64url(JSON.stringify({ alg: 'ES256', nonce: await nonce(), url, ...identity }));
    const content = payload === null ? '' : base64url(JSON.stringify(payload));
    const signature = sign('sha256', Buffer.from(`${header}.${content}`), { key, dsaEncoding: 'ieee-p1363' });
    return JSON.stringify({ protected: header, payload: content, signature: base64url(signature) });
  }

  /** With null it only reads. */
  async function post(url: string, payload: object | null): Promise<AcmeAnswer> {
    for (let attempt = 1; ; attempt++) {
      const headers = { 'content-type': 'application/jose+json' };
      const response = await send(url, { method: 'POST', headers, body: await bodyFor(url, payload) }, signal);
      keep(response);
      const answer = await read(response);
      if (response.ok) return answer;
      const error = errorOf(response.status, answer);
      // The numbers we kept may be too old by now.
      if (error.type !== 'badNonce' || attempt === badNoncesMax) throw error;
    }
  }

  return {
    post,
    /** From here on requests are the account's. */
    signAs(url: string): void {
      accountUrl = url;
    },
  };
}

export async function readDirectory(url: string, signal: AbortSignal): Promise<AcmeAnswer> {
  const response = await send(url, {}, signal);
  const answer = await read(response);
  if (!response.ok) throw errorOf(response.status, answer);
  return answer;
}

/** `stop` ends a request that is under way: a server that stops waits for no authority. */
async function send(url: string, init: RequestInit, stop: AbortSignal): Promise<Response> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(requestMsMax)]);
  try {
    return await fetch(url, { ...init, redirect: 'error', signal });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new AcmeError(
      'unreachable',
      `${new URL(url).origin} does not answer (${(cause as Error | undefined)?.message ?? message})`,
    );
  }
}

async function read(response: Response): Promise<AcmeAnswer> {
  const text = await response.text();
  return {
    location: response.headers.get('location'),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    text,
    body: response.headers.get('content-type')?.includes('json') ? objectOf(text) : {},
  };
}

/** Seconds; a date, which it may also be, is rare and our own pace will do. */
const retryAfterMs = (header: string | null): number =>
  /^\d+$/.test(header ?? '') ? Math.min(Number(header), secondsMax) * 1000 : 0;

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

const errorOf = (status: number, { body, retryAfterMs }: AcmeAnswer): AcmeError => {
  const { type, detail } = problemOf(body);
  return new AcmeError(type, detail === '' ? `the authority answered ${status}` : detail, retryAfterMs);
};

/** A problem document (RFC 7807), as an answer or inside one. */
export function problemOf(document: unknown): { type: string; detail: string } {
  const { type, detail } = { ...(document as { type?: unknown; detail?: unknown } | null) };
  return {
    type: typeof type === 'string' ? type.replace('urn:ietf:params:acme:error:', '') : 'unknown',
    detail: typeof detail === 'string' ? detail.slice(0, 500) : '',
  };
}
