import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from './check-rules.ts';

const rule = (name: string): string => `- **${name}** It holds.`;

test('the check says where a rule belongs that stands under another heading than those of its prefix', () => {
  const inOrder = ['## Polls', rule('POLL-1'), '### Closed', rule('SHUT-1'), '## Pins', rule('PIN-1'), rule('PIN-2')];
  assert.deepEqual(rulesOf(inOrder), { rules: ['POLL-1', 'SHUT-1', 'PIN-1', 'PIN-2'], problems: [] });
  assert.deepEqual(rulesOf([...inOrder, rule('POLL-2')]).problems, [
    'docs/behaviour.md:8: POLL-2 is in "Pins", and the POLL rules before it in "Polls": move it there, or give it a prefix of its own.',
  ]);
});
