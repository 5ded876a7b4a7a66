import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfDecision, problemsOfDecisions, recordDecisions } from './decisions.ts';

const adr = (decision: string, status = 'accepted'): string =>
  `# 0017 Parking\n\nStatus: ${status}, 2026-11-19\n\n## Context\n\nA.\n\n## Decision\n\n${decision}\n\n## Consequence\n\nB.\n`;
const decided = (decision: string): Map<string, string> => new Map([['0017', hashOfDecision('0017', adr(decision))]]);
const recordOf = (decisions: ReadonlyMap<string, string>) => Object.fromEntries(decisions);

test('the check refuses a decision that was edited after it was accepted, and says to supersede it', () => {
  const accepted = recordOf(decided('- Parked after 5 s.'));
  assert.deepEqual(problemsOfDecisions(decided('- Parked after\n  5 s.'), accepted), []);
  const [problem = '', ...others] = problemsOfDecisions(decided('- Parked after 15 s.'), accepted);
  assert.match(problem, /^ADR 0017: .*Supersede it with a new ADR.*--reworded 0017/);
  assert.deepEqual(others, []);
});

test('the check refuses an ADR that is not recorded, and one that was accepted and is gone', () => {
  const decisions = decided('- Parked.');
  assert.deepEqual(problemsOfDecisions(decisions, {}), ['ADR 0017 is new: run node tools/check-adrs.ts --accept 0017']);
  const [gone = ''] = problemsOfDecisions(new Map(), recordOf(decisions));
  assert.match(gone, /^ADR 0017 was accepted and is gone/);
});

test('a Status changes without a word, and rows of the table of dependencies do', () => {
  const superseded = adr('- Parked.', 'superseded by [0018](0018-later.md)');
  assert.equal(hashOfDecision('0017', superseded), hashOfDecision('0017', adr('- Parked.')));
  const table = '| Package | Why |\n|---|---|';
  const hash = hashOfDecision('0005', adr(`One row each.\n\n${table}`));
  assert.equal(hashOfDecision('0005', adr(`One row each.\n\n${table}\n| yaml | files |`)), hash);
  assert.notEqual(hashOfDecision('0005', adr(`Two rows each.\n\n${table}`)), hash);
  assert.notEqual(hashOfDecision('0017', adr(table)), hashOfDecision('0017', adr(`${table}\n| own time | 10 s |`)));
});

test('a decision is recorded once; only one that was reworded is recorded again', () => {
  const accepted = recordOf(decided('- Parked.'));
  const decisions = new Map([...decided('- Kept.'), ['0018', 'new']]);
  const accept = { isReworded: false, which: '0017' };
  assert.equal(
    recordDecisions(decisions, accepted, accept),
    'ADR 0017 was accepted before: supersede it with a new one',
  );
  assert.deepEqual(recordDecisions(decisions, accepted, { ...accept, which: 'all' }), { ...accepted, '0018': 'new' });
  assert.deepEqual(
    recordDecisions(decisions, accepted, { isReworded: true, which: '0017' }),
    recordOf(decided('- Kept.')),
  );
  assert.deepEqual(recordDecisions(decisions, {}, { isReworded: true, which: 'all' }), recordOf(decisions));
  assert.match(String(recordDecisions(decisions, accepted, { ...accept, which: '17' })), /no ADR "17"/);
});
