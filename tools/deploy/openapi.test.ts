import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenApiCheck } from './openapi.ts';

const problemsOf = createOpenApiCheck({
  definitions: {
    'test.v1.Shelf': {
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        spec: { $ref: '#/definitions/test.v1.ShelfSpec' },
      },
      'x-kubernetes-group-version-kind': [{ group: 'home.test', version: 'v1', kind: 'Shelf' }],
    },
    'test.v1.ShelfSpec': {
      type: 'object',
      required: ['boards'],
      properties: {
        boards: { type: 'integer' },
        height: { $ref: '#/definitions/test.v1.IntOrString' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    'test.v1.IntOrString': { type: 'string', format: 'int-or-string' },
  },
});
const shelf = (spec: object) => ({ apiVersion: 'home.test/v1', kind: 'Shelf', spec });

test('[DEP-10] the check by a cluster takes what the cluster describes', () => {
  assert.deepEqual(problemsOf(shelf({ boards: 3, height: 200, labels: { any: 'word' } })), []);
  assert.deepEqual(problemsOf(shelf({ boards: 3, height: '80%' })), []);
});

test('[DEP-10] and refuses unknown fields, wrong types, what is missing and unknown kinds', () => {
  const first = (spec: object): string => problemsOf(shelf(spec))[0] ?? 'taken';
  assert.match(first({ boards: 3, colour: 'red' }), /^home\.test\/v1 Shelf\/spec/);
  assert.match(first({ boards: 'three' }), /^home\.test\/v1 Shelf\/spec\/boards: /);
  assert.match(first({ boards: 3, labels: { any: 1 } }), /\/spec\/labels\/any: /);
  assert.match(first({}), /boards/);
  assert.deepEqual(problemsOf({ apiVersion: 'v1', kind: 'Shelf' }), ['v1 Shelf is no kind of this cluster']);
});
