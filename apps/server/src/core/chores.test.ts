import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { deleteInBatches, onwards, type Turn, withoutDeadline } from './delete-in-batches.ts';
import { createLog } from './log.ts';
import { SharedStateUnavailable } from './ports.ts';
import { type Sql, sql } from './sql.ts';
import { type Chore, createTimers } from './timers.ts';

/** Of chores that always run. */
const noDatabase = { query: () => assert.fail('nothing is asked') };

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
  assert.equal(await deleteInBatches({ turn: withoutDeadline, batchMax: 10 }, long.deleteSome, short.deleteSome), 60);
  assert.deepEqual([long.left, short.left], [0, 0]);
  assert.deepEqual(order.slice(0, 4), ['long', 'short', 'long', 'short']);
  assert.equal(order.length, 6 + 2);
});

test('[RET-3] rows in an order go onwards: no batch walks through what those before it deleted', async () => {
  const rows = ['a', 'b', 'c', 'd', 'e'];
  const began: string[] = [];
  const sweep = () =>
    deleteInBatches(
      { turn: withoutDeadline, batchMax: 2 },
      onwards(async (limit, after) => {
        began.push(after);
        const some = rows.filter((row) => row > after).slice(0, limit);
        return { count: some.length, last: some.at(-1) ?? null };
      }),
    );
  assert.equal(await sweep(), 5);
  assert.deepEqual(began, ['', 'b', 'd', 'e']);
  began.length = 0;
  await sweep();
  assert.equal(began[0], '', 'each sweep from the front');
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
    db: noDatabase,
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
    db: noDatabase,
    locks: { acquire: away, close: async () => {} },
    log: createLog('silent'),
    chores: [chore('presence'), { ...chore('retention'), onDatabaseAlone: true }],
  });
  timers.start();
  await clock.advance(2_000);
  await timers.stop();
  assert.deepEqual(done, ['retention', 'retention']);
});

/** Timers over a database that answers each question as the test says. */
function stage(chores: readonly Chore[], answer: (statement: Sql) => Promise<Record<string, boolean>>) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const query = async <T extends object>(statement: Sql): Promise<T[]> => {
    asked.push(statement.text);
    return [(await answer(statement)) as T];
  };
  const locks = { acquire: async () => true, close: async () => {} };
  const timers = createTimers({ clock, db: { query }, locks, log: createLog('silent'), chores });
  return { clock, asked, timers };
}

test('[RUN-49] chores run at the multiples of their period, however long a run takes, and those of one moment together', async () => {
  const ran: string[] = [];
  const note = (name: string, everyMs: number, takesMs = 0): Chore => ({
    name,
    everyMs,
    async run() {
      ran.push(`${name} ${clock.elapsed() - startedAt}`);
      await clock.sleep(takesMs);
    },
  });
  const { clock, timers } = stage([note('a', 1_000, 300), note('b', 1_500), note('c', 3_000, 3_200)], async () =>
    assert.fail('nothing is asked'),
  );
  const startedAt = clock.elapsed();
  timers.start();
  await clock.advance(9_000);
  const stopped = timers.stop();
  await clock.advance(10_000);
  await stopped;
  const of = (name: string): number[] =>
    ran.filter((entry) => entry.startsWith(name)).map((entry) => Number(entry.slice(2)));
  assert.deepEqual(of('a'), [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
  assert.deepEqual(of('b'), [1_500, 3_000, 4_500, 6_000, 7_500, 9_000]);
  assert.deepEqual(of('c'), [3_000, 9_000], 'the turn in which it still runs is left out');
});

test('[RUN-49] a period that is no whole number has its turns once each, too', async () => {
  const ranAt: number[] = [];
  const run = async () => void ranAt.push(clock.elapsed());
  const { clock, timers } = stage([{ name: 'a', everyMs: 2_000 / 3, run }], async () =>
    assert.fail('nothing is asked'),
  );
  timers.start();
  await clock.advance(20_000);
  await timers.stop();
  assert.ok(Math.abs(ranAt.length - 30) <= 1, `${ranAt.length} turns`);
  assert.equal(new Set(ranAt).size, ranAt.length);
});

test('[RUN-48] a chore runs where the one statement of a tick says that something is due, and within 30 s whatever it says', async () => {
  const ran: string[] = [];
  const due = new Set<string>();
  const chore = (name: string, everyMs: number): Chore => ({
    name,
    everyMs,
    run: async () => void ran.push(name),
    isDue: () => sql`${name}`,
  });
  const { clock, asked, timers } = stage(
    [chore('a', 1_000), chore('b', 1_000), chore('c', 5_000)],
    async ({ values }) => Object.fromEntries(values.map((name, at) => [at, due.has(String(name))])),
  );
  timers.start();
  await clock.advance(10_000);
  assert.deepEqual([ran, asked.length, new Set(asked).size], [[], 10, 2], 'one statement a tick, of few texts');
  due.add('b');
  await clock.advance(1_000);
  assert.deepEqual(ran, ['b']);
  due.clear();
  await clock.advance(19_000);
  assert.deepEqual(ran, ['b', 'a', 'c'], '30 s after the start');
  await clock.advance(11_000);
  assert.deepEqual(ran, ['b', 'a', 'c', 'b'], '30 s after its own run');
  await timers.stop();
});

test('[RUN-48] while nobody can say what is due, everything is', async () => {
  const ran: string[] = [];
  const chore = (name: string): Chore => ({
    name,
    everyMs: 1_000,
    run: async () => void ran.push(name),
    isDue: () => sql`false`,
  });
  const { clock, timers } = stage([chore('a'), chore('b')], async () => {
    throw new Error('away');
  });
  timers.start();
  await clock.advance(1_000);
  await timers.stop();
  assert.deepEqual(ran, ['a', 'b']);
});
