import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isServiceError } from '@parley/contract';
import fc from 'fast-check';
import { bodyDepthMax, metadataJson, readJson } from './safe-json.ts';

const invalid = (error: unknown) => isServiceError(error, 'SVC_INVALID_JSON');

test('[REQ-3] reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 20, stringUnit: 'binary' }), (text) => {
      const isClean =
        !/\\u0000|__proto__/.test(text) &&
        text.isWellFormed() &&
        (JSON.stringify(JSON.parse(text)) ?? '').isWellFormed();
      fc.pre(isClean && !/\\ud[89a-f]/i.test(text));
      assert.deepEqual(readJson(Buffer.from(text)), JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('[REQ-3] refuses depth, NUL, lone surrogates, __proto__ and invalid UTF-8, without recursing into it', () => {
  const bad: (string | Uint8Array)[] = [
    '['.repeat(100_000),
    '['.repeat(bodyDepthMax + 1) + ']'.repeat(bodyDepthMax + 1),
    '{"a":'.repeat(100_000),
    '{"a":"\\u0000"}',
    '{"\\u0000":1}',
    '{"a":["\\ud800"]}',
    '{"a":"\\udc00x"}',
    '{"__proto__":{"isAdmin":true}}',
    '{"a":{"\\u005f_proto__":1}}',
    '{"a":1',
    '{"a":1}}',
    'undefined',
    '',
    Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  ];
  for (const text of bad) assert.throws(() => readJson(text), invalid, String(text).slice(0, 40));
});

test('[REQ-3] keeps brackets in strings, escaped backslashes and paired surrogates', () => {
  const good = [
    '{"a":"[[[[{{{{\\"[["}',
    '{"a":"\\\\u0000"}',
    '{"a":"\\ud83d\\ude00"}',
    `${'['.repeat(64)}${']'.repeat(64)}`,
    '{"constructor":1,"toString":2}',
  ];
  for (const text of good) assert.deepEqual(readJson(text), JSON.parse(text));
});

test('[REQ-3] metadata is bounded by bytes and depth', () => {
  assert.equal(metadataJson({ a: 'é' }, 10), '{"a":"é"}');
  assert.throws(
    () => metadataJson({ a: 'éé' }, 11),
    (error) => isServiceError(error, 'SVC_METADATA_TOO_LARGE') && error.fields['actual'] === 12,
  );
  const deep = JSON.parse(`${'['.repeat(33)}${']'.repeat(33)}`);
  assert.throws(() => metadataJson(deep, 4096), invalid);
});
