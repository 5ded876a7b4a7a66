import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedWordsIn } from './check-words.ts';

test('a refused word is found in prose, over two lines of a comment and within a name, and no other word is', () => {
  const source = ['// Whoever asks.', '/*', ' * Locks are let', ' * go.', ' */', 'buryTheDead(is_buried);'].join('\n');
  assert.deepEqual(
    refusedWordsIn(source).map(({ word, line }) => `${line} ${word.replace(/\s.*\s/, ' ')}`),
    ['1 Whoever', '3 let go', '6 bury', '6 buried'],
  );
  assert.deepEqual(refusedWordsIn('let goal = shallow; // hereabouts'), []);
});
