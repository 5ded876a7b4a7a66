import { setTimeout as pause } from 'node:timers/promises';
import { type ErrorCode, errors } from '@parley/contract';
import { ApiError } from '@parley/server';
import { JoinRefused, joinRoom } from '../../../apps/server/testkit/clients/signal-client.ts';
import type { Answer, Kind } from './observation.ts';

type Outcome = Pick<Answer, 'status' | 'code' | 'hasRetryAfter'>;

/** A request without an answer after this counts as not answered. */
const patienceMs = 10_000;
const everyMs = 250;

interface ProbeOptions {
  urls: () => readonly string[];
  apiKey: string;
  conversation: string;
  /** Of a participant at each process, in a room of its own; none without media nodes. */
  rtcTokens: readonly string[];
}

/** Asks every process for everything, again and again, and notes each answer. */
export function startProbes({ urls, apiKey, conversation, rtcTokens }: ProbeOptions) {
  const answers: Answer[] = [];
  let isOver = false;
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const at =
    (path: string, init: RequestInit = {}) =>
    (url: string) =>
      outcomeOf(fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(patienceMs) }));

  const questions: Partial<Record<Kind, (url: string, process: number) => Promise<Outcome>>> = {
    healthz: at('/healthz'),
    readyz: at('/readyz'),
    read: at(`/v1/chat/conversations/${conversation}/messages?limit=1`),
    mint: at('/v1/chat/tokens', { method: 'POST', body: JSON.stringify({ userId: 'alice' }) }),
    presence: at(`/v1/chat/conversations/${conversation}/presence`),
    typing: at(`/v1/chat/conversations/${conversation}/typing`),
    ...(rtcTokens.length > 0 && { join: (url: string, process: number) => joinOnce(url, rtcTokens[process] ?? '') }),
  };

  async function probeUntilStopped(kind: Kind, process: number): Promise<void> {
    while (!isOver) {
      const url = urls()[process] ?? '';
      const startedMs = performance.now();
      const outcome = (await questions[kind]?.(url, process)) ?? notConnected;
      answers.push({ kind, process, at: startedMs, ms: performance.now() - startedMs, ...outcome });
      await pause(everyMs);
    }
  }

  const asking = urls().flatMap((_, process) =>
    (Object.keys(questions) as Kind[]).map((kind) => probeUntilStopped(kind, process)),
  );
  return {
    answers,
    /** A writer's attempt is an answer too. */
    note(place: number, startedMs: number, error: unknown): void {
      const process = place % urls().length;
      answers.push({ kind: 'send', process, at: startedMs, ms: performance.now() - startedMs, ...thrown(error) });
    },
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(asking);
    },
  };
}

const notConnected: Outcome = { status: 0, code: null, hasRetryAfter: false };

async function outcomeOf(asked: Promise<Response>): Promise<Outcome> {
  try {
    const response = await asked;
    const body = (await response.json()) as { code?: string };
    return { status: response.status, code: body.code ?? null, hasRetryAfter: response.headers.has('retry-after') };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { ...notConnected, status: isLate ? -1 : 0 };
  }
}

function thrown(error: unknown): Outcome {
  if (error === undefined) return { status: 201, code: null, hasRetryAfter: false };
  if (!(error instanceof ApiError)) return notConnected;
  return { status: error.status, code: error.code, hasRetryAfter: error.headers.has('retry-after') };
}

/** Joins and leaves. What a socket refuses has a code and a time to come back, as an answer over HTTP has. */
async function joinOnce(url: string, token: string): Promise<Outcome> {
  try {
    const client = await joinRoom(url, token, { handshakeTimeout: patienceMs });
    client.send({ type: 'leave' });
    client.ws.close();
    return { status: 200, code: null, hasRetryAfter: false };
  } catch (error) {
    if (error instanceof JoinRefused) {
      error.socket.ws.terminate();
      const { svcCode: code, retryAfterSeconds } = error.frame as { svcCode?: ErrorCode; retryAfterSeconds?: number };
      if (code === undefined) return notConnected;
      return { status: errors[code].status, code, hasRetryAfter: retryAfterSeconds !== undefined };
    }
    const status = Number(/Unexpected server response: (\d+)/.exec(String(error))?.[1] ?? 0);
    return { status, code: status === 503 ? 'SVC_SERVICE_UNAVAILABLE' : null, hasRetryAfter: status === 503 };
  }
}
