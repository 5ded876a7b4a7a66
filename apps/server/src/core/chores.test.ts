import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { deleteInBatches, endlessTurn, type Turn } from './delete-in-batches.ts';
import { createLog } from './log.ts';
import { SharedStateUnavailable } from './ports.ts';
import { createTimers } from './timers.ts';

/** Rows that go by the batch, and the sizes that were asked for. */
function pile(rows: number, onBatch: (name: string) => void = () => {}, name = '') {
  let left = rows;
  return {
    get left() {
      return left;
    },
    async deleteSome(limit: number) {
      onBatch(name);
      const deleted = Math.min(left, limit);
      left -= deleted;
      return deleted;
    },
  };
}

test('[RET-3] deleting goes on batch by batch until nothing is left, a long source beside short ones', async () => {
  const order: string[] = [];
  const note = (name: string) => void order.push(name);
  const [long, short] = [pile(50, note, 'long'), pile(10, note, 'short')];
  assert.equal(await deleteInBatches({ turn: endlessTurn, batchMax: 10 }, long.deleteSome, short.deleteSome), 60);
  assert.deepEqual([long.left, short.left], [0, 0]);
  assert.deepEqual(order.slice(0, 4), ['long', 'short', 'long', 'short']);
  assert.equal(order.length, 6 + 2);
});

test('[RET-3] it ends with its share of the time, and goes on in the next turn', async () => {
  const clock = createFakeClock();
  const rows = pile(100);
  const deleted: number[] = [];
  const locks = { acquire: async () => true, close: async () => {} };
  async function run(turn: Turn): Promise<void> {
    const deleteSome = (limit: number) => {
      clock.jump(6_000);
      return rows.deleteSome(limit);
    };
    deleted.push(await deleteInBatches({ turn, batchMax: 10 }, deleteSome));
  }
  const timers = createTimers({
    clock,
    locks,
    log: createLog('silent'),
    chores: [{ name: 'retention', everyMs: 60_000, run }],
  });
  timers.start();
  for (const turns of [1, 2]) {
    clock.jump(60_000);
    await eventually(() => assert.equal(deleted.length, turns));
  }
  await timers.stop();
  assert.deepEqual(deleted, [50, 50], 'half of the time from one turn to the next');
});

test('[RUN-30] without shared state what needs the database alone is done, by every process; the rest waits', async () => {
  const clock = createFakeClock();
  const done: string[] = [];
  const away = async () => {
    throw new SharedStateUnavailable('away');
  };
  const chore = (name: string) => ({ name, everyMs: 1_000, run: async () => void done.push(name) });
  const timers = createTimers({
    clock,
    locks: { acquire: away, close: async () => {} },
    log: createLog('silent'),
    chores: [chore('presence'), { ...chore('retention'), onDatabaseAlone: true }],
  });
  timers.start();
  await clock.advance(2_000);
  await timers.stop();
  assert.deepEqual(done, ['retention', 'retention']);
});
