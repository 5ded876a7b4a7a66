import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourOf, initialsOf } from './names.ts';

test('[KIT-6] initials are those of the first and the last word, in any alphabet', () => {
  const initials = ['Ada Lovelace', 'ada', 'guest-7', 'Ω μέγα', '王小明', '  ', '👩‍🚀 Sally K. Ride'].map(initialsOf);
  assert.deepEqual(initials, ['AL', 'A', 'G7', 'ΩΜ', '王', '?', 'SR']);
});

test('[KIT-6] a person has one colour everywhere', () => {
  assert.equal(colourOf('ada-x7f2'), colourOf('ada-x7f2'));
  assert.ok(new Set(Array.from({ length: 50 }, (_, index) => colourOf(`user-${index}`))).size > 4);
});
