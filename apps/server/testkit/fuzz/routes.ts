import assert from 'node:assert/strict';
import { allRoutes, errors, type RouteRow, splitAt } from '@parley/contract';
import fc from 'fast-check';
import type { TestProject } from '../people.ts';
import type { TestService } from '../service.ts';
import type { World } from '../world.ts';
import { nasty, nearObject } from './values.ts';

const HANG_MS = 15_000;
const SIDE_BY_SIDE = 8;

/** Wide enough that requests are read and not only counted. */
export const FUZZ_LIMITS = {
  RATE_LIMIT_WINDOW_SECONDS: '1',
  CHAT_SEND_RATE_LIMIT: '1000',
  CHAT_CONNECT_RATE_LIMIT: '1000',
} as const;

const ODD_HEADERS: readonly Record<string, string>[] = [
  { 'idempotency-key': 'one' },
  { 'content-type': 'text/plain' },
  { origin: 'null' },
];

export interface RouteFuzz {
  service: TestService;
  project: TestProject;
  world: World;
  seed: number;
  /** Requests to every route. */
  perRoute: number;
  onProgress?(requests: number): void;
}

export interface FuzzOutcome {
  requests: number;
  byStatus: Map<number, number>;
  /** What must not be: a 5xx, a hang, an answer without the envelope. */
  faults: string[];
}

interface Try {
  path: string;
  query: string;
  body: string | undefined;
  headers: Record<string, string>;
}

/** Asks every route what its schema nearly takes, with a credential it accepts. */
export async function fuzzRoutes({
  service,
  project,
  world,
  seed,
  perRoute,
  onProgress,
}: RouteFuzz): Promise<FuzzOutcome> {
  const outcome: FuzzOutcome = { requests: 0, byStatus: new Map(), faults: [] };
  for (const [name, row] of Object.entries(allRoutes) as [string, RouteRow][]) {
    const tries = fc.sample(tryOf(row, world), { seed, numRuns: perRoute });
    // The project would be gone for everything after it.
    const bearer = name === 'archiveProject' ? '' : credentialFor(row, { service, project, world });
    for (let first = 0; first < tries.length; first += SIDE_BY_SIDE)
      await Promise.all(
        tries.slice(first, first + SIDE_BY_SIDE).map((one) => send(service, row, bearer, one, outcome)),
      );
    onProgress?.(outcome.requests);
  }
  return outcome;
}

function credentialFor(
  row: RouteRow,
  { service, project, world }: Pick<RouteFuzz, 'service' | 'project' | 'world'>,
): string {
  const bearers: Record<string, string> = {
    apiKey: world.apiKey,
    chatToken: world.chatToken,
    rtcToken: world.rtcToken,
    session: project.owner.accessToken,
    sfuSecret: service.config.sfuSecrets[0] ?? '',
  };
  return bearers[row.by[0] ?? ''] ?? '';
}

function tryOf(row: RouteRow, world: World): fc.Arbitrary<Try> {
  const { path } = splitAt(row);
  const hints = Object.values(world.ids);
  const parts = path.split('/').map((part) => partOf(part, world));
  const query = row.query ? nearObject(row.query, hints) : fc.constant({});
  const json = row.body ? nearObject(row.body, hints).map((value) => JSON.stringify(value)) : fc.constant(undefined);
  const raw = fc.oneof(fc.string({ maxLength: 200, unit: 'binary' }), fc.json({ maxDepth: 4 }), fc.constant('{"a":'));
  return fc.record({
    path: fc.tuple(...parts).map((pieces) => pieces.join('/')),
    query: query.map((value) => new URLSearchParams(asTexts(value)).toString()),
    body: fc.oneof({ arbitrary: json, weight: 9 }, { arbitrary: raw, weight: row.body ? 1 : 0 }),
    headers: fc.oneof(
      { arbitrary: fc.constant({}), weight: 8 },
      { arbitrary: fc.constantFrom(...ODD_HEADERS), weight: 1 },
    ),
  });
}

/** The world's own id mostly, so that requests get past the door. */
function partOf(part: string, { ids }: World): fc.Arbitrary<string> {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name === undefined) return fc.constant(part);
  const right = { arbitrary: fc.constant(ids[name] ?? 'x'), weight: 8 };
  return fc.oneof(right, { arbitrary: fc.oneof(nasty, fc.string({ maxLength: 140 })), weight: 1 }).map(encode);
}

/** A lone surrogate cannot be encoded, and no client could send it. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()) || '%20';

const asTexts = (value: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      (typeof one === 'string' ? one : JSON.stringify(one)).toWellFormed(),
    ]),
  );

async function send(
  service: TestService,
  row: RouteRow,
  bearer: string,
  one: Try,
  outcome: FuzzOutcome,
): Promise<void> {
  const { method } = splitAt(row);
  const label = `${method} ${one.path}?${one.query} ${one.body?.slice(0, 300) ?? ''}`;
  outcome.requests += 1;
  try {
    const response = await service.fetch(one.query === '' ? one.path : `${one.path}?${one.query}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(HANG_MS),
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...one.headers },
      ...(one.body === undefined || method === 'GET' ? {} : { body: one.body }),
    });
    outcome.byStatus.set(response.status, (outcome.byStatus.get(response.status) ?? 0) + 1);
    if (row.streams !== undefined && response.ok) return await response.body?.cancel();
    check(response, await response.text());
  } catch (error) {
    outcome.faults.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function check(response: Response, text: string): void {
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
