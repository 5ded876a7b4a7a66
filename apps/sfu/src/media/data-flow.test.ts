import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_FLOW, type DataFlowState } from '@parley/media-description';
import { DataBudget } from './data-budget.ts';
import { DataFlow } from './data-flow.ts';

function stage() {
  const told: [string, DataFlowState][] = [];
  const flow = new DataFlow((sender, state) => told.push([sender, state]));
  const newReceiver = () => ({ isDrained: false });
  const take = () => told.splice(0).map(([sender, state]) => `${sender} ${state}`);
  return { flow, newReceiver, take };
}
const { open, held, missed } = DATA_FLOW;

test('[MED-102] senders to a slow receiver wait until it has read, and others do not', () => {
  const { flow, newReceiver, take } = stage();
  const [bob, cy] = [newReceiver(), newReceiver()];
  flow.queued('ada', bob, 0);
  flow.queued('ada', bob, 1);
  flow.queued('ada', cy, 2);
  flow.queued('dan', cy, 3);
  assert.deepEqual(take(), [`ada ${held}`, `dan ${held}`]);
  cy.isDrained = true;
  flow.tick(20);
  assert.deepEqual(take(), [`dan ${open}`], 'the slowest counts');
  bob.isDrained = true;
  flow.tick(40);
  flow.tick(60);
  assert.deepEqual(take(), [`ada ${open}`]);
});

test('[MED-102] a receiver is waited for five seconds; then its senders go on without it until it has read', () => {
  const { flow, newReceiver, take } = stage();
  const bob = newReceiver();
  flow.queued('ada', bob, 0);
  flow.tick(5000);
  assert.deepEqual(take(), [`ada ${held}`]);
  flow.tick(5020);
  assert.deepEqual(take(), [`ada ${missed}`]);
  flow.queued('ada', bob, 5040);
  flow.tick(9000);
  assert.deepEqual(take(), []);
  bob.isDrained = true;
  flow.tick(9020);
  bob.isDrained = false;
  flow.queued('ada', bob, 9040);
  assert.deepEqual(take(), [`ada ${held}`]);
});

test('[MED-102] a sender hears once a second that messages are missed', () => {
  const { flow, take } = stage();
  for (let now = 0; now < 1000; now += 10) flow.missed('ada', now);
  assert.deepEqual(take(), [`ada ${missed}`]);
  flow.missed('ada', 1000);
  assert.deepEqual(take(), [`ada ${missed}`]);
});

test('[MED-102] a sender near its share of a second waits for the next one', () => {
  const { flow, take } = stage();
  const budget = new DataBudget();
  let now = 10_300;
  while (budget.nearlySpentUntil(now) === undefined) assert.ok(budget.take(60_000, now));
  const until = budget.nearlySpentUntil(now) ?? 0;
  assert.equal(until, 11_000);
  flow.spent('ada', until);
  flow.tick(now);
  assert.deepEqual(take(), [`ada ${held}`]);
  // What a browser has on the way still fits.
  for (let bytes = 0; bytes < 1 << 20; bytes += 60_000) assert.ok(budget.take(60_000, now));
  now = until;
  flow.tick(now);
  assert.deepEqual(take(), [`ada ${open}`]);
  assert.equal(budget.nearlySpentUntil(now), undefined);
});

test('[MED-102] what another process says stands beside what this one knows, and a lost word holds nobody for ever', () => {
  const { flow, take } = stage();
  flow.told('ada', 'two', held, 0);
  flow.spent('ada', 1000);
  assert.deepEqual(take(), [`ada ${held}`]);
  flow.tick(1000);
  assert.deepEqual(take(), [], 'its share is there again, and the receiver in the other process is not');
  flow.told('ada', 'two', open, 1100);
  flow.tick(1120);
  assert.deepEqual(take(), [`ada ${open}`]);
  flow.told('ada', 'two', held, 2000);
  flow.tick(7020);
  assert.deepEqual(take(), [`ada ${held}`, `ada ${missed}`]);
});
