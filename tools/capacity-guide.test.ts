import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capacityPage } from '../bench/capacity.ts';
import { questions } from '../bench/questions.ts';
import { boundOfMedian, leftOutOf, type Row } from '../bench/ratio.ts';
import { type Result, readResult } from '../bench/results.ts';

const measured = (figures: Record<string, number>): Row => ({
  question: '',
  floor: null,
  ratio: 1,
  detail: '',
  figures,
});

/** The newest results, with others in their place. */
const withResults =
  (others: Readonly<Record<string, Row[]>>) =>
  (name: string): Result | null => {
    const result = readResult(name);
    const rows = others[name];
    return rows === undefined || result === null ? result : { ...result, rows };
  };

const processes = { storedCpuUs: 200, storedRedisUs: 40, heardRedisUs: 100, gain: 0.9, gainHeard: 0.8 };

/** What is written where a figure is missing or was divided by. */
const nonsense = /∞|NaN|Infinity|undefined|null|not run|at most 0 |[×/] 0 µs|: \.|\( *\)|\| +\| +\|/;

function assertSound(page: string, when: string): void {
  assert.doesNotMatch(page, nonsense, when);
  for (const block of page.split('\n\n').filter((one) => one.startsWith('| '))) {
    const columns = block
      .trim()
      .split('\n')
      .map((line) => line.split(' | ').length);
    assert.equal(new Set(columns).size, 1, `${when}: ${block}`);
  }
}

test('the capacity guide leaves out what was not measured, whichever benchmark that is', () => {
  assertSound(capacityPage(readResult), 'as it is');
  for (const name of Object.keys(questions)) assertSound(capacityPage(withResults({ [name]: [] })), `without ${name}`);
  assertSound(
    capacityPage(() => null),
    'without any',
  );
});

test('the capacity guide takes no figure that is not above zero', () => {
  const page = capacityPage(withResults({ 'chat-processes': [measured({ ...processes, unheardCpuUs: 0 })] }));
  assertSound(page, 'with nothing in it');
  assert.doesNotMatch(page, /nobody in a process hears costs/);
  const known = capacityPage(withResults({ 'chat-processes': [measured({ ...processes, unheardCpuUs: 0.4 })] }));
  assert.match(known, /nobody in a process hears costs it at most 0\.4 µs/);
});

test('the capacity guide counts presence, bus and limits for Redis, or says that it does not know', () => {
  const idle = measured({ redisPercent: 0.5, sockets: 10_000 });
  const of = (rows: Row[]) => capacityPage(withResults({ 'chat-idle': [idle], 'chat-processes': rows }));
  // 100 × 0.5 % of a core, and 1,667 messages a second of 40 + 10 × 20 µs.
  assert.match(
    of([measured(processes)]),
    /\*\*Redis servers\*\*[^\n]*\| 0\.9 cores \| 2, each at 45 % of the one core/,
  );
  const unknown = of([]);
  assert.doesNotMatch(unknown, /\*\*Redis servers\*\*/);
  assert.match(unknown, /What Redis needs is not known/);
});

test('a cost that is lost in the noise is stated by its bound, never below zero', () => {
  assert.deepEqual([3, 5, 8, 11].map(leftOutOf), [0, 0, 1, 2]);
  assert.equal(boundOfMedian([-0.41, 6.7, -0.54]), 6.7);
  assert.equal(boundOfMedian([-9, -0.2, -0.1, 0, 0.1, 0.1, 0.1, 0.2, 0.3, 6.7, 8]), 0.3);
  assert.equal(boundOfMedian([-9, -8, -7, 0, 0.1, 0.1, 0.1, 0.2, 0.3, 0.3, 0.3]), 7);
});
