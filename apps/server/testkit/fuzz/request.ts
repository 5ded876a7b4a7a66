import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '@parley/contract';
import { nextAddress } from '../clients/signal-client.ts';
import { lightFetch } from '../kit/light-fetch.ts';
import type { TestService } from '../kit/service.ts';

/** Whatever takes so long, on a machine however busy, does not come. */
export const HANG_MS = 60_000;
const SIDE_BY_SIDE = 8;

/** One request, ready to send. */
export interface Try {
  method: string;
  path: string;
  query: string;
  body: string | Uint8Array<ArrayBuffer> | undefined;
  headers: Readonly<Record<string, string>>;
  /** Never ends its body. */
  isStream?: boolean;
}

export interface FuzzOutcome {
  requests: number;
  byStatus: Map<number, number>;
  /** By route and credential: the statuses it answered with. */
  reached: Map<string, Set<number>>;
  /** What must not be: a 5xx, a hang, an answer without the envelope. */
  faults: string[];
}

export const noOutcome = (): FuzzOutcome => ({ requests: 0, byStatus: new Map(), reached: new Map(), faults: [] });

/** Sends them, several at once, and notes what came back under `name`. */
export async function sendAll(
  service: TestService,
  name: string,
  tries: readonly Try[],
  outcome: FuzzOutcome,
  check: (response: Response, text: string) => void = checkEnvelope,
): Promise<void> {
  const statuses = outcome.reached.get(name) ?? new Set();
  outcome.reached.set(name, statuses);
  for (let first = 0; first < tries.length; first += SIDE_BY_SIDE) {
    const answered = await Promise.all(
      tries.slice(first, first + SIDE_BY_SIDE).map((one) => send(service, name, one, { outcome, check })),
    );
    for (const status of answered) if (status !== null) statuses.add(status);
  }
}

interface Judge {
  outcome: FuzzOutcome;
  check(response: Response, text: string): void;
}

async function send(service: TestService, name: string, one: Try, { outcome, check }: Judge): Promise<number | null> {
  const { method, path, query, body, headers, isStream = false } = one;
  outcome.requests += 1;
  try {
    const ask = (): Promise<Response> =>
      (isStream ? fetch : lightFetch)(`${service.url}${query === '' ? path : `${path}?${query}`}`, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(HANG_MS),
        // Another address each time: what is budgeted by address is to be read, not only counted.
        headers: { 'x-forwarded-for': nextAddress(), ...headers },
        ...(body === undefined || method === 'GET' ? {} : { body }),
      });
    let response = await ask();
    // On a busy machine Redis may be late; what the input does, it does again.
    for (let repeats = 0; response.status === 503 && repeats < 3; repeats += 1) {
      await response.body?.cancel();
      await sleep(1_100);
      response = await ask();
    }
    const { status } = response;
    outcome.byStatus.set(status, (outcome.byStatus.get(status) ?? 0) + 1);
    if (isStream && response.ok) await response.body?.cancel();
    else check(response, await response.text());
    return status;
  } catch (error) {
    const asked = `${name}: ${method} ${path}?${query} ${String(body ?? '').slice(0, 300)}`;
    outcome.faults.push(`${asked}: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

function checkEnvelope(response: Response, text: string): void {
  assert.ok(response.status < 500, `${response.status} ${text.slice(0, 200)}`);
  const requestId = response.headers.get('x-request-id');
  assert.ok(requestId, 'no x-request-id');
  if (response.status < 400) return;
  const envelope = JSON.parse(text) as Record<string, string>;
  assert.equal(envelope['requestId'], requestId);
  const known = errors[envelope['code'] as keyof typeof errors];
  assert.ok(known, `unknown code ${envelope['code']}`);
  assert.equal(response.status, known.status);
}
