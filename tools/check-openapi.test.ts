import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes, openApiOf } from '@parley/contract';
import { type OpenApi, openApiProblems } from './check-openapi.ts';

const fresh = (): OpenApi => JSON.parse(JSON.stringify(openApiOf(allRoutes)));

test('[DOCS-6] the OpenAPI description has no fault that its check knows', () => {
  assert.deepEqual(openApiProblems(fresh()), []);
});

test('[DOCS-6] the check sees what is missing', () => {
  const spoiled: readonly [string, RegExp, (text: string) => string][] = [
    ['a sentence', /limit has no sentence/, (text) => text.replace('How many entries a page has at most.', '')],
    [
      'a second name',
      /the path has id, its parameters are roomId/,
      (text) => text.replaceAll('/rooms/{roomId}/whip', '/rooms/{id}/whip'),
    ],
    ['a component', /schemas\/Room is not there/, (text) => text.replace('"Room":', '"Hall":')],
    [
      'an id',
      /listRooms names two operations/,
      (text) => text.replace('"operationId":"createRoom"', '"operationId":"listRooms"'),
    ],
  ];
  for (const [what, expected, spoil] of spoiled) {
    const text = JSON.stringify(fresh());
    const problems = openApiProblems(JSON.parse(spoil(text)));
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      `${what}: ${problems.join('; ')}`,
    );
  }
});

test('[DOCS-6] lists name their cursor, and one thing has one name in every path', () => {
  const { paths } = fresh();
  const rooms = paths['/v1/rooms']?.['get'];
  assert.ok(rooms?.responses['200']?.headers?.['x-next-cursor']);
  assert.deepEqual(rooms?.responses['200']?.content?.['application/json']?.schema?.items, {
    $ref: '#/components/schemas/Room',
  });
  const names = Object.keys(paths).flatMap((path) => [...path.matchAll(/\/(rooms|conversations)\/\{(\w+)\}/g)]);
  assert.deepEqual(new Set(names.map(([, , name]) => name)), new Set(['roomId', 'conversationId']));
});
