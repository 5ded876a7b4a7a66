import { ConnectionError, errorOf, type ParleyError } from './errors.ts';

/** Which request an answer, or its absence, belongs to. */
export interface Asked {
  baseUrl: string;
  /** Sent along, so that the service's logs and an error without an answer name the same request. */
  requestId: string;
  signal?: AbortSignal | undefined;
}

export const newRequestId = (): string => `req_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;

/** The answer, or an error of ours when none came. */
export async function fetchAnswer(
  fetch: typeof globalThis.fetch,
  url: string,
  { headers, ...init }: Omit<RequestInit, 'signal' | 'headers'> & { headers: Record<string, string> },
  asked: Asked,
): Promise<Response> {
  const { requestId, signal } = asked;
  const sent = { ...init, headers: { 'x-request-id': requestId, ...headers }, ...(signal ? { signal } : {}) };
  return fetch(url, sent).catch((cause) => {
    throw noAnswer(asked, 'cannot be reached. Check the address and that the service runs.', cause);
  });
}

/** What the service answered; its error, or one of ours for what does not come from it, is thrown. */
export async function readBody(response: Response, asked: Asked): Promise<unknown> {
  const text = await textOf(response, asked);
  if (!response.ok) throw problemOf(response, text, asked);
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw problemOf(response, text, asked, cause);
  }
}

/** The error of an answer that is not what was asked for. */
export const notOurs = async (response: Response, asked: Asked): Promise<ParleyError> =>
  problemOf(response, await textOf(response, asked), asked);

function textOf(response: Response, asked: Asked): Promise<string> {
  return response.text().catch((cause) => {
    throw noAnswer(asked, 'broke off its answer.', cause);
  });
}

function problemOf(
  { ok, status, headers }: Response,
  text: string,
  { baseUrl, requestId: sent }: Asked,
  cause?: unknown,
): ParleyError {
  // What a proxy answers can come with 200 too.
  const error = errorOf(status, ok ? '' : text, headers, baseUrl, sent);
  const { code, message, requestId } = error;
  return ok ? new ConnectionError({ code, message, requestId, retryable: true, baseUrl, cause }) : error;
}

/** The bytes as they come; a stream that breaks off ends with an error of ours. */
export async function* readChunks({ body }: Response, asked: Asked): AsyncGenerator<Uint8Array> {
  const chunks = (body ?? new Blob().stream())[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await chunks.next().catch((cause) => {
        throw noAnswer(asked, 'broke off its answer.', cause);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.().catch(() => {});
  }
}

/** Who aborts gets their own reason; a limit of time is one of ours. */
export function noAnswer({ baseUrl, requestId, signal }: Asked, problem: string, cause: unknown): unknown {
  const isTimeout = signal?.aborted === true && (signal.reason as Error | undefined)?.name === 'TimeoutError';
  if (signal?.aborted && !isTimeout) return signal.reason;
  const message = isTimeout
    ? `${baseUrl} did not answer in time. Give a longer timeoutMs, or look at its health.`
    : `${baseUrl} ${problem}`;
  const code = isTimeout ? 'timeout' : 'network';
  return new ConnectionError({ code, message, requestId, retryable: true, baseUrl, cause });
}
