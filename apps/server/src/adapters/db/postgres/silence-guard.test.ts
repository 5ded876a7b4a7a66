import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../../core/db.ts';
import { createSilenceGuard } from './silence-guard.ts';

const never = (): Promise<never> => new Promise(() => {});

/** A guard whose probes are answered by hand and whose time goes on by hand. */
function startGuard(t: TestContext) {
  let nowMs = 0;
  const probes: ((isAlive: boolean) => void)[] = [];
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const guard = createSilenceGuard(() => new Promise((resolve) => probes.push(resolve)));
  t.after(guard.stop);
  function hold(ms: number): void {
    nowMs += ms;
    t.mock.timers.tick(ms);
  }
  return {
    ...guard,
    probes,
    /** The loop turns all the while, or is held up. */
    pass(ms: number): void {
      for (let passed = 0; passed < ms; passed += 100) hold(100);
    },
    hold,
    async answer(isAlive: boolean): Promise<void> {
      probes.pop()?.(isAlive);
      await turn();
    },
  };
}

test('[STO-9] once the database is known to be silent, all queries fail at once, until it answers', async (t) => {
  const { watch, probes, pass, answer } = startGuard(t);
  const received: string[] = [];
  const wait = (who: string) => watch(never).catch((error) => received.push(`${who} ${error.name}`));
  void wait('old');
  pass(1_000);
  assert.equal(probes.length, 1, 'a query waits for long, so the database is probed');
  void wait('young');
  await answer(false);
  assert.deepEqual(received, ['old DatabaseUnavailable', 'young DatabaseUnavailable']);

  let isAsked = false;
  const ask = async () => {
    isAsked = true;
    return 'answered';
  };
  await assert.rejects(watch(ask), DatabaseUnavailable);
  assert.equal(isAsked, false, 'nobody begins another wait');
  pass(1_000);
  await answer(true);
  assert.equal(await watch(ask), 'answered');
});

test('[STO-9] who waits for long is left in peace while the database answers others', async (t) => {
  const { watch, probes, pass, answer } = startGuard(t);
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = watch(() => promise);
  pass(100);
  assert.equal(probes.length, 0);
  pass(1_000);
  await answer(true);
  resolve('at last');
  assert.equal(await slow, 'at last');
  pass(10_000);
  assert.equal(probes.length, 0, 'nobody waits, nobody is asked');
});

test('[STO-9] a process that was busy with itself does not take the database for silent', async (t) => {
  const { watch, probes, pass, hold, answer } = startGuard(t);
  const late = Promise.withResolvers<string>();
  const waiting = watch(() => late.promise, 1_500);
  // Its answer is there after each of these, and has not been read.
  for (const ms of [5_000, 3_000]) hold(ms);
  assert.equal(probes.length, 1);
  hold(5_000);
  hold(300);
  await answer(true);
  late.resolve('read at last');
  assert.equal(await waiting, 'read at last');
  const unanswered = assert.rejects(
    watch(never, 1_500),
    new DatabaseUnavailable('No connection to the database came in time.'),
  );
  pass(500);
  await answer(true);
  pass(1_500);
  await unanswered;
});
