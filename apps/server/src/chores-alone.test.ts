import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../testkit/kit/eventually.ts';
import { createFakeClock } from '../testkit/kit/fake-clock.ts';
import { startService } from '../testkit/kit/service.ts';
import { sharedService } from '../testkit/kit/shared-service.ts';
import { withoutDeadline } from './core/delete-in-batches.ts';
import { createLog } from './core/log.ts';
import { type Adapters, SharedStateUnavailable } from './core/ports.ts';
import type { Sql } from './core/sql.ts';
import { createTimers } from './core/timers.ts';

/** All that presence, typing and killed processes are known by lies in the shared state. */
const waiting = ['chat-presence-sweep', 'chat-stranded-connections', 'chat-typing-sweep'];

const away = async (): Promise<never> => {
  throw new SharedStateUnavailable('away');
};

test('[RUN-30] of the chores of the service three wait while Redis is away, all others are done', async () => {
  const { chores } = (await sharedService()).service;
  const ran = new Set<string>();
  const clock = createFakeClock();
  const timers = createTimers({
    clock,
    db: { query: away },
    locks: { acquire: away, close: async () => {} },
    log: createLog('silent'),
    chores: chores.map((chore) => ({ ...chore, run: async () => void ran.add(chore.name) })),
  });
  timers.start();
  clock.jump(24 * 60 * 60_000);
  await eventually(() => assert.equal(ran.size, chores.length - waiting.length));
  await timers.stop();
  const names = chores.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, 'two chores of one name would share their lease');
  assert.deepEqual(names.filter((name) => !ran.has(name)).sort(), waiting);
});

test('[RUN-30] a chore that waits for shared state asks it for something, and one that does not wait needs none', async (t) => {
  let asked = 0;
  // Only the chores in hand run: time stands still, and with it the timers of the service.
  let isAway = false;
  const failing = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (!isAway || typeof value !== 'function' || name === 'close') return value;
        asked += 1;
        return away;
      },
    });
  const deleted = new Set<string | undefined>();
  const note = ({ text }: Sql): void => void (isAway && deleted.add(/delete from (\w+)/.exec(text)?.[1]));
  const wrap = (adapters: Adapters): Adapters => ({
    ...adapters,
    db: {
      ...adapters.db,
      execute(statement) {
        note(statement);
        return adapters.db.execute(statement);
      },
      query(statement) {
        note(statement);
        return adapters.db.query(statement);
      },
    },
    counters: failing(adapters.counters),
    expiringSets: failing(adapters.expiringSets),
    locks: failing(adapters.locks),
  });
  const service = await startService({ clock: createFakeClock(), wrap });
  t.after(() => service.stop());
  isAway = true;
  t.after(() => {
    isAway = false;
  });
  const asking: string[] = [];
  const { chores } = service.service;
  for (const { name, run, onEveryProcess } of chores) {
    if (onEveryProcess) continue;
    const before = asked;
    const error = await run(withoutDeadline).then(
      () => null,
      (cause) => cause,
    );
    if (asked > before) asking.push(name);
    else assert.equal(error, null, name);
  }
  assert.deepEqual(asking.sort(), waiting);
  const aged = ['events', 'deliveries', 'room_events', 'connections', 'chat_connections', 'idempotency_keys'];
  assert.deepEqual(
    aged.filter((table) => !deleted.has(table)),
    [],
    'retention goes on',
  );
});
