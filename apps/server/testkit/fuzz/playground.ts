import assert from 'node:assert/strict';
import { backendRoutes } from '@parley/playground/backend';
import fc from 'fast-check';
import type { TestService } from '../kit/service.ts';
import type { World } from '../kit/world.ts';
import { type FuzzOutcome, noOutcome, sendAll, type Try } from './request.ts';
import { nasty } from './values.ts';

interface PlaygroundFuzz {
  service: TestService;
  world: World;
  seed: number;
  perRoute: number;
}

/** Lets the playground work with the world's key, as the first run of development mode would. */
export function openPlayground({ service, url }: Pick<TestService, 'service' | 'url'>, apiKey: string): void {
  const env = { SVC_URL: url, SVC_API_KEY: apiKey, SVC_PROJECT_ID: '', SVC_DEV_EMAIL: '', SVC_DEV_PASSWORD: '' };
  service.development?.begin({ env: { ...env, SVC_WEBHOOK_SECRET: '', SFU_REGISTRATION_SECRET: '' }, url });
}

/** Asks the playground's backend, which takes no credential, what it nearly expects. */
export async function fuzzPlayground({ service, world, seed, perRoute }: PlaygroundFuzz): Promise<FuzzOutcome> {
  openPlayground(service, world.apiKey);
  const outcome = noOutcome();
  for (const at of backendRoutes) {
    const [method = '', path = ''] = at.split(' ');
    const tries = fc.sample(tryOf(method, path, world.ids), { seed, numRuns: perRoute });
    await sendAll(service, `playground ${at}`, tries, outcome, checkAnswer);
  }
  return outcome;
}

/** An application's own answer: no fault of ours, and where it refuses, it says what and why. */
function checkAnswer(response: Response, text: string): void {
  assert.ok(response.status < 500, `${response.status} ${text.slice(0, 200)}`);
  assert.ok(response.headers.get('x-request-id'), 'no x-request-id');
  if (response.status < 400) return;
  const { code, message } = JSON.parse(text) as Record<string, unknown>;
  assert.ok(typeof code === 'string' && typeof message === 'string', text.slice(0, 200));
}

const values = fc.oneof(nasty, fc.constantFrom('ada', 'demo', 1, -1, 1e9, null, true), fc.json({ maxDepth: 2 }));
const bodies = fc.oneof(
  fc
    .record({ identity: values, title: values, ttlSeconds: values, role: values }, { requiredKeys: [] })
    .map((body) => JSON.stringify(body)),
  fc.constantFrom('', '{', '[]', 'null', '1', '{"identity":"ada","title":"Fuzz"}', '['.repeat(5000)),
);

function tryOf(method: string, path: string, ids: Readonly<Record<string, string>>): fc.Arbitrary<Try> {
  const parts = path.split('/').map((part) => partOf(part, ids));
  return fc.record({ parts: fc.tuple(...parts), body: bodies }).map(({ parts: filled, body }) => ({
    method,
    path: `/playground/api/${filled.join('/')}`,
    query: '',
    body: method === 'GET' ? undefined : body,
    headers: { 'content-type': 'application/json' },
  }));
}

function partOf(part: string, ids: Readonly<Record<string, string>>): fc.Arbitrary<string> {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name === undefined) return fc.constant(part);
  const right = fc.constantFrom('demo', ids['streamId'] ?? 'x', ids['room'] ?? 'x', ids['attachmentId'] ?? 'x');
  const odd = fc
    .oneof(nasty, fc.string({ maxLength: 140 }))
    .map((text) => encodeURIComponent(text.toWellFormed()) || '%20');
  return fc.oneof(
    { arbitrary: right, weight: 3 },
    { arbitrary: odd, weight: 2 },
    { arbitrary: fc.constant('%FF'), weight: 1 },
  );
}
