import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeKind } from '@parley/contract';
import { createMemoryBus } from '../adapters/bus/memory.ts';
import { createChanges } from './changes.ts';

const scope = { projectId: 'p', environment: 'DEVELOPMENT' as const };

test('[OBS-23] a thousand changes are the first at once and the rest together, for every process that has a watcher', async () => {
  const resting: (() => void)[] = [];
  const rest = () => new Promise<void>((resolve) => resting.push(resolve));
  const bus = createMemoryBus({ onError: (error) => assert.fail(String(error)) });
  const [here, elsewhere] = [createChanges({ bus, rest }), createChanges({ bus, rest })];
  const told: (readonly ChangeKind[])[] = [];
  const stop = await elsewhere.watch(scope, (kinds) => told.push(kinds));
  for (let at = 0; at < 1_000; at++) {
    here.note('chat', scope);
    here.note('rooms', scope);
    here.note('errors', { ...scope, environment: 'PRODUCTION' });
    here.note('members', { ...scope, environment: null });
    here.note('chat', { ...scope, projectId: 'other' });
  }
  assert.deepEqual(told, [['chat']]);
  for (const wake of resting.splice(0)) wake();
  await new Promise(setImmediate);
  assert.deepEqual(told, [['chat'], ['rooms', 'members', 'chat']]);
  // Nothing more came: the next is told at once again.
  for (const wake of resting.splice(0)) wake();
  await new Promise(setImmediate);
  here.note('nodes', null);
  assert.deepEqual(told.at(-1), ['nodes']);
  stop();
  here.note('audit', scope);
  assert.equal(told.length, 3);
});
