import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeData, encodeData } from './data.ts';

test('[MED-5] a data message comes out as it went in', () => {
  const head = fc.record(
    { topic: fc.string({ maxLength: 64 }), to: fc.array(fc.string(), { maxLength: 5 }), text: fc.constant(true) },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(head, fc.uint8Array({ maxLength: 2000 }), (head, payload) => {
      const decoded = decodeData(encodeData({ head, payload }));
      assert.deepEqual(decoded && { head: decoded.head, payload: Uint8Array.from(decoded.payload) }, { head, payload });
    }),
  );
});

test('[MED-5] bytes that are not a message of ours are refused, never thrown on', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      decodeData(bytes);
    }),
  );
  const refused = (json: string) => decodeData(encodeText(json));
  assert.equal(decodeData(new Uint8Array()), undefined);
  assert.equal(refused('[]'), undefined);
  assert.equal(refused('{"topic":1}'), undefined);
  assert.equal(refused('{"to":"x"}'), undefined);
  assert.equal(refused('{'), undefined);
  assert.deepEqual(refused('{"x":1}')?.head, {});
});

function encodeText(json: string): Uint8Array {
  const bytes = new TextEncoder().encode(json);
  return Uint8Array.from([bytes.length >> 8, bytes.length & 0xff, ...bytes]);
}
