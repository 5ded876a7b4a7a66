import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { allRoutes } from '@parley/contract';
import Fastify from 'fastify';
import type { TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import { collectRoutes } from './mounted-routes.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

/** Mounted without a row in the table, and why. A name that ends in `…` stands for what begins so. */
const withoutRow: Readonly<Record<string, string>> = {
  'PUT /v1/chat/uploads/{id}': 'bytes, not JSON; its signed URL is the credential',
  'GET /v1/chat/downloads/{id}': 'bytes, not JSON; its signed URL is the credential',
  'OPTIONS /v1/chat/uploads/{id}': 'the preflight of an upload from a page',
  'PUT /v1/data-files/{id}': 'bytes, not JSON; its signed URL is the credential',
  'GET /v1/data-files/{id}': 'bytes, not JSON; its signed URL is the credential',
  'GET /healthz': 'for operators',
  'GET /readyz': 'for operators',
  'GET /metrics': 'for operators',
  'GET /openapi.json': 'the table itself',
  'GET /v1/openapi.json': 'the table itself, where the API is',
  'GET /docs': 'documentation',
  'GET /docs/…': 'documentation',
  'GET /llms.txt': 'documentation',
  'GET /*': 'pages of the dashboard',
  'GET /playground': 'pages of the playground',
  'GET /playground/*': 'pages of the playground',
  'GET /playground/api/*': 'the backend of an example application; it knows us by the API only',
  'POST /playground/api/*': 'the backend of an example application; it knows us by the API only',
  'GET /dev/login': 'development only',
  'GET /dev/mail': 'development only',
  'GET /dev/mail.json': 'development only',
  'GET /dev/events': 'development only',
  'GET /dev/events.json': 'development only',
  'POST /dev/events': 'development only',
};

const declared = new Set<string>(Object.values(allRoutes).map(({ at }) => at));
const isExplained = (name: string): boolean =>
  Object.keys(withoutRow).some((known) => (known.endsWith('…') ? name.startsWith(known.slice(0, -1)) : name === known));
const undeclared = (mounted: readonly string[]): string[] =>
  mounted.filter((name) => !declared.has(name) && !isExplained(name));

test('[REQ-9] every route that is mounted has a row in the table or a reason here, and every row is mounted', () => {
  const { mounted } = service.service;
  assert.deepEqual(undeclared(mounted), []);
  assert.deepEqual(
    [...declared].filter((at) => !mounted.includes(at)),
    [],
  );
  const idle = Object.keys(withoutRow).filter(
    (known) => !mounted.some((name) => name.startsWith(known.replace('…', ''))),
  );
  assert.deepEqual(idle, [], 'a reason for what is not there');
});

test('[REQ-9] a route that is mounted beside the table is seen', () => {
  const app = Fastify();
  const mounted = collectRoutes(app);
  app.get('/v1/chat/conversations', async () => []);
  app.route({ method: ['GET', 'DELETE'], url: '/v1/rogue/:id', handler: async () => ({}) });
  assert.deepEqual(undeclared(mounted), ['GET /v1/rogue/{id}', 'DELETE /v1/rogue/{id}']);
});
