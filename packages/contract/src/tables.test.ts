import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allEvents,
  allRoutes,
  apiKeyScopes,
  codesOf,
  type ErrorRow,
  errors,
  limitRows,
  openApiOf,
  type RouteRow,
  readLimits,
  roleMay,
  rolePermissions,
  socketFields,
  splitAt,
} from './index.ts';

const rows = Object.entries(allRoutes) as [string, RouteRow][];

test('every route has a unique address under /v1 and a sentence', () => {
  assert.ok(rows.length > 20);
  const addresses = rows.map(([, row]) => row.at.replaceAll(/\{\w+\}/g, '{}'));
  assert.equal(new Set(addresses).size, addresses.length);
  for (const [name, row] of rows) {
    assert.ok(splitAt(row).path.startsWith('/v1/'), name);
    assert.match(row.does, /^[A-Z].*\.$/s, name);
    assert.ok(row.by.length > 0, name);
  }
});

test('every route that takes an API key has one method in the SDK', () => {
  const named = rows.filter(([, { sdk }]) => sdk !== undefined);
  assert.ok(named.length >= 48, `${named.length}`);
  assert.equal(new Set(named.map(([, { sdk }]) => sdk)).size, named.length);
  for (const [name, row] of rows) {
    assert.equal(row.sdk !== undefined, row.by.includes('apiKey'), name);
    assert.match(row.sdk ?? 'a.b', /^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+$/, name);
  }
});

test('[PRJ-10] every route that takes an API key has one scope, and no other route has any', () => {
  for (const [name, row] of rows) {
    assert.equal(row.scope !== undefined, row.by.includes('apiKey'), name);
    if (row.scope === 'read' || row.scope === 'any') assert.equal(splitAt(row).method, 'GET', name);
  }
  assert.deepEqual(new Set(rows.flatMap(([, { scope }]) => scope ?? [])), new Set([...apiKeyScopes, 'any']));
});

test('a session route inside a project names the permission it needs', () => {
  for (const [name, row] of rows) {
    if (row.by.includes('session') && row.at.includes('{projectId}')) assert.ok(row.needs, `${name} has no permission`);
  }
});

test('every error is a 4xx or 5xx, and what may be retried says when', () => {
  for (const [code, row] of Object.entries(errors as Record<string, ErrorRow>)) {
    assert.match(code, /^SVC_[A-Z_]+$/);
    assert.ok(row.status >= 400 && row.status < 600, code);
    if (row.status === 429 || row.status === 503) assert.ok(row.fields?.['retryAfterSeconds'], code);
  }
});

test('what only sockets carry has names that no webhook payload uses', () => {
  assert.ok(socketFields.length > 0);
  for (const [type, row] of Object.entries(allEvents)) {
    const names = Object.keys((row.data as { properties: object }).properties);
    assert.ok(names.length > 0, type);
    assert.deepEqual(
      names.filter((name) => socketFields.includes(name)),
      [],
      type,
    );
  }
});

test('the specification fixes these limits', () => {
  const { limits, problems } = readLimits({});
  assert.deepEqual(problems, []);
  assert.equal(Object.keys(limitRows).indexOf('RATE_LIMIT_WINDOW_SECONDS'), 24);
  assert.deepEqual(
    [
      limits.SIGNALING_MAX_PARTICIPANTS_PER_ROOM,
      limits.CHAT_MAX_TEXT_LENGTH,
      limits.STORAGE_MAX_ATTACHMENT_BYTES,
      limits.WEBHOOK_BACKOFF_BASE_MS,
      limits.CHAT_SEND_RATE_LIMIT,
    ],
    [50, 4000, 26_214_400, 10_000, 30],
  );
});

test('roles hold what the contract gives them', () => {
  assert.ok(roleMay('OWNER', 'project:archive') && !roleMay('ADMIN', 'project:archive'));
  assert.ok(roleMay('ADMIN', 'audit:read') && !roleMay('DEVELOPER', 'audit:read') && !roleMay('VIEWER', 'audit:read'));
  assert.ok(
    roleMay('DEVELOPER', 'api_key:create', 'DEVELOPMENT') && !roleMay('DEVELOPER', 'api_key:create', 'PRODUCTION'),
  );
  assert.ok(
    !rolePermissions.VIEWER.includes('api_key:read') &&
      rolePermissions.VIEWER.every((permission) => permission.endsWith(':read')),
  );
  assert.ok(Object.values(rolePermissions).every((held) => !held.includes('server:manage')));
});

test('OpenAPI describes every route with its errors', () => {
  const { openapi, paths } = openApiOf(allRoutes);
  assert.equal(openapi, '3.1.0');
  const operations = Object.values(paths).flatMap((path) => Object.values(path)) as {
    operationId: string;
    responses: Record<string, unknown>;
  }[];
  assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), rows.map(([name]) => name).sort());
  for (const [name, row] of rows) {
    const operation = operations.find(({ operationId }) => operationId === name);
    for (const code of codesOf(row)) assert.ok(operation?.responses[errors[code].status], `${name} lacks ${code}`);
  }
});
